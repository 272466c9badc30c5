"""Hands in progress, from a file in PHH or in PokerStars' format, each up to its open decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from cbr import BadValue, CaseSource, Raw, Skipped
from cbr.files import head_of
from cbr_holdem.table import Game, Hand, Table, open_table
from cbr_logs import phh, stars

_READERS: tuple[tuple[CaseSource, Callable[[bytes], str]], ...] = (
    (phh.PHH, phh.parse),
    (stars.STARS, stars.parse_open),
)


class OpenHand(NamedTuple):
    """A hand in progress: what it is called, the hand, and the table at its open decision."""

    name: str
    hand: Hand
    table: Table


def read_open_hands(path: Path, shown: str = "") -> Iterator[OpenHand]:
    """The hands of a file, each with an open decision. The error of one that has none names the
    file as `shown`, and the hand. A hand without a number is called by its place in the file."""
    shown = shown or str(path)
    try:
        path.open("rb").close()
    except OSError as error:
        raise BadValue(f"{shown} cannot be read: {error.strerror}") from None
    head = head_of(path)
    reader = next(((one, parse) for one, parse in _READERS if one.can_read(path, head)), None)
    if reader is None:
        raise BadValue(f"{shown} is neither a hand in PHH nor the text of one by PokerStars")
    source, parse = reader
    place = 0
    for place, item in enumerate(source.read(path), 1):
        unit = 1
        try:
            if not isinstance(item, Raw):
                raise BadValue(item.reason if isinstance(item, Skipped) else "it is no text")
            hand = Hand.read(parse(item.data))
            unit = hand.unit
            table = _table_of(hand)
        except BadValue as error:
            said = f"{shown}, hand {place} (line {item.line}): {error}"
            chips = (
                f" (in chips; {unit} are 1 of the log)" if "legal are" in said and unit > 1 else ""
            )
            raise BadValue(said + chips) from None
        yield OpenHand(hand.number or str(place), hand, table)
    if not place:
        raise BadValue(f"{shown} has no hand")


def _table_of(hand: Hand) -> Table:
    """The table at the open decision. Logs do not name the cap of a limit game: it is the usual
    one, unless a round of this hand has more bets."""
    if hand.game.betting == "limit" and hand.game.cap is None:
        try:
            return open_table(replace(hand, game=replace(hand.game, cap=Game().cap)))
        except BadValue:
            pass
    return open_table(hand)
