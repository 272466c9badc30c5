"""The dialect of a text table, detected from its beginning: encoding, delimiter, decimal mark."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cbr.errors import BadValue
from cbr.files.compression import BROKEN, open_bytes, plain_name
from cbr.tables.cells import decimal_mark

#: Delimiters that are tried, in order of preference.
_DELIMITERS = ",;\t|"
#: Bytes at the beginning of a file that are looked at, and lines of these.
_SAMPLE, _LINES = 1 << 20, 1_000
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Names of delimiters for people.
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space", ".": "point"}


@dataclass(frozen=True)
class Dialect:
    """How the text of a table is read; `mixed` if it has decimal points and decimal commas."""

    encoding: str = "utf-8-sig"
    delimiter: str = ","
    decimal: str = "."
    mixed: bool = False

    @property
    def is_unusual(self) -> bool:
        """Whether a table is read in another way than the name of its file promises."""
        return self.delimiter not in ",\t" or self.decimal != "." or "utf-8" not in self.encoding

    def in_words(self) -> str:
        """
        >>> Dialect(delimiter=";", decimal=",").in_words()
        'semicolon between cells, decimal comma'
        """
        delimiter = NAMES.get(self.delimiter, repr(self.delimiter))
        mark = ", decimal comma" if self.decimal == "," else ""
        encoding = "" if "utf-8" in self.encoding else f", {self.encoding.upper()}"
        return f"{delimiter} between cells{mark}{encoding}"


def dialect_of(path: Path, delimiter: str = "", encoding: str = "", decimal: str = "") -> Dialect:
    """The dialect of a file; what is given is taken as it is."""
    if len(delimiter) > 1:
        raise BadValue(f"--delimiter {delimiter!r} must be one character")
    if decimal not in {"", ".", ","}:
        raise BadValue(f"--decimal {decimal!r} must be a point or a comma")
    head = _sample(path)
    encoding = _known(encoding) if encoding else _encoding(head)
    text = head.decode(encoding, "surrogateescape" if "utf-8" in encoding else "replace")
    lines = text.splitlines(keepends=True)
    if len(head) == _SAMPLE and len(lines) > 1:
        lines.pop()  # it may be cut off
    lines = lines[:_LINES]
    favourite = "\t" if plain_name(path).endswith(".tsv") else ","
    delimiter = delimiter or _delimiter(lines, favourite)
    if decimal:
        return Dialect(encoding, delimiter, decimal)
    marks = Counter(decimal_mark(cell) for row in _cells(lines, delimiter) for cell in row)
    mark = "," if marks[","] > marks["."] else "."
    return Dialect(encoding, delimiter, mark, mixed=marks[","] > 0 and marks["."] > 0)


def _sample(path: Path) -> bytes:
    try:
        with open_bytes(path) as (raw, _):
            return raw.read(_SAMPLE)
    except BROKEN:  # the reader tells of it
        return b""


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        b"".decode(name)  # some codecs turn bytes into bytes
    except (LookupError, TypeError):
        raise BadValue(f"--encoding {encoding!r} is no encoding; try utf-8 or cp1252") from None
    return "utf-8-sig" if name == "utf-8" else name


def _encoding(head: bytes) -> str:
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    return "utf-8-sig"


def _delimiter(lines: list[str], favourite: str) -> str:
    """The delimiter that divides most lines into the same number of cells, more than one."""
    best, found = (0.0, 0), favourite
    for sign in dict.fromkeys(favourite + _DELIMITERS):
        widths = Counter(map(len, _cells(lines, sign)))
        widths.pop(0, None)
        if not widths:
            continue
        width, times = widths.most_common(1)[0]
        score = (round(times / sum(widths.values()), 2), width)
        if width > 1 and score > best and not (best[0] == score[0] and sign == " "):
            best, found = score, sign
    return found


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            rows.append(row)
    except csv.Error:  # what was read before it must do
        pass
    return rows
