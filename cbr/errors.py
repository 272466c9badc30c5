"""Exceptions of the engine, each with one sentence for the user.

The sentence states what is wrong and how to correct it. The command line prints it and exits with
code 2; any other exception that reaches the command line is a bug.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: The most names that a message lists.
_MOST_NAMES = 30
#: The most characters shown of a foreign exception's text.
_LONGEST = 300


class CbrError(Exception):
    """Base class: an error that the user can correct."""


class BadValue(CbrError):
    """An invalid value of a feature, of an option, or in a file."""


class BadJson(BadValue):
    """A text that is not JSON, or longer or deeper than any that this program writes."""


class NoSuchName(CbrError):
    """An unknown name; the message lists the known ones.

    >>> raise NoSuchName("stage", "flopp", ["preflop", "flop"])
    Traceback (most recent call last):
    cbr.errors.NoSuchName: no stage 'flopp'; did you mean 'flop'? there is preflop, flop
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], also: Iterable[str] = ()
    ) -> None:
        """`also` are other names, which are not listed but may have been meant."""
        self._made_of = kind, name, names, others = kind, name, list(known), list(also)
        close = difflib.get_close_matches(name, [*names, *others], n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ";"
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(names[:_MOST_NAMES])
        there_are = f"there is {listed}{more}" if names else "there is none"
        super().__init__(f"no {kind} {name!r}{hint} {there_are}")

    def __reduce__(self) -> tuple[type[NoSuchName], tuple[str, str, list[str], list[str]]]:
        """Support pickling: errors are sent from worker processes to the main process."""
        return type(self), self._made_of


class AlreadyThere(BadValue):
    """A file that exists where a new one should be created."""


class BadWeights(CbrError):
    """Weights that are invalid, cannot be read, or do not fit the case type."""


class NotACasebase(CbrError):
    """A file that is missing, damaged, or not a casebase."""


class CasebaseMoved(CbrError):
    """A casebase that was deleted or replaced while it was being written."""


class NoRoom(CbrError):
    """A place where nothing more can be written: no space left, or not permitted."""


class NewerSchema(NotACasebase):
    """A casebase written by a later version of this program."""


class OutsideTransaction(CbrError):
    """A write that would be lost, because no transaction commits it."""


class EmptyStage(CbrError):
    """A stage without cases, where cases are needed."""


class DifferentRecord(CbrError):
    """A record whose content in the source changed after it was added to the casebase."""


class PluginFailure(CbrError):
    """A plugin that raised an exception, or returned something that its hook does not allow."""


class NeedsPackage(CbrError):
    """A package that is not installed, which only a part of the engine needs.

    >>> raise NeedsPackage("Parquet", "pyarrow")
    Traceback (most recent call last):
    cbr.errors.NeedsPackage: Parquet needs the package pyarrow: pip install pyarrow
    """

    def __init__(self, what: str, package: str) -> None:
        super().__init__(f"{what} needs the package {package}: pip install {package}")


class NameClash(CbrError):
    """One name registered by two plugins."""


def one_line(error: BaseException) -> str:
    """An error as one printable line: the sentence of a `CbrError`, else the class and the text,
    shortened."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # a plugin's exception class may fail in __str__
        text = ""
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    if not isinstance(error, CbrError) and len(text) > _LONGEST:
        text = text[:_LONGEST] + "..."
    return text if isinstance(error, CbrError) else f"{type(error).__name__}: {text}".rstrip(": ")
