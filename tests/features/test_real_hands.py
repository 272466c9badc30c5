"""Real hands replay to their recorded results. Skipped, and said so, without ../shared/data."""

from __future__ import annotations

import lzma
import re
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from cbr_holdem.cards import cards
from cbr_holdem.table import Game, Table

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


@pytest.mark.long
def test_pluribus() -> None:
    """Every card is known, so every hand must end in the stacks that were recorded."""
    replayed = 0
    for hand in hands(DATA / "pluribus.phhs.xz", 2_000):
        table = replay(hand)
        assert table.over
        assert table.final_stacks == hand["finishing_stacks"]
        replayed += 1
    assert replayed == 2_000


def acpc_hands(archive: str, member: str, most: int) -> Iterator[tuple[str, str, list[float]]]:
    """Betting, cards and results of a dealer's log."""
    with tarfile.open(DATA / archive) as files:
        name = next(n for n in files.getnames() if n.endswith(member))
        file = files.extractfile(name)
        assert file is not None
        for line in file:
            if line.startswith(b"STATE:"):
                _, _, betting, shown, results, _ = line.decode().strip().split(":")
                yield betting, shown, [float(part) for part in results.split("|")]
                most -= 1
                if not most:
                    return


@pytest.mark.long
@pytest.mark.parametrize(
    ("archive", "member", "betting", "big_blind", "stack"),
    [
        ("acpc_test_logs.tar.xz", "2p.limit.h1000.r0.log", "limit", 10, 10**6),
        ("acpc_test_logs.tar.xz", "3p.limit.h1000.r0.log", "limit", 10, 10**6),
        ("acpc_test_logs.tar.xz", "2p.nolimit.h1000.r0.log", "nolimit", 100, 20_000),
        ("acpc_test_logs.tar.xz", "3p.nolimit.h1000.r0.log", "nolimit", 100, 20_000),
        ("nine_seat_bots.tar.xz", "mixed.log", "limit", 10, 10**6),
        ("hu_expert.tar.xz", "hu_expert.log", "limit", 10, 10**6),
    ],
)
def test_the_competitions_dealer(archive, member, betting, big_blind, stack) -> None:
    """Every action is legal for us too, and every hand ends in the dealer's result."""
    game = Game(betting, big_blind // 2, big_blind, rules="acpc")
    replayed = 0
    for actions, shown, results in acpc_hands(archive, member, 1_500):
        holes, *board = shown.split("/")
        held = cards(holes.replace("|", " "))
        full = cards("".join(board))
        spare = iter([card for card in range(52) if card not in {*held, *full}])
        full += [next(spare) for _ in range(5 - len(full))]
        table = Table(game, [stack] * len(results), held, full)
        for street in actions.split("/"):
            for move, amount in re.findall(r"([fcr])(\d*)", street):
                seat = table.actor
                assert seat is not None
                # The log's amounts are for the whole hand, ours for the street.
                before = int(table.tables.paid[0, seat] - table.tables.bet[0, seat])
                table.play(move, int(amount) - before if amount else None)
        assert table.over
        assert table.payoffs == pytest.approx(results, abs=1e-4)
        replayed += 1
    assert replayed >= 1_000
