"""Joins the lines of a month of the IRC poker database by the timestamp of the hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Raw, Skipped
from cbr.files import BROKEN, open_bytes
from cbr.jit import njit
from cbr_holdem.table import MOST_SEATS
from cbr_logs.irc_files import LONGEST, UNSHOWN, file_in

#: Several times the size of a real month; text and index together stay below 1 GB.
_MOST_BYTES, _MOST_LINES = 400_000_000, 8_000_000
#: Timestamps have 9 or 10 digits; more than 18 would not fit into 64 bits.
_MOST_DIGITS, _NO_STAMP = 18, -1
#: To find the stakes: lines looked at, the fewest folds of the big blind, and how many agree.
_LOOKED_AT, _FOLDS, _SURE = 20_000, 5, 0.9


class Month:
    """Index of a month's files, which gives the lines of each hand.

    With a `small_bet` of 0 it is found from the log. `BadValue` if no hand of the month can be
    read.
    """

    def __init__(self, path: Path, month: Path, small_bet: int) -> None:
        roster, folder = file_in(month, "hroster"), month / "pdb"
        if roster is None:
            raise BadValue("there is no hroster beside this hdb")
        if not folder.is_dir():
            raise BadValue("there is no folder pdb beside this hdb")
        self._dealt = _Lines([path], 0)
        self._rosters = _Lines([roster], 0)
        self._players = _Lines(sorted(folder.glob("pdb.*")), 1)
        self.small_bet = small_bet or self._found_small_bet(month.resolve().parent.name)

    def hands(
        self, chunk: Sequence[tuple[int, bytes | str]], offset: int
    ) -> Iterator[Raw | Skipped]:
        """For each numbered line of hdb, the hand with its lines of the other files, or the reason
        to skip it."""
        stamps = np.array([_stamp(line) for _, line in chunk], np.int64)
        hands = self._dealt.counts(stamps)
        stamps[hands > 1] = _NO_STAMP  # so that no line is used for two hands
        rosters, players = self._rosters.find(stamps), self._players.find(stamps)
        found = zip(chunk, stamps.tolist(), hands.tolist(), rosters, players, strict=True)
        for (number, line), stamp, count, roster, played in found:
            if stamp != _NO_STAMP and not isinstance(line, str):
                yield Raw((self.small_bet, line, roster, played), number, offset)
            elif isinstance(line, str):
                yield Skipped(number, line, offset)
            elif count > 1:
                yield Skipped(number, f"{count} hands have one timestamp", offset)
            else:
                yield Skipped(number, "the line does not begin with a timestamp", offset)

    def _found_small_bet(self, channel: str) -> int:
        """What nearly all big blinds lost who folded at their first turn, which is the blind."""
        lost = Counter(
            int(fields[9])
            for fields in map(bytes.split, self._players.first(_LOOKED_AT))
            if len(fields) == UNSHOWN and fields[3:5] == [b"2", b"Bf"] and fields[9].isdigit()
        )
        small_bet, often = max(lost.items(), key=lambda item: item[1], default=(0, 0))
        if often < _FOLDS or often < _SURE * lost.total() or small_bet < 2 or small_bet % 2:
            raise BadValue(
                f"folder {channel!r} is no channel of the database, and its hands do not tell the "
                "stakes; give them: --stakes 10/20"
            )
        return small_bet


def _stamp(line: bytes | str) -> int:
    """The timestamp that a line of hdb begins with."""
    first = line.split(None, 1)[0] if isinstance(line, bytes) else b""
    return int(first) if first.isdigit() and len(first) <= _MOST_DIGITS else _NO_STAMP


class _Lines:
    """The lines of files, indexed by the timestamp in one of their first fields.

    The text is stored in one piece with a sorted index: a Python object for each of millions of
    lines would take several times the memory.
    """

    def __init__(self, paths: Sequence[Path], field: int) -> None:
        text = _text_of(paths)
        count = text.count(b"\n")
        if count > _MOST_LINES:
            raise BadValue(f"the month has more than {_MOST_LINES:,} lines in {paths[0].name}")
        stamps = np.zeros(count, np.int64)
        starts, lengths = np.zeros(count, np.int32), np.zeros(count, np.uint16)
        self._bytes = np.frombuffer(text, np.uint8)
        kept = int(_scan(self._bytes, field, stamps, starts, lengths))
        order = np.argsort(stamps[:kept], kind="stable")
        self._stamps, self._starts, self._lengths = stamps[order], starts[order], lengths[order]

    def counts(self, stamps: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many lines have each of these timestamps."""
        last = np.searchsorted(self._stamps, stamps, "right")
        return last - np.searchsorted(self._stamps, stamps)

    def first(self, count: int) -> Iterator[bytes]:
        """The earliest lines by timestamp."""
        for start, length in zip(self._starts[:count], self._lengths[:count], strict=True):
            yield self._bytes[start : start + length].tobytes()

    def find(self, stamps: NDArray[np.int64]) -> Iterator[bytes]:
        """The lines with each of these timestamps, one more than a hand can have at most."""
        first = np.searchsorted(self._stamps, stamps)
        count = np.minimum(self.counts(stamps), MOST_SEATS + 1)
        text, ends = _gather(self._bytes, self._starts, self._lengths, first, count)
        found, start = text.tobytes(), 0
        for end in ends.tolist():
            yield found[start:end]
            start = end + 1


def _text_of(paths: Sequence[Path]) -> bytearray:
    """The files concatenated, each ending with a newline, as far as they can be read.

    Lines lost in a damaged file are reported when a hand needs them.
    """
    text = bytearray()
    for path in paths:
        try:
            with open_bytes(path) as (file, _):
                while piece := file.read(1 << 20):
                    text += piece
                    if len(text) > _MOST_BYTES:
                        raise BadValue(
                            f"the month has more than {_MOST_BYTES:,} bytes in {path.name} "
                            f"and the files before it"
                        )
        except BROKEN:
            pass
        if text and text[-1] != ord("\n"):
            text += b"\n"
    return text


def _scan_lines(text: Any, field: Any, stamps: Any, starts: Any, lengths: Any) -> Any:
    """Index the lines whose field of this number (from 0) is a timestamp; returns their number."""
    kept = 0
    start = 0
    for end in range(len(text)):
        if text[end] != 10:
            continue
        at = start
        for part in range(field + 1):
            while at < end and (text[at] == 32 or 9 <= text[at] <= 13):
                at += 1
            if part < field:
                while at < end and not (text[at] == 32 or 9 <= text[at] <= 13):
                    at += 1
        stamp = np.int64(0)
        first = at
        while at < end and 48 <= text[at] <= 57 and at - first < _MOST_DIGITS:
            stamp = 10 * stamp + (text[at] - 48)
            at += 1
        whole = at > first and (text[at] == 32 or 9 <= text[at] <= 13)
        if whole and end - start <= LONGEST:
            stamps[kept], starts[kept], lengths[kept] = stamp, start, end - start
            kept += 1
        start = end + 1
    return kept


def _gather_lines(text: Any, starts: Any, lengths: Any, first: Any, count: Any) -> Any:
    """Concatenated spans of lines, each line with its newline, and the position where each span
    ends."""
    room = len(first)
    for i in range(len(first)):
        for place in range(first[i], first[i] + count[i]):
            room += lengths[place] + 1
    found = np.empty(room, np.uint8)
    ends = np.empty(len(first), np.int64)
    at = 0
    for i in range(len(first)):
        for place in range(first[i], first[i] + count[i]):
            if place > first[i]:
                found[at] = 10
                at += 1
            for letter in range(starts[place], starts[place] + lengths[place]):
                found[at] = text[letter]
                at += 1
        ends[i] = at
        found[at] = 10
        at += 1
    return found[:at], ends


_scan, _gather = njit(_scan_lines), njit(_gather_lines)
