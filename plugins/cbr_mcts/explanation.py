"""Why the bot acts as it does: the moves with their values, visits and standard errors, the line of
play that was visited most after each, and which hands the opponents likely hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.typing import Floats, Ints
from cbr_arena import Analysis
from cbr_holdem.cards import CLASSES, HANDS, hand_class
from cbr_holdem.situation import SIZES, Pending, raised_to
from cbr_holdem.table import (
    ACTOR,
    CALL,
    FOLDED,
    PLAYERS,
    RAISE,
    SEATS,
    Game,
    act,
    raise_limits,
    to_call,
)
from cbr_mcts.search import Found
from cbr_mcts.tree import Tree
from cbr_opponents import RAISE_SIZES

#: Moves of a line that are shown, and the least share of all visits that goes on with it.
_LONGEST, _LEAST = 8, 0.02
#: Columns of a text, and the classes of hands that it names of each opponent.
_WIDTH, _CLASSES = 76, 8


def analysis_of_search(
    bot: Any, situations: Pending, rows: Ints, found: Found, shares: Floats, memory: Any
) -> Analysis:
    """The analysis of one searched decision, of which `shares` [moves] are the chances to be
    played; `memory` is that of the bot, or None."""
    tree, belief, _scene = bot.work_of(situations.game)
    row, game = rows[0], situations.game
    legal = np.flatnonzero(found.visits[0] >= 0.0)
    # Moves of the fewest visits last, so that the first line is the main one.
    order = legal[np.argsort(-found.visits[0, legal], kind="stable")]
    lines = [line_after(int(move), row, tree, game) for move in order if found.visits[0, move]]
    own = int(row[ACTOR])
    others = [s for s in range(int(row[SEATS])) if s != own and not row[FOLDED] >> s & 1]
    ranges = {seat: range_of(belief, seat) for seat in others}
    seen = None if memory is None or not bot.learn else memory["opponents"]["hands"][0]
    prior = tree.prior[0, legal] if bot.select_rule.reads_prior else None
    return Analysis(
        why=_text(found, legal, prior, row, game, ranges, seen),
        kind=np.minimum(legal, RAISE),
        to=np.array([amount_of(int(move), row, game) for move in legal]),
        chance=shares[legal],
        value=np.where(found.visits[0, legal] > 0.0, found.values[0, legal], np.nan),
        error=np.where(np.isfinite(found.errors[0, legal]), found.errors[0, legal], np.nan),
        visits=found.visits[0, legal].astype(np.int64),
        lines=lines,
        ranges=ranges,
    )


def amount_of(move: int, row: Ints, game: Game) -> int:
    """The amount that a raise goes to at a table; 0 for other moves."""
    least, most = raise_limits(row, game.terms)
    if move < RAISE or not most:
        return 0
    return int(raised_to(row, least, most, RAISE_SIZES[game.betting][move - RAISE]))


def line_after(move: int, row: Ints, tree: Tree, game: Game) -> list[tuple[int, int, int]]:
    """The line of play that was visited most after a move of the root: (seat, kind, to)."""
    r, node, size = row.copy(), 0, int(tree.size[0])
    line: list[tuple[int, int, int]] = []
    while len(line) < _LONGEST:
        to = amount_of(move, r, game)
        line.append((int(r[ACTOR]), min(move, RAISE), to))
        if move == 0 and r[PLAYERS] == 2:
            break
        below = np.flatnonzero((tree.parent[1:size] == node) & (tree.move[1:size] == move)) + 1
        if not len(below):
            break
        node = int(below[tree.count[below].argmax()])
        if tree.count[node] < max(2.0, _LEAST * tree.count[0]):
            break
        act(r, game.terms, min(move, RAISE), to)
        move = int(tree.visits[node].argmax())
    return line


def range_of(belief: Any, seat: int) -> Floats:
    """The chance of each hand of a seat, [1326]."""
    total = np.zeros(len(HANDS))
    models = np.diff(belief.models[seat], prepend=0.0)
    for weight, sums in zip(models / models.sum(), belief.sums[:, seat], strict=True):
        if sums[-1] > 0.0:
            total += weight * np.diff(sums, prepend=0.0) / sums[-1]
    return np.asarray(total / total.sum())


def move_name(move: int, row: Ints, game: Game) -> str:
    """A move in words."""
    facing = to_call(row) > 0
    if move <= CALL:
        return "fold" if move < CALL else "call" if facing else "check"
    verb = "raise" if facing else "bet"
    return verb if game.betting == "limit" else f"{verb} {SIZES[move - RAISE]}"


def _text(
    found: Found,
    legal: Ints,
    prior: Floats | None,
    row: Ints,
    game: Game,
    ranges: dict[int, Floats],
    seen: Ints | None,
) -> str:
    """Lines of at most 76 characters."""
    visits = found.visits[0]
    lines = [f"{int(visits[legal].sum()):,} simulated hands, {int(found.nodes[0]):,} nodes"]
    if prior is not None:
        shares = [
            f"{move_name(move, row, game)} {share:.0%}"
            for move, share in zip(legal.tolist(), prior.tolist(), strict=True)
        ]
        lines.append(f"the prior proposes {', '.join(shares)}"[:_WIDTH])
    own, seats = int(row[ACTOR]), int(row[SEATS])
    names = [hand_class(one, two) for one, two in HANDS.tolist()]
    place = np.array([CLASSES.index(name) for name in names])
    for seat, chances in ranges.items():
        share = np.bincount(place, chances, len(CLASSES))
        likely = np.argsort(-share, kind="stable")[:_CLASSES].tolist()
        known = "" if seen is None else f" ({seen[(seat - own) % seats]} hands seen)"
        hands = " ".join(f"{CLASSES[at]} {share[at]:.0%}" for at in likely)
        lines.append(f"seat {seat + 1}{known}: {hands}"[:_WIDTH])
    return "\n".join(lines)
