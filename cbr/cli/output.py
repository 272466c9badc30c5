"""What commands print: results on stdout (tables, or one JSON document), the rest on stderr."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import category

if TYPE_CHECKING:
    from rich.console import Console


#: Characters in a line that goes to a pipe or file.
_WIDE = 160
#: The real stdout, while `only_results` keeps everything else away from it.
_results: TextIO | None = None


@contextmanager
def only_results(wanted: bool, for_good: bool = False) -> Iterator[None]:
    """Let nothing but `emit` print to stdout; other prints go to stderr, e.g. a plugin's.

    Also those of compiled code, of processes, and of whoever writes to file descriptor 1: that is
    stderr until the end of the block (of the process, if `for_good`), and results go to a copy of
    what it was.
    """
    global _results
    if not wanted:
        yield
        return
    with _apart_from_stdout(for_good) as _results, redirect_stdout(sys.stderr):
        try:
            yield
        finally:
            _results = None


@contextmanager
def _apart_from_stdout(for_good: bool) -> Iterator[TextIO]:
    """A file for results, while file descriptor 1 is stderr's."""
    before = sys.stdout
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        yield before
        return
    try:
        if _is_descriptor(before, 1):
            with open(kept, "w", encoding=before.encoding, closefd=False) as results:
                yield results
        else:  # somebody catches the output of this process in Python
            yield before
    finally:
        _flush(before)
        if not for_good:
            os.dup2(kept, 1)
        os.close(kept)


def _flush(file: TextIO) -> None:
    """Write now what Python and the C library hold back for stdout."""
    with suppress(Exception):
        file.flush()
        import ctypes

        ctypes.CDLL(None).fflush(None)


def _is_descriptor(file: TextIO, number: int) -> bool:
    try:
        return file.fileno() == number
    except (AttributeError, OSError, ValueError):
        return False


def printable(text: str) -> str:
    """A text as it is printed: control characters, which a name out of anybody's file may have to
    rewrite the screen, are shown as escapes. Line ends stay.

    >>> printable("red \\x1b[31m or \\u202e\\nnot")
    'red \\\\x1b[31m or \\\\u202e\\nnot'
    """
    if text.isprintable():
        return text
    return "".join(
        repr(sign)[1:-1] if sign != "\n" and category(sign) in _UNPRINTABLE else sign
        for sign in text
    )


#: Categories of Unicode: control and format characters, surrogates, private use and unassigned,
#: separators of lines.
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def complain(sentence: str) -> None:
    """Print a warning: something is wrong but does not stop the command."""
    to_stderr(f"Warning: {sentence}")


def note(sentence: str) -> None:
    """Print a note: something that helps to read the result."""
    to_stderr(f"Note: {sentence}")


def to_stderr(sentence: str) -> None:
    """Print a line to stderr."""
    print(printable(sentence), file=sys.stderr)


def emit(document: Any, *, line: bool = False) -> None:
    """Print the result as one JSON document; as one `line` where there are several results."""
    plain = dataclasses.asdict(document) if dataclasses.is_dataclass(document) else document  # type: ignore[arg-type]
    text = json.dumps(plain, indent=None if line else 2, ensure_ascii=False, allow_nan=False)
    # JSON has escapes of its own, which a reader turns back.
    if not text.replace("\n", "").isprintable():
        text = "".join(_json_escape(s) if category(s) in _UNPRINTABLE else s for s in text)
    print(text, file=_results or sys.stdout)


def _json_escape(sign: str) -> str:
    return sign if sign == "\n" else json.dumps(sign)[1:-1]


def console() -> Console:
    """The console that tables are printed on. A pipe gets wide lines, so that few are folded."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _WIDE
    return Console(highlight=False, markup=False, emoji=False, width=width)


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under a title, if it has rows; text is aligned left, numbers right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    if not rows:
        return
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=any(heads), show_edge=False)
    for place, head in enumerate(heads or rows[0]):
        words = all(row[place] is None or isinstance(row[place], str) for row in rows)
        made.add_column(
            Text(printable(str(head)) if heads else ""),
            justify="left" if words else "right",
            overflow="fold",  # a narrow screen may wrap a value, never cut it
        )
    for row in rows:
        made.add_row(*(Text(printable(cell(value))) for value in row))
    out = console()
    if title:
        out.print(Text(printable(title), style="bold"))
    out.print(made)
    out.print()


def cell(value: object) -> str:
    """A value as a table shows it. Four digits have no comma: they may be a year.

    >>> cell(2016.0), cell(1500), cell(26600), cell(0.12345), cell(None)
    ('2016', '1500', '26,600', '0.1235', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        digits = "d" if isinstance(value, int) else ".0f" if 1e3 <= abs(value) < 1e12 else ".4g"
        return format(value, digits if abs(value) < 10_000 else f",{digits}")
    return str(value)


def count(number: int, what: str) -> str:
    """
    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def show_reasons(reasons: Mapping[str, int], most: int = 10) -> None:
    """Print why records were skipped, the most frequent reasons first.

    Reasons that differ only in their numbers count as one.
    """
    by_pattern: dict[str, list[str]] = {}
    for reason in reasons:
        by_pattern.setdefault(re.sub(r"\b\d+\b", "N", reason), []).append(reason)
    named = {
        pattern if len(members) > 1 else members[0]: sum(reasons[reason] for reason in members)
        for pattern, members in by_pattern.items()
    }
    ordered = sorted(named.items(), key=lambda item: (-item[1], item[0]))
    rest = sum(number for _, number in ordered[most:])
    shown = ordered[:most] + ([(f"{len(ordered) - most:,} other reasons", rest)] if rest else [])
    table("Skipped", ["reason", "records"], shown)


def width() -> int:
    """Characters in a line."""
    return console().width


def lines(*sentences: str) -> None:
    """Print plain lines of a result."""
    for sentence in sentences:
        console().print(printable(sentence))
