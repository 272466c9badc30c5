"""Marks: what a decorator such as `cbr.similarity` attaches to a function of a plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cbr.errors import CbrError

T = TypeVar("T", bound=Callable[..., Any])


class BadMark:
    """In place of a thing that could not be made: the error, told when the function is used."""

    kind = "bad mark"

    def __init__(self, error: CbrError) -> None:
        self.error = error


def mark(make: Callable[[T], Any]) -> Callable[[T], T]:
    """A decorator that attaches `make(function)` to a function.

    An error is kept with the function, so that one bad mark does not keep the rest of its module
    from being imported.
    """

    def decorate(function: T) -> T:
        try:
            found = make(function)
        except CbrError as error:
            found = BadMark(error)
        function.__cbr__ = found  # type: ignore[attr-defined]
        return function

    return decorate


def marked(thing: Any, default: Any = None) -> Any:
    """What is attached to a function; raises the error of a bad mark."""
    found = getattr(thing, "__cbr__", default)
    if isinstance(found, BadMark):
        raise found.error
    return found
