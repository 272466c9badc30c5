"""Odds and all-in equities against an independent evaluator (eval7), on random spots.

Every deal of a spot is counted on both sides, so the results must be the same. Nothing of the
program is used on the other side: cards are texts, and pots are divided here.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import eval7
import numpy as np

from cbr_arena import all_in
from cbr_holdem.strength import odds as odds_of
from cbr_holdem.table import FOLDED, PAID, STREET, Game, Table
from soak.part import Found

#: Spots of a piece.
_PIECE = 500

RANKS = "23456789TJQKA"
DECK = [rank + suit for rank in RANKS for suit in "shdc"]
_CARDS = {card: eval7.Card(card) for card in DECK}
#: Kinds of spots and how many of a hundred are of each: hands on the river, the turn and the flop,
#: a hand against any hand, against pairs of one rank, and all-ins with side pots.
_KINDS = {"river": 24, "turn": 48, "flop": 2, "any": 1, "pairs": 5, "all-in": 20}
_GAME = Game("nolimit", 1, 2, rules="acpc")

Hand = Sequence[str]
#: Wins alone, ties and share of the pot, for each player.
Figures = list[tuple[float, float, float]]


def odds(count: int, seed: int) -> Counter[str]:
    """Compare `count` spots; raises for the first that differs, else returns how many of each kind
    were compared."""
    seen: Counter[str] = Counter()
    kinds, shares = list(_KINDS), list(_KINDS.values())
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        [kind] = rng.choices(kinds, shares)
        try:
            _SPOTS[kind](rng)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, spot {number} ({kind}): {error}") from None
        seen[kind] += 1
    return seen


# --- hands and ranges ---------------------------------------------------------------------------


def _hands(shown: int) -> Callable[[random.Random], None]:
    """Two to five hands on a board of so many cards (two or three on the flop)."""

    def spot(rng: random.Random) -> None:
        players = rng.randint(2, 3 if shown == 3 else 5)
        dealt = rng.sample(DECK, 2 * players + shown)
        board, hands = dealt[:shown], [dealt[shown + 2 * p :][:2] for p in range(players)]
        _compare(["".join(hand) for hand in hands], board, [hands])

    return spot


def _any(rng: random.Random) -> None:
    dealt = rng.sample(DECK, 7)
    hand, board = dealt[:2], dealt[2:]
    left = [card for card in DECK if card not in dealt]
    deals = [[hand, other] for other in itertools.combinations(left, 2)]
    _compare(["".join(hand)], board, deals, opponents=1)


def _pairs(rng: random.Random) -> None:
    """A hand against a rank's pairs, of which its cards and the board may block some."""
    shown = rng.choice((4, 5))
    dealt = rng.sample(DECK, 2 + shown)
    hand, board = dealt[:2], dealt[2:]
    rank = rng.choice(RANKS)
    pairs = itertools.combinations([rank + suit for suit in "shdc"], 2)
    deals = [[hand, pair] for pair in pairs if not set(pair) & set(dealt)]
    if deals:
        _compare(["".join(hand), 2 * rank], board, deals)


def _compare(
    players: list[str], board: Hand, deals: Sequence[Sequence[Hand]], opponents: int = 0
) -> None:
    mine = odds_of(players, "".join(board), opponents=opponents)
    assert all(one.exact for one in mine)
    every = [_winners(hands, full) for hands in deals for full in _boards(board, hands)]
    theirs = _figures(every, len(deals[0]))
    assert mine[0].deals == len(every), (players, board)
    for one, two in zip(mine, theirs, strict=True):
        near = np.allclose([one.win, one.tie, one.equity], two, rtol=0, atol=1e-12)
        assert near, (players, board, one, two)


def _boards(board: Hand, hands: Sequence[Hand]) -> Iterator[list[str]]:
    gone = {*board, *itertools.chain(*hands)}
    left = [card for card in DECK if card not in gone]
    for more in itertools.combinations(left, 5 - len(board)):
        yield [*board, *more]


def _strengths(hands: Sequence[Hand], board: Hand) -> list[int]:
    shown = [_CARDS[card] for card in board]
    return [eval7.evaluate([_CARDS[hand[0]], _CARDS[hand[1]], *shown]) for hand in hands]


def _winners(hands: Sequence[Hand], board: Hand) -> list[int]:
    found = _strengths(hands, board)
    best = max(found)
    return [player for player, strength in enumerate(found) if strength == best]


def _figures(every: list[list[int]], players: int) -> Figures:
    total = len(every)
    found = []
    for player in range(players):
        mine = [len(winners) for winners in every if player in winners]
        alone = mine.count(1)
        found.append((alone / total, (len(mine) - alone) / total, sum(1 / n for n in mine) / total))
    return found


# --- all-ins ------------------------------------------------------------------------------------


def _all_in(rng: random.Random) -> None:
    """Players with different stacks, who go all in on the flop or the turn, or fold."""
    players = rng.randint(2, 5)
    stacks = [rng.randint(10, 60) for _ in range(players)]
    dealt = rng.sample(DECK, 2 * players + 5)
    hands, board = [dealt[2 * p : 2 * p + 2] for p in range(players)], dealt[-5:]
    street = 2 if rng.random() < 0.9 else 1
    table = Table(_GAME, stacks, " ".join(itertools.chain(*hands)), " ".join(board))
    last = 0
    while not table.over:
        legal, last = table.legal(), int(table.rows[0, STREET])
        if last < street or rng.random() < 0.5:
            table.play("c")
        elif legal.raise_to and rng.random() < 0.8:
            table.play("r", legal.raise_to)
        else:
            table.play("f" if legal.fold and rng.random() < 0.3 else "c")
    row = table.rows[0]
    stays = [p for p in range(players) if not int(row[FOLDED]) >> p & 1]
    paid = [int(row[PAID + p]) for p in range(players)]
    [mine] = all_in(table.rows, _GAME.terms, 1, np.zeros(1, np.int64)).tolist()
    if len(stays) < 2:
        boards = [board]
    else:
        boards = list(_boards(board[: 3 + (last > 1) + (last > 2)], hands))
    theirs = np.mean([_payoffs(hands, full, stays, paid) for full in boards], axis=0)
    assert np.allclose(mine, theirs, rtol=0, atol=1e-9), (stacks, hands, board, mine, theirs)


def _payoffs(hands: Sequence[Hand], board: Hand, stays: list[int], paid: list[int]) -> list[float]:
    """What each player wins: pots are divided level by level among the best who paid that much."""
    won = [-float(part) for part in paid]
    strength = dict(zip(stays, _strengths([hands[p] for p in stays], board), strict=True))
    below = 0
    for level in sorted({paid[p] for p in stays}):
        pot = sum(min(part, level) - min(part, below) for part in paid)
        able = [p for p in stays if paid[p] >= level]
        best = max(strength[p] for p in able)
        winners = [p for p in able if strength[p] == best]
        for p in winners:
            won[p] += pot / len(winners)
        below = level
    rest = sum(part - min(part, below) for part in paid)  # of those who folded after paying more
    if rest:
        best = max(strength.values())
        winners = [p for p in stays if strength[p] == best]
        for p in winners:
            won[p] += rest / len(winners)
    return won


_SPOTS: dict[str, Callable[[random.Random], None]] = {
    "river": _hands(5),
    "turn": _hands(4),
    "flop": _hands(3),
    "any": _any,
    "pairs": _pairs,
    "all-in": _all_in,
}


def piece(seed: int, number: int, folder: Path) -> Found:
    """Some spots of every kind."""
    try:
        return Found(odds(_PIECE, 1_000_003 * seed + number).total())
    except AssertionError as error:
        return Found(_PIECE, wrong=[f"odds differ from those of eval7: {error}"])
