"""What a best response wins from a bot that acts by its two cards alone, heads-up.

    python tools/expectimax.py 'ace1?size=min' --sizes 1,all-in --flops 12

Against such a bot its range after any moves is known exactly, so the best response is found by
expectimax: the betting tree is walked once, with the bot asked at each of its decisions; at each
node the bot's hands are those that would have acted so. Flops are sampled for each of our 169 hand
classes; turns and rivers are all looked at. Our moves are fold, call and the given sizes.

Before the flop the best move is chosen by means over sampled flops, so the value is at least that
of the best response in expectation (`value`); moves chosen by one half of the flops and judged by
the other give at most that (`least`). Both are in big blinds a hand, over both seats.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cbr import BadValue
from cbr.errors import NoSuchName
from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_arena import Chance, players_of
from cbr_arena import build as build_bot
from cbr_holdem.cards import DECK, HANDS, hand_class, hands_of, rank_on_board
from cbr_holdem.situation import SHARES, SIZES, Pending, raised_to
from cbr_holdem.table import (
    ACTOR,
    CALL,
    FOLD,
    FOLDED,
    HOLE,
    PAID,
    RAISE,
    STREET,
    WIDTH,
    Game,
    act,
    deal,
    legal_action,
    raise_limits,
    to_call,
)
from experiment import run

#: Kinds of nodes: our decision, the bot's, cards to come, and the two ways in which a hand ends.
OURS, THEIRS, DEALT, FOLDED_TO, SHOWN = range(5)
#: Chance that a flop misses two more cards, of those that miss ours: sampled flops miss only ours.
_MISSED = 17_296 / 19_600


class Tree(NamedTuple):
    """A betting tree, nodes after their children: `kind` and `street` [n]; `first` [n] of a node's
    children in `child`, and how many `children` [n]; the chips `won` at an end [n] (those at stake
    at a showdown); and the `hands` [n, classes] of the bot that get there."""

    kind: Ints
    street: Ints
    first: Ints
    children: Ints
    child: Ints
    won: Floats
    hands: Any


@dataclass
class _Growing:
    """A betting tree while it grows; the own seat is `mine`."""

    bot: Any
    game: Game
    mine: int
    sizes: Sequence[float]
    examples: Ints
    kind: list[int] = field(default_factory=list)
    street: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    won: list[float] = field(default_factory=list)
    hands: list[Any] = field(default_factory=list)

    def grow(self, row: Ints, hands: Any, before: int = 0) -> int:
        """The number of the node of a table at which the bot may have these classes of hands; the
        last move was made on street `before`."""
        street = int(row[STREET])
        if row[ACTOR] < 0:
            return self._end(row, hands, before)
        if row[ACTOR] == self.mine:
            after = [(self._after(row, *move), hands) for move in self._own_moves(row)]
            node = self._add(OURS, street, [self.grow(*one, street) for one in after], hands)
        else:
            answers: dict[tuple[int, int], Any] = {}
            for which in np.flatnonzero(hands):
                answer = self._answer(row, self.examples[which])
                answers.setdefault(answer, np.zeros_like(hands))[which] = True
            after = [(self._after(row, *move), some) for move, some in sorted(answers.items())]
            node = self._add(THEIRS, street, [self.grow(*one, street) for one in after], hands)
        return node if street == before else self._add(DEALT, before, [node], hands)

    def tree(self) -> Tree:
        flat = [child for children in self.children for child in children]
        count = np.array([len(children) for children in self.children], np.int64)
        return Tree(
            np.array(self.kind, np.int64),
            np.array(self.street, np.int64),
            np.cumsum(count) - count,
            count,
            np.array(flat, np.int64),
            np.array(self.won),
            np.array(self.hands),
        )

    def _add(
        self, kind: int, street: int, children: list[int], hands: Any, won: float = 0.0
    ) -> int:
        self.kind.append(kind)
        self.street.append(street)
        self.children.append(children)
        self.won.append(won)
        self.hands.append(hands)
        return len(self.kind) - 1

    def _end(self, row: Ints, hands: Any, before: int) -> int:
        mine, other = float(row[PAID + self.mine]), float(row[PAID + 1 - self.mine])
        if not row[FOLDED] & 3:
            return self._add(SHOWN, before, [], hands, min(mine, other))
        we_folded = row[FOLDED] >> self.mine & 1
        return self._add(FOLDED_TO, before, [], hands, -mine if we_folded else other)

    def _after(self, row: Ints, kind: int, amount: int) -> Ints:
        after = row.copy()
        act(after, self.game.terms, kind, amount)
        return after

    def _own_moves(self, row: Ints) -> list[tuple[int, int]]:
        least, most = raise_limits(row, self.game.terms)
        amounts = {int(raised_to(row, least, most, size)) for size in self.sizes if most}
        fold = [(FOLD, 0)] if to_call(row) else []
        return [*fold, (CALL, 0), *((RAISE, amount) for amount in sorted(amounts))]

    def _answer(self, row: Ints, hand: Ints) -> tuple[int, int]:
        kind, to = _asked(self.bot, self.game, row, hand[None])
        found, amount, _ = legal_action(row, self.game.terms, kind[0], to[0])
        return int(found), int(amount)


def _asked(bot: Any, game: Game, row: Ints, hands: Ints) -> tuple[Ints, Ints]:
    """What a bot does with each of some hands [n, 2] as the actor at a table."""
    rows = np.tile(row, (len(hands), 1))
    seat = int(row[ACTOR])
    rows[:, HOLE + 2 * seat : HOLE + 2 * seat + 2] = hands
    every = np.arange(len(hands))
    given = bot.act(Pending(rows, game, every), None, Chance(0, every, seat, 0))
    if not hasattr(given, "kind"):
        raise BadValue("the bot draws its moves; expectimax needs one that does not")
    return given.kind, np.zeros_like(given.kind) if given.to is None else given.to


def _classes(bot: Any, game: Game, row: Ints) -> tuple[Ints, Ints]:
    """The class of each hand [1326], by what the bot does with it when it faces a bet on each
    street, and an example of each class [classes, 2]."""
    done = []
    for street in range(4):
        at = row.copy()
        while at[STREET] < street:
            act(at, game.terms, CALL, 0)
        if street:
            act(at, game.terms, RAISE, raise_limits(at, game.terms)[0])
        done.append(_asked(bot, game, at, HANDS.astype(np.int64))[0])
    _, first, which = np.unique(np.stack(done), axis=1, return_index=True, return_inverse=True)
    return which.ravel().astype(np.int64), HANDS[first].astype(np.int64)


@njit
def _values(
    tree: Tree, street: Any, ahead: Any, number: Any, free: Any, best: Any, out: Any
) -> None:
    """The value of each node of a street in `out`, where those of later streets are: our winnings
    with each hand of the bot, added up, so that the bot's answers need no probabilities.

    `ahead` and `number` [classes]: hands that we beat less those that beat us, and all hands. Where
    `free`, our best moves are chosen and written to `best`; else those in `best` are made."""
    for node in range(len(tree.kind)):
        if tree.street[node] != street or tree.kind[node] == DEALT:
            continue
        kind, total = tree.kind[node], 0.0
        if kind in (FOLDED_TO, SHOWN):
            of = ahead if kind == SHOWN else number
            for which in range(len(of)):
                if tree.hands[node, which]:
                    total += of[which]
            total *= tree.won[node]
        elif kind == THEIRS:
            for place in range(tree.children[node]):
                total += out[tree.child[tree.first[node] + place]]
        else:
            if free:
                for place in range(tree.children[node]):
                    value = out[tree.child[tree.first[node] + place]]
                    if place == 0 or value > total:
                        total, best[node] = value, place
            total = out[tree.child[tree.first[node] + best[node]]]
        out[node] = total


@njit
def _flop(tree: Tree, mine: Any, flop: Any, class_of: Any, classes: Any, out: Any) -> Any:
    """The value of each node from the flop on in `out`, and our lead at a showdown by class: with
    hole cards `mine` [2] on a `flop` [3]."""
    seen = np.zeros(DECK, np.bool_)
    for card in mine:
        seen[card] = True
    for card in flop:
        seen[card] = True
    left = np.flatnonzero(~seen)
    ahead, number = np.zeros((2, DECK, DECK, classes))
    _showdowns(mine, flop, left, seen, class_of, ahead, number)
    turn_ahead, turn_number = np.zeros((2, DECK, classes))
    flop_ahead, flop_number = np.zeros((2, classes))
    best = np.zeros(len(tree.kind), np.int64)
    dealt = np.flatnonzero(tree.kind == DEALT)
    later = np.zeros((3, len(tree.kind)))  # sums over cards to come, by street
    for turn in left:
        for node in dealt:
            later[2, node] = 0.0
        for river in left:
            if river == turn:
                continue
            # Each hand of the bot leaves 44 rivers and 45 turns.
            for which in range(classes):
                turn_ahead[turn, which] += ahead[turn, river, which] / 44.0
                turn_number[turn, which] += number[turn, river, which] / 44.0
            _values(tree, 3, ahead[turn, river], number[turn, river], True, best, out)
            for node in dealt:
                if tree.street[node] == 2:
                    later[2, node] += out[tree.child[tree.first[node]]] / 44.0
        for node in dealt:
            if tree.street[node] == 2:
                out[node] = later[2, node]
        _values(tree, 2, turn_ahead[turn], turn_number[turn], True, best, out)
        for node in dealt:
            if tree.street[node] == 1:
                later[1, node] += out[tree.child[tree.first[node]]] / 45.0
        for which in range(classes):
            flop_ahead[which] += turn_ahead[turn, which] / 45.0
            flop_number[which] += turn_number[turn, which] / 45.0
    for node in dealt:
        if tree.street[node] == 1:
            out[node] = later[1, node]
    _values(tree, 1, flop_ahead, flop_number, True, best, out)
    return flop_ahead


@njit
def _showdowns(
    mine: Any, flop: Any, left: Any, seen: Any, class_of: Any, ahead: Any, number: Any
) -> None:
    """Our lead and the number of hands at a showdown, [turn, river, classes]."""
    board = np.empty(5, np.int64)
    for place in range(3):
        board[place] = flop[place]
    for i in range(len(left)):
        for j in range(i):
            board[3], board[4] = left[i], left[j]
            own = rank_on_board(mine[0], mine[1], board, 5)
            lead, many = ahead[left[i], left[j]], number[left[i], left[j]]
            for h in range(len(HANDS)):
                one, two = HANDS[h]
                if seen[one] or seen[two]:
                    continue
                if one == board[3] or one == board[4] or two == board[3] or two == board[4]:
                    continue
                other = rank_on_board(one, two, board, 5)
                lead[class_of[h]] += int(own > other) - int(own < other)
                many[class_of[h]] += 1.0
            for which in range(len(lead)):
                ahead[left[j], left[i], which] = lead[which]
                number[left[j], left[i], which] = many[which]


def _before_the_flop(tree: Tree, mine: Ints, flops: Ints, class_of: Ints) -> list[float]:
    """The value of a hand, its standard error over flops, and the value of moves before the flop
    that were chosen by other flops."""
    classes, count = tree.hands.shape[1], len(flops)
    out, ahead = np.zeros((count, len(tree.kind))), np.zeros((count, classes))
    for at, flop in enumerate(flops):
        ahead[at] = _flop(tree, mine, flop, class_of, classes, out[at]) / _MISSED
    dealt = np.flatnonzero((tree.kind == DEALT) & (tree.street == 0))
    out[:, dealt] = out[:, tree.child[tree.first[dealt]]] / _MISSED
    free = ~np.isin(HANDS, mine).any(axis=1)
    number = np.bincount(class_of[free], minlength=classes).astype(np.float64)

    def values(chosen_by: Any, judged_by: Any) -> Floats:
        best, mean = np.zeros(len(tree.kind), np.int64), out[chosen_by].mean(axis=0)
        _values(tree, 0, ahead[chosen_by].mean(axis=0), number, True, best, mean)
        for at in judged_by:
            _values(tree, 0, ahead[at], number, False, best, out[at])
        roots: Floats = out[judged_by, -1].copy()
        return roots

    every = np.arange(count)
    value = values(every, every)
    halves = every[::2], every[1::2]
    least = np.concatenate([values(*halves), values(*halves[::-1])])
    return [float(value.mean()), float(value.std(ddof=1) / np.sqrt(count)), float(least.mean())]


class Worth(NamedTuple):
    """What the best response wins in big blinds a hand: `value` with its interval, at least the
    truth in expectation, and `least`, at most the truth."""

    value: float
    ci95: float
    least: float
    nodes: int


def best_response(
    bot: str, sizes: Sequence[str], stack: int, flops: int, seed: int, hands: str = "any"
) -> Worth:
    """What a best response with bets of these sizes wins from a bot, in the mean of our `hands` (a
    range); `stack` in big blinds."""
    played = Game("nolimit")
    made = build_bot(players_of([bot])[0].spec, played.betting)
    row = np.zeros(WIDTH, np.int64)
    stacks = np.full(2, stack * played.big_blind, np.int64)
    deal(row, played.terms, 2, stacks, np.arange(9, dtype=np.uint8))
    class_of, examples = _classes(made, played, row)
    shares = [SHARES[SIZES.index(size)] for size in sizes]
    trees = []
    for mine in range(2):
        growing = _Growing(made, played, mine, shares, examples)
        growing.grow(row, np.ones(len(examples), np.bool_))
        trees.append(growing.tree())
    rng = np.random.default_rng(seed)
    held = hands_of(hands).astype(np.int64)
    names = [hand_class(*hand) for hand in held.tolist()]
    often, found = Counter(names), []
    for name in often:
        hand = held[names.index(name)]
        left = np.setdiff1d(np.arange(DECK), hand)
        drawn = np.array([rng.choice(left, 3, replace=False) for _ in range(flops)])
        found.append([_before_the_flop(tree, hand, drawn, class_of) for tree in trees])
    scale = played.big_blind * 1225.0
    value, error, least = (np.array(found).mean(axis=1) / scale).T
    share = np.array(list(often.values())) / len(held)
    # The errors of the two seats, which share flops, are averaged as if they were the same.
    return Worth(
        float(share @ value),
        float(1.96 * np.sqrt(share**2 @ error**2)),
        float(share @ least),
        sum(len(tree.kind) for tree in trees),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What a best response wins from a bot that acts by its two cards alone.",
        epilog="Example: python tools/expectimax.py 'ace1?size=min' --sizes 1,all-in --flops 12",
    )
    parser.add_argument("bot", help="a bot that looks at nothing but its cards and the street")
    parser.add_argument("--sizes", default="1,all-in", help="of our bets, in pots (1,all-in)")
    parser.add_argument("--stack", type=int, default=100, help="big blinds (100)")
    parser.add_argument("--flops", type=int, default=12, help="of each hand class, 4 or more (12)")
    parser.add_argument("--hands", default="any", help="a range of ours, such as TT+,AQs (any)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    given = parser.parse_args()
    sizes = given.sizes.split(",")
    for size in sizes:
        if size not in SIZES:
            raise NoSuchName("size of bets", size, SIZES)
    if given.flops < 4 or given.stack < 1:
        raise BadValue("give 4 flops or more, and a stack of a big blind or more")
    worth = best_response(given.bot, sizes, given.stack, given.flops, given.seed, given.hands)
    if given.json:
        print(json.dumps(worth._asdict()))
    else:
        print(
            f"{worth.value:+.3f} ± {worth.ci95:.3f} bb/h at most, {worth.least:+.3f} at least "
            f"({worth.nodes:,} nodes)"
        )


if __name__ == "__main__":
    run(main)
