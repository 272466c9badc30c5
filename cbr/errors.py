"""Errors that a person can act on.

Every class here says in one sentence what is wrong and what would be right. The command line
prints that sentence and exits with 2; anything else that escapes is a bug.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: Names that a sentence lists.
_MOST_NAMES = 30
#: Signs of a stranger's sentence that are shown.
_LONGEST = 300


class CbrError(Exception):
    """A mistake that one sentence explains."""


class BadValue(CbrError):
    """A value that cannot be what it is said to be: a feature, an option, a file's content."""


class NoSuchName(CbrError):
    """A name that nothing answers to.

    >>> raise NoSuchName("stage", "flopp", ["preflop", "flop"])
    Traceback (most recent call last):
    cbr.errors.NoSuchName: no stage 'flopp'; did you mean 'flop'? there is preflop, flop
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self._made_of = kind, name, names = kind, name, list(known)
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(names[:_MOST_NAMES])
        there_are = f"there is {listed}{more}" if names else "there is none"
        super().__init__(f"no {kind} {name!r}{hint} {there_are}")

    def __reduce__(self) -> tuple[type[NoSuchName], tuple[str, str, list[str]]]:
        """Errors travel from worker processes to the one that reports them."""
        return type(self), self._made_of


class AlreadyThere(BadValue):
    """A file that is there, where a new one was to be made."""


class BadWeights(CbrError):
    """Weights by which nothing can be ranked."""


class NotACasebase(CbrError):
    """A file that is missing, or is something else than a casebase."""


class NewerSchema(NotACasebase):
    """A casebase written by a later version of this program."""


class EmptyStage(CbrError):
    """A stage without cases, where cases are needed."""


class DifferentRecord(CbrError):
    """A record that was built before now reads differently in the same source."""


class PluginFailure(CbrError):
    """A plugin that raised, or returned what its hook does not allow."""


class NameClash(CbrError):
    """One name registered by two plugins."""


def one_line(error: BaseException) -> str:
    """An error as one line that a terminal can show: its sentence if it is ours, else its class and
    text, and not too much of it."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # an error of a stranger's class
        text = ""
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    if not isinstance(error, CbrError) and len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    return text if isinstance(error, CbrError) else f"{type(error).__name__}: {text}".rstrip(": ")
