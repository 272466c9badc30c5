"""Text files cut into the pieces that hold a hand each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from cbr.sources import BROKEN, Raw, Skipped, lines_of, open_bytes

#: No hand is longer; what is comes from a damaged file.
LONGEST = 1 << 20
_BOM = b"\xef\xbb\xbf"


def sections(
    path: Path, begins: Callable[[bytes], object], keep_first: bool
) -> Iterator[Raw | Skipped]:
    """The pieces of a text file, each from a line that `begins` one to the next.

    `keep_first` says whether that line is part of the piece. Lines before the first such line are
    a piece too, unless all are empty. A piece that cannot be right is skipped, not the file.
    """
    with open_bytes(path) as (stream, position):
        piece: list[bytes] = []
        start, size, number = 1, 0, 0
        wrong = ""
        try:
            for number, line in lines_of(stream, LONGEST):
                if number == 1 and line is not None:
                    line = line.removeprefix(_BOM)
                if line is not None and begins(line):
                    yield from _piece(piece, start, wrong, position())
                    piece, start, size, wrong = [line] if keep_first else [], number, 0, ""
                elif line is None:
                    piece, wrong = [], f"line {number} has more than {LONGEST:,} bytes"
                elif not wrong:
                    piece.append(line)
                    size += len(line) + 1
                    if size > LONGEST:
                        piece, wrong = [], f"a hand of more than {LONGEST:,} bytes"
        except BROKEN as error:
            yield Skipped(start, f"the file breaks off: {error}", position())
            return
        yield from _piece(piece, start, wrong, position())


def _piece(lines: list[bytes], start: int, wrong: str, offset: int) -> Iterator[Raw | Skipped]:
    if wrong:
        yield Skipped(start, wrong, offset)
    elif any(lines):
        yield Raw(b"\n".join(lines), start, offset)
