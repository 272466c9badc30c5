"""Why the bot acts as it does: values, visits and standard errors of the moves, the line of play
that is most likely after each, and what it thinks the opponents hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.typing import Floats, Ints
from cbr_holdem.cards import CLASSES, HANDS, hand_class
from cbr_holdem.situation import SIZES
from cbr_holdem.table import ACTOR, FOLDED, RAISE, SEATS, to_call
from cbr_mcts.tree import NO_NODE, Tree

#: Moves of a line that are shown, and the least share of visits that goes on with it.
_LONGEST, _LEAST = 6, 0.02


class Explained(NamedTuple):
    """A decision explained: `moves` by name; their chances to be played, values in big blinds,
    standard errors, visits, priors [moves]; the most visited line after each, as text; the range of
    each opponent by class of hands, [seat] -> [169]; and what was seen of each (hands)."""

    moves: list[str]
    chances: Floats
    values: Floats
    errors: Floats
    visits: Floats
    priors: Floats
    lines: list[str]
    ranges: dict[int, Floats]
    seen: dict[int, int]


class _Fixed:
    """Random numbers of an explanation: the same whenever it is asked for."""

    def __init__(self, count: int) -> None:
        self.state: NDArray[np.uint64] = np.arange(1, count + 1, dtype=np.uint64)

    def take(self, places: Ints) -> _Fixed:
        return self

    def random(self) -> Floats:
        return np.full(len(self.state), 0.5)


def explained(bot: Any, situations: Any, memory: Any, chance: Any = None) -> Explained:
    """Search a situation (a batch of 1), and tell what was found. Memory is not changed."""
    rows = situations.seen()
    memory = None if memory is None else memory.copy()
    found = bot.search(situations, rows, memory, chance or _Fixed(1))
    tree, belief, _scene = bot.work_of(situations.game)
    legal = np.flatnonzero(found.visits[0] >= 0.0)
    limit = situations.game.betting == "limit"
    row = rows[0]
    names = [move_name(int(move), limit, to_call(row) > 0) for move in legal]
    shares = bot._chosen(found)[0]
    own, seats = int(row[ACTOR]), int(row[SEATS])
    others = [s for s in range(seats) if s != own and not row[FOLDED] >> s & 1]
    seen: dict[int, int] = {}
    if bot.learn and memory is not None:
        hands = memory["opponents"]["hands"][0]
        seen = {seat: int(hands[(seat - own) % seats]) for seat in others}
    return Explained(
        names,
        shares[legal],
        found.values[0, legal],
        found.errors[0, legal],
        found.visits[0, legal],
        tree.prior[0, legal].copy(),
        [line_after(int(move), tree, own, limit) for move in legal],
        {seat: classes_of(belief, seat) for seat in others},
        seen,
    )


def move_name(move: int, limit: bool, facing: bool) -> str:
    """A move in words."""
    if move < RAISE:
        return ("fold", "call" if facing else "check")[move]
    verb = "raise" if facing else "bet"
    return verb if limit else f"{verb} {SIZES[move - RAISE]}"


def line_after(move: int, tree: Tree, own: int, limit: bool) -> str:
    """The line of play that was visited most after a move of the root."""
    node, parts, size = 0, [], int(tree.size[0])
    for _ in range(_LONGEST):
        below = np.flatnonzero((tree.parent[1:size] == node) & (tree.move[1:size] == move)) + 1
        if not len(below):
            break
        child = int(below[tree.count[below].argmax()])
        if child == NO_NODE or tree.count[child] < max(2.0, _LEAST * tree.count[0]):
            break
        move = int(tree.visits[child].argmax())
        share = tree.visits[child, move] / tree.count[child]
        who = "we" if tree.actor[child] == own else f"seat {int(tree.actor[child]) + 1}"
        name = "fold" if move == 0 else "check/call" if move == 1 else "raise"
        if move >= RAISE and not limit:
            name = f"raise {SIZES[move - RAISE]}"
        parts.append(f"{who} {name} {share:.0%}")
        node = child
    return ", ".join(parts)


def classes_of(belief: Any, seat: int) -> Floats:
    """The chance of each of the 169 classes of hands of a seat, in the order of `CLASSES`."""
    share = np.zeros(len(CLASSES))
    order = {name: at for at, name in enumerate(CLASSES)}
    models = np.diff(belief.models[seat], prepend=0.0)
    total = np.zeros(len(HANDS))
    for weight, sums in zip(models / models.sum(), belief.sums[:, seat], strict=True):
        if sums[-1] > 0.0:
            total += weight * np.diff(sums, prepend=0.0) / sums[-1]
    for (one, two), weight in zip(HANDS.tolist(), total.tolist(), strict=True):
        share[order[hand_class(one, two)]] += weight
    return share


def explain_decision(bot: Any, situations: Any, memory: Any) -> str:
    """The explanation as lines of at most 76 characters."""
    told = explained(bot, situations, memory)
    lines = [
        f"a search of {int(told.visits.sum()):,} simulated hands; values in big blinds from now on",
        f"{'move':<14}{'played':>8}{'value':>9}{'± s.e.':>9}{'visits':>9}{'prior':>8}",
    ]
    for at, name in enumerate(told.moves):
        error = f"{told.errors[at]:.2f}" if np.isfinite(told.errors[at]) else "-"
        prior = f"{told.priors[at]:.2f}" if bot.select_rule.reads_prior else "-"
        lines.append(
            f"{name:<14}{told.chances[at]:>8.2f}{told.values[at]:>+9.2f}{error:>9}"
            f"{told.visits[at]:>9,.0f}{prior:>8}"
        )
    best = int(told.chances.argmax())
    if told.lines[best]:
        lines.append(f"after {told.moves[best]}: {told.lines[best]}"[:76])
    for seat, share in told.ranges.items():
        likely = np.argsort(-share, kind="stable")[:8]
        hands = " ".join(f"{CLASSES[at]} {share[at]:.0%}" for at in likely.tolist())
        known = f", {told.seen[seat]} hands seen" if seat in told.seen else ""
        lines.append(f"seat {seat + 1}{known}: {hands}"[:76])
    return "\n".join(lines)
