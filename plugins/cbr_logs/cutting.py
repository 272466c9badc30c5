"""Splits text files into pieces with one hand each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cbr import Raw, Skipped
from cbr.files import BROKEN, open_bytes

#: Most bytes of a hand; a longer piece means a damaged file.
LONGEST = 1 << 20
_BLOCK = 1 << 18
_BOM = b"\xef\xbb\xbf"


def sections(path: Path, begins: re.Pattern[bytes], keep_first: bool) -> Iterator[Raw | Skipped]:
    """The pieces of a text file, each from a line that matches `begins` to the next such line.

    The pattern is searched in many lines at once (`re.MULTILINE`) and must match a whole line.
    `keep_first` says whether that line is part of the piece. Lines before the first such line are
    a piece too, unless all are empty. A piece that is too long is skipped without being stored.
    """
    with open_bytes(path) as (stream, position):
        text = stream.read(0)
        line, header, too_long = 1, 0, 0  # `too_long`: first line of a piece that is too long, or 0
        while True:
            try:
                block = stream.read(_BLOCK)
            except BROKEN as error:
                yield Skipped(line, f"the file breaks off: {error}", position())
                return
            text = text + block if line > 1 or text else block.removeprefix(_BOM)
            # An incomplete last line is left for the next block.
            whole = text.rfind(b"\n") + 1 if block else len(text)
            start = 0
            for found in begins.finditer(text, header, whole):
                first = start if keep_first else start + header
                yield from _piece(text[first : found.start()], line, too_long, position())
                line += text.count(b"\n", start, found.start())
                start, header, too_long = found.start(), found.end() - found.start(), 0
            if not block:
                first = start if keep_first else start + header
                yield from _piece(text[first:], line, too_long, position())
                return
            text = text[start:]
            if len(text) > LONGEST:
                # Drop the piece except its last line, which may begin the next one.
                too_long = too_long or line
                keep = text.rfind(b"\n") + 1
                line += text.count(b"\n", 0, keep)
                text, header = text[keep:][:LONGEST], 0


def _piece(text: bytes, line: int, too_long: int, offset: int) -> Iterator[Raw | Skipped]:
    if too_long or len(text) > LONGEST:
        yield Skipped(too_long or line, f"a hand of more than {LONGEST:,} bytes", offset)
    elif not text.isspace() and text:
        yield Raw(text, line, offset)
