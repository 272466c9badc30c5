"""The match log of a dealer: a line for each hand, and comments on what went wrong.

It is written line by line, so that an interrupted match leaves the hands that were played. The
game's definition is written beside it, where readers look for it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from cbr import BadValue
from cbr.files import verify_place, whole_file
from cbr_arena.acpc.protocol import betting_of, board_of
from cbr_arena.acpc.seats import Limits
from cbr_holdem.cards import names
from cbr_holdem.table import HOLE, Table
from cbr_logs import GameDef, gamedef_text, read_gamedef

#: Most comments in a log, so that a player who sends invalid lines cannot fill the disk.
_MOST_COMMENTS = 1_000


class MatchLog:
    """Writes the lines of a match log to a file, if there is one."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self._comments = 0

    def hand(
        self, number: int, table: Table, payoffs: Sequence[float], players: Sequence[str]
    ) -> None:
        if self._file is None:
            return
        held = table.rows[0, HOLE : HOLE + 2 * table.seats].reshape(-1, 2)
        board = board_of(table)
        shown = [street for street in (board[:6], board[6:8], board[8:]) if street]
        cards = "/".join(["|".join(names(hole).replace(" ", "") for hole in held), *shown])
        won = "|".join(map(amount, payoffs))
        self.line(f"STATE:{number}:{betting_of(table)}:{cards}:{won}:{'|'.join(players)}")

    def comment(self, text: str) -> None:
        self._comments += 1
        if self._comments <= _MOST_COMMENTS:
            self.line(f"# {text}")
        elif self._comments == _MOST_COMMENTS + 1:
            self.line("# further lines like these are not logged")

    def ended(self, reason: str) -> None:
        """Write why the match ended early, in place of the score."""
        self.line(f"# the match ended early: {reason}")

    def line(self, line: str) -> None:
        if self._file is None:
            return
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise BadValue(f"cannot write the log: {error.strerror or error}") from None


def score_line(totals: Sequence[float], players: Sequence[str]) -> str:
    return f"SCORE:{'|'.join(map(amount, totals))}:{'|'.join(players)}"


def amount(chips: float) -> str:
    """
    >>> amount(-20.0), amount(3.5), amount(1 / 3)
    ('-20', '3.5', '0.333333')
    """
    text = f"{chips:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


@contextlib.contextmanager
def match_log(
    path: Path | None, definition: GameDef, hands: int, seed: int, limits: Limits
) -> Iterator[MatchLog]:
    """Open a log and write its head; without a path, nothing is written."""
    if path is None:
        yield MatchLog(None)
        return
    if path.suffix != ".log":
        raise BadValue(f"a match log is called FILE.log, not {path.name!r}")
    stem = re.sub(r"\s+", "_", path.stem)  # a blank would end the name in the log's head
    beside = path.with_name(f"{stem}.game")
    verify_place(path)
    _put(definition, beside, path)
    try:
        file = path.open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadValue(f"cannot write {path}: {error.strerror or error}") from None
    with file:
        log = MatchLog(file)
        log.line(f"# name/game/hands/seed {stem} {beside.name} {hands} {seed}")
        log.line(f"#--t_response {round(1000 * limits.response)}")
        log.line(f"#--t_hand {round(1000 * limits.hand)}")
        log.line(f"#--t_per_hand {round(1000 * limits.average)}")
        yield log


def _put(definition: GameDef, beside: Path, path: Path) -> None:
    """Write the definition, but never over another game's."""
    if beside.exists():
        try:
            same = read_gamedef(beside.read_text("utf-8")) == definition
        except (BadValue, OSError, UnicodeDecodeError):
            same = False
        if not same:
            raise BadValue(
                f"{beside} exists and is another game; choose another name than {path.name}"
            )
        return
    with whole_file(beside) as part:
        part.write_text(gamedef_text(definition), "utf-8")
