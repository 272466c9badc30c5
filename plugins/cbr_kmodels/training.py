"""Clusters of the players of a log: the shared model, the situations, and the best of several
starts; and how many clusters there should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from cbr.errors import BadValue
from cbr.typing import Flags, Floats, Ints
from cbr.workers import in_order
from cbr_holdem.table import RAISE
from cbr_kmodels.clustering import Block, Clusters, cluster
from cbr_kmodels.differences import LEAVES, Situations, differences
from cbr_kmodels.model import KModels, Part, move_choices, shared_chances, size_choices
from cbr_opponents import DEPTH, FEATURES, KINDS, OpponentModel, is_of_hand, model_maker
from cbr_opponents.learning import Observed

#: Trees of a street in which clusters may differ.
TREES = 6
#: The shared model: it knows no player, so that clusters tell what players differ in.
SHARED = "trees?profiles=false"
#: The model that reads what was seen of a player.
OWN = "trees"
#: The most rounds of one start.
ROUNDS = 60
#: Decisions below which a player is left out of clustering.
FEWEST = 10
#: Weight of all players' rates in those of a cluster, in decisions.
_PRIOR = 20.0


@dataclass(frozen=True)
class Plan:
    """How players are clustered: into `k` clusters, the best of so many `starts` from `seed` on,
    each of at most `rounds`; the `shared` model, and the player's `own`, by spec."""

    k: int = 10
    starts: int = 1
    seed: int = 0
    rounds: int = ROUNDS
    shared: str = SHARED
    own: str = OWN
    trees: int = TREES


class Prepared(NamedTuple):
    """What does not depend on the number of clusters: the shared model and the one that reads
    profiles, the situations of each street in moves and in sizes, and the choices of all players
    there."""

    observed: Observed
    shared: OpponentModel
    own: OpponentModel
    situations: tuple[list[Situations], list[Situations]]
    blocks: list[Block]


Tell = Callable[[int, int, int], None]


def prepare(observed: Observed, plan: Plan) -> Prepared:
    """Fit the shared model and find the situations. Players of too few hands teach the shared model
    alone."""
    often = np.bincount(observed.player, minlength=len(observed.names))
    enough = (often >= FEWEST)[observed.player]
    if len(np.unique(observed.player[enough])) < 2:
        raise BadValue(
            f"fewer than 2 players made {FEWEST} decisions, so there is nothing to cluster; build "
            "more hands"
        )
    some = observed.take(enough)
    shared, own = (_fitted(spec, observed) for spec in (plan.shared, plan.own))
    blocks: list[Block] = []
    found: tuple[list[Situations], list[Situations]] = ([], [])
    shares = shared_chances(shared, some, False)
    raised = some.move >= RAISE
    for at, (choices, mine) in enumerate(
        [
            (move_choices(some, shares), np.ones(len(some), bool)),
            (size_choices(some, shares), raised),
        ]
    ):
        if choices.log.shape[1] == 1:  # limit has one size
            continue
        for street in range(4):
            here = choices.take(mine & (some.place[:, 0] == street))
            usable = np.arange(FEATURES)
            usable = usable[~is_of_hand(street, usable)]
            found[at].append(differences(here, usable, plan.trees))
            blocks.append(Block.of(here, found[at][-1]))
    return Prepared(some, shared, own, found, blocks)


def _fitted(spec: str, observed: Observed) -> OpponentModel:
    arrays = model_maker(spec)(observed).arrays
    if arrays is None:
        raise BadValue(f"{spec!r} has no array form, so clusters cannot share it; use trees")
    return arrays


def fit_clusters(
    prepared: Prepared, plan: Plan, tell: Tell | None = None, pool: Executor | None = None
) -> tuple[KModels, Clusters]:
    """The clusters of the likeliest of several starts, which a `pool` may work on at once. `tell`
    hears of the start, the round and how many players moved; with a pool of the last round alone.
    """
    found = best_start(prepared, plan, tell, pool)
    return model_of(prepared, found), found


def best_start(
    prepared: Prepared, plan: Plan, tell: Tell | None = None, pool: Executor | None = None
) -> Clusters:
    """The likeliest of several starts, the first of equal ones; see `fit_clusters`."""
    number = _numbers(prepared.observed)
    players = int(number.max()) + 1
    if plan.k > players:
        raise BadValue(
            f"{plan.k} clusters of {players} players, who made {FEWEST} decisions or more; "
            f"give -k {players} or less"
        )
    blocks = [block._replace(player=number[block.player]) for block in prepared.blocks]
    heard = tell if pool is None else None  # a worker process cannot be heard
    work = partial(_started, blocks, players, plan, tell=heard)
    found: list[Clusters] = []
    for start, one in enumerate(in_order(pool, work, range(plan.starts))):
        if tell and pool is not None:
            tell(start, len(one.rounds), one.rounds[-1].moved)
        found.append(one)
    return max(found, key=lambda one: one.likelihood)


def _numbers(observed: Observed) -> Ints:
    """Numbers from 0 of the players who are clustered, -1 for others, [names]."""
    players = np.unique(observed.player)
    number = np.full(len(observed.names), -1)
    number[players] = np.arange(len(players))
    return number


def _started(
    blocks: Sequence[Block], players: int, plan: Plan, start: int, tell: Tell | None = None
) -> Clusters:
    """The clusters of one start."""
    heard = partial(tell, start) if tell else None
    return cluster(blocks, players, plan.k, plan.seed + start, plan.rounds, heard)


def model_of(prepared: Prepared, found: Clusters) -> KModels:
    """Clusters as a player model."""
    moves, sizes = prepared.situations
    observed = prepared.observed
    nearest = found.member.argmax(axis=1)[_numbers(observed)[observed.player]]
    return KModels(
        prepared.shared,
        prepared.own,
        observed.usual,
        _part(moves, found.effects[:4]),
        _part(sizes, found.effects[4:]) if sizes else None,
        found.share,
        _rates(observed, nearest, len(found.share)),
    )


def _part(situations: Sequence[Situations], effects: Sequence[Floats]) -> Part:
    """The situations of all streets in one array; a street without trees has none that count."""
    most = max(len(one.feature) for one in situations)
    k, moves = effects[0].shape[0], effects[0].shape[-1]
    feature, cut = np.zeros((2, 4, most, DEPTH), np.uint8)
    out = np.zeros((k, 4, most, LEAVES, moves))
    for street, (one, of) in enumerate(zip(situations, effects, strict=True)):
        n = len(one.feature)
        feature[street, :n], cut[street, :n], out[:, street, :n] = one.feature, one.cut, of
    return Part(feature, cut, out)


def _rates(observed: Observed, nearest: Ints, k: int) -> Floats:
    """How often the players of each cluster fold, call and raise, [k, 4, 2, KINDS]."""
    counts = np.zeros((k, 4, 2, KINDS))
    at = (nearest, observed.place[:, 0], observed.facing.astype(np.int64), observed.kind)
    np.add.at(counts, at, 1.0)
    usual = counts.sum(axis=0) + 0.1
    counts += _PRIOR * usual / usual.sum(axis=-1, keepdims=True)
    rates: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return rates


def halves(observed: Observed) -> Flags:
    """The decisions of the first half of each player's hands, a mask."""
    order = np.lexsort((np.arange(len(observed)), observed.player))
    player, hand = observed.player[order], observed.hand[order]
    new = np.append(True, (player[1:] != player[:-1]) | (hand[1:] != hand[:-1]))
    number = np.cumsum(new) - 1
    first = np.flatnonzero(np.append(True, player[1:] != player[:-1]))
    place = np.searchsorted(first, np.arange(len(player)), "right") - 1
    rank = number - number[first][place]
    last = np.append(first[1:], len(player)) - 1
    hands = number[last] - number[first] + 1
    found = np.empty(len(observed), bool)
    found[order] = 2 * rank < hands[place]
    return found


def apart(observed: Observed, seed: int) -> tuple[Observed, Observed]:
    """The decisions of four fifths of the players, and those of the others."""
    from cbr_opponents.prediction import splits_of

    one = next(splits_of(observed, "players", seed))
    return observed.take(one.known), observed.take(one.tested)
