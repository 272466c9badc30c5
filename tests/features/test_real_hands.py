"""Real hands, read by PokerKit, replay to their recorded stacks. Skipped without ../shared/data."""

from __future__ import annotations

import lzma
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from cbr_holdem.cards.card import cards
from cbr_holdem.table.game import Game
from cbr_holdem.table.table import Table

DATA = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real hands: {DATA} is not there")


def hands(path: Path, most: int) -> Iterator[dict]:
    """The hands of a .phhs file, each a TOML table under its number."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines: list[str] = []
        for line in file:
            if re.match(r"\[\d+\]", line) and lines:
                yield tomllib.loads("".join(lines[1:]))
                lines, most = [], most - 1
                if not most:
                    return
            lines.append(line)
        if lines:
            yield tomllib.loads("".join(lines[1:]))


def replay(hand: dict) -> Table:
    """The hand at our table; unknown cards are filled from those that nobody was seen to have."""
    seats, actions = len(hand["starting_stacks"]), [a.split() for a in hand["actions"]]
    held = {int(a[2][1:]) - 1: a[3] for a in actions if a[:2] == ["d", "dh"] and "?" not in a[3]}
    board = "".join(a[2] for a in actions if a[:2] == ["d", "db"])
    known = {c for text in [*held.values(), board] for c in cards(text)}
    spare = iter([c for c in range(52) if c not in known])
    holes = [
        c
        for s in range(seats)
        for c in (cards(held[s]) if s in held else (next(spare), next(spare)))
    ]
    full = cards(board) + [next(spare) for _ in range(5 - len(cards(board)))]
    small, big = hand["blinds_or_straddles"][:2]
    betting = {"NT": "nolimit", "FT": "limit"}[hand["variant"]]
    # Split pots were paid in halves, as the competition pays them.
    game = Game(betting, small, big, ante=hand["antes"][0], rules="acpc")
    table = Table(game, hand["starting_stacks"], holes, full)
    for who, *rest in actions:
        if who == "d" or rest[0] == "sm":
            continue
        assert table.actor == int(who[1:]) - 1
        match rest:
            case ["f", *_]:
                table.play("f")
            case ["cc", *_]:
                table.play("c")
            case ["cbr", amount, *_]:
                table.play("r", int(amount))
    return table


def test_pluribus() -> None:
    """Every card is known, so every hand must end in the stacks that were recorded."""
    replayed = 0
    for hand in hands(DATA / "pluribus.phhs.xz", 2_000):
        table = replay(hand)
        assert table.over
        assert table.final_stacks == hand["finishing_stacks"]
        replayed += 1
    assert replayed == 2_000
