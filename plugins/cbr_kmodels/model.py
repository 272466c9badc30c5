"""Clusters of players as a player model: `kmodels:FILE`.

What a player does is predicted by all clusters, each as much as it explains the player's earlier
hands. A stranger belongs to each by how many players it has. A model that reads what was seen of
the player himself (`own`, with profiles) blends in as his hands accumulate, and so do the sizes of
his raises before the flop, which are habits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.table import CALL, FOLD, RAISE, Game
from cbr_kmodels.clustering import Block, log_chances, posterior
from cbr_kmodels.differences import Choices, Situations
from cbr_opponents import (
    FEATURES,
    ArrayModel,
    Chances,
    ModelPart,
    OpponentModel,
    Trees,
    described_chances,
    workspace,
)
from cbr_opponents.learning import Observed

#: The least chance that a shared model gives a choice here.
LEAST = 1e-6
#: What a move counts for in the posterior over clusters. Less than one, since the moves of a player
#: depend on one another and no cluster is exactly right. Chosen on held-out players.
TRUST = 0.3
#: Decisions that are predicted at once.
_AT_ONCE = 50_000
#: The weight of a model's sizes of raises before the flop beside those that the player chose in
#: earlier hands, in raises. Chosen on held-out players.
OWN_SIZES = 10.0
#: The player's own model weighs as much as the clusters when so many of his hands were seen.
OWN_HANDS = 5.0


class Part(NamedTuple):
    """In what clusters differ: the situations of each street, `feature` and `cut` [4, trees,
    DEPTH], and the `effects` [k, 4, trees, LEAVES, m] there."""

    feature: NDArray[np.uint8]
    cut: NDArray[np.uint8]
    effects: Floats

    def situations(self, street: int) -> Situations:
        return Situations(self.feature[street], self.cut[street])

    def log_chances(self, street: Ints, choices: Choices) -> Floats:
        """Logarithms of chances in each cluster [n, k, m] of choices on these streets [n]."""
        out = np.empty((len(street), len(self.effects), choices.log.shape[1]))
        for number in range(4):
            here = street == number
            block = Block.of(choices.take(here), self.situations(number))
            out[here] = log_chances(block, np.ascontiguousarray(self.effects[:, number]))
        return out

    def trees_of(self, which: int) -> list[Trees]:
        """The effects of a cluster as further trees of each street."""
        return [
            Trees(self.feature[street], self.cut[street], self.effects[which, street])
            for street in range(4)
        ]


@dataclass(frozen=True, eq=False)
class KModels:
    """Clusters of players: the `shared` model in array form, how clusters differ from it in `moves`
    and (in no-limit) in `sizes` of raises, the `share` [k] of players in each, and the `rates` [k,
    4, 2, 3] at which its players fold, call and raise by street without and with a bet to call.
    `own` is the model that reads profiles, which are shrunk towards the `usual` counts. For the
    cluster of a player the last `last` moves count, all if it is 0."""

    shared: OpponentModel
    own: OpponentModel
    usual: Floats | None
    moves: Part
    sizes: Part | None
    share: Floats
    rates: Floats
    last: int = 0

    def __len__(self) -> int:
        return len(self.share)

    @property
    def arrays(self) -> OpponentModel:
        """The model that reads profiles: one model for all players, in array form. `parts` are all
        models, for those who can weigh several."""
        return self.own

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        """The chances of a stranger: who sits at a table is not told."""
        return ArrayModel(self.own).chances(tables, game, hands)

    def of_cluster(self, which: int) -> OpponentModel:
        """The model of one cluster in array form: the effects are further trees."""
        shared = self.shared
        own, public = [], []
        for street, more in enumerate(self.moves.trees_of(which)):
            trees, first = shared.trees_of(street), shared.public[street]
            public.append(_joined(_some(trees, slice(first)), more))
            own.append(_some(trees, slice(first, None)))
        sizes: list[Trees] = []
        if self.sizes is not None:
            for street, more in enumerate(self.sizes.trees_of(which)):
                count = shared.sizes.trees[street]
                feature, cut = shared.sizes.feature[street], shared.sizes.cut[street]
                leaf = shared.sizes.leaf[street].astype(np.float64)
                sizes.append(_joined(Trees(feature[:count], cut[:count], leaf[:count]), more))
        return OpponentModel.of(
            shared.grid, own, public, shared.average, shared.support, shared.stranger, sizes
        )

    @property
    def parts(self) -> tuple[ModelPart, ...]:
        """The models of all clusters and, last, the one that reads profiles."""
        clusters = (
            ModelPart(self.of_cluster(which), float(self.share[which]), TRUST)
            for which in range(len(self))
        )
        return (*clusters, ModelPart(self.own, 1.0, TRUST, OWN_HANDS))

    def in_sequence(self, observed: Observed, chosen: Flags, cards: bool) -> Floats:
        """Chances of moves [n, moves] of the chosen decisions, with the cards or without them, by
        the earlier hands of each player."""
        mine = observed.take(np.isin(observed.player, np.unique(observed.player[chosen])))
        wanted = chosen[np.isin(observed.player, np.unique(observed.player[chosen]))]
        part = mine.take(wanted)
        clusters = self.mixed(part, self.posteriors(mine)[wanted], cards)
        own = shared_chances(self.own, part, cards)
        weight = own_weight(hands_seen(part))[:, None]
        found = np.asarray(weight * own + (1.0 - weight) * clusters)
        if self.sizes is not None:
            found[:, RAISE:] = with_own_sizes(found[:, RAISE:], earlier_sizes(mine)[wanted])
        return found

    def mixed(self, observed: Observed, member: Floats, cards: bool = False) -> Floats:
        """Chances of moves [n, moves] of decisions whose players belong to clusters with these
        chances [n, k]."""
        parts = [
            self._mixed(observed.take(some), member[some], cards) for some in _parts(len(observed))
        ]
        return np.concatenate(parts)

    def _mixed(self, observed: Observed, member: Floats, cards: bool) -> Floats:
        shares = shared_chances(self.shared, observed, cards)
        street = observed.place[:, 0]
        kinds = np.exp(self.moves.log_chances(street, move_choices(observed, shares)))
        kinds *= member[:, :, None]
        out = np.empty_like(shares)
        out[:, :RAISE] = kinds[:, :, :RAISE].sum(axis=1)
        if self.sizes is None:
            out[:, RAISE] = kinds[:, :, RAISE].sum(axis=1)
            return out
        sizes = np.exp(self.sizes.log_chances(street, size_choices(observed, shares)))
        out[:, RAISE:] = (kinds[:, :, RAISE, None] * sizes).sum(axis=1)
        return out

    def likelihoods(self, observed: Observed) -> Floats:
        """Logarithms of the chances of the moves that were made, in each cluster, [n, k]."""
        parts = [self._likelihoods(observed.take(some)) for some in _parts(len(observed))]
        return np.concatenate(parts)

    def _likelihoods(self, observed: Observed) -> Floats:
        shares = shared_chances(self.shared, observed, False)
        street = observed.place[:, 0]
        found = self.moves.log_chances(street, move_choices(observed, shares))
        out: Floats = found[np.arange(len(found)), :, observed.kind]
        if self.sizes is not None:
            raised = np.flatnonzero(observed.move >= RAISE)
            some = observed.take(raised)
            sizes = self.sizes.log_chances(street[raised], size_choices(some, shares[raised]))
            out[raised] += sizes[np.arange(len(raised)), :, some.move - RAISE]
        return out

    def posteriors(self, observed: Observed) -> Floats:
        """The chances of clusters before each decision [n, k], by the player's earlier hands."""
        logs = np.empty((len(observed), len(self)))
        order = np.argsort(observed.player, kind="stable")
        made = self.likelihoods(observed)[order]
        _before(observed.player[order], observed.hand[order], made, self.last, logs)
        found = np.empty_like(logs)
        found[order] = posterior(TRUST * logs + np.log(self.share))[0]
        return found

    def members(self, observed: Observed) -> Floats:
        """The chances of clusters by all decisions of each player, [players, k]."""
        made = self.likelihoods(observed)
        joint = np.tile(np.log(self.share), (len(observed.names), 1))
        np.add.at(joint, observed.player, TRUST * made)
        return posterior(joint)[0]


def earlier_sizes(observed: Observed) -> Floats:
    """How often the player raised by each size before the flop in earlier hands, [n, sizes], for
    decisions there. Later sizes depend on the board and the hand more than on the player."""
    counts = np.zeros((len(observed.move), observed.moves - RAISE))
    order = np.argsort(observed.player, kind="stable")
    preflop = observed.place[:, 0] == 0
    columns = (observed.player, observed.hand, preflop, observed.move - RAISE)
    found = np.zeros_like(counts)
    _earlier_sizes(*(column[order] for column in columns), found)
    counts[order] = found
    return counts


def with_own_sizes(raises: Floats, counts: Floats) -> Floats:
    """Chances of raises by size [n, sizes] with sizes as the player chose them before; a size that
    a model rules out stays so."""
    total = raises.sum(axis=1, keepdims=True)
    shares = raises / np.maximum(total, LEAST)
    sizes = OWN_SIZES * shares + counts * (shares > LEAST)
    return np.asarray(total * sizes / np.maximum(sizes.sum(axis=1, keepdims=True), LEAST))


def hands_seen(observed: Observed) -> Floats:
    """The hands seen of the player before each decision, [n], about: as its profile tells."""
    return np.asarray(2.0 ** (observed.features[:, FEATURES] / 16.0) - 1.0)


def own_weight(hands: Floats) -> Floats:
    """The weight of the player's own model after so many hands."""
    return hands / (hands + OWN_HANDS)


def shared_chances(model: OpponentModel, observed: Observed, cards: bool) -> Floats:
    """Chances of moves [n, moves] by a model, with the cards or without them; a raise that is not
    legal is a call."""
    out = np.empty((len(observed), observed.moves))
    held = observed.hand_class if cards else np.full(len(observed), -1, np.int64)
    described_chances(observed.place, observed.features, held, model, workspace(model), out)
    stuck = ~observed.may_raise
    out[stuck, CALL] += out[stuck, RAISE:].sum(axis=1)
    out[stuck, RAISE:] = 0.0
    return out


def move_choices(observed: Observed, shares: Floats) -> Choices:
    """Choices among fold, call and raise; `shares` [n, moves] are the chances by a shared model."""
    kinds = np.stack([shares[:, FOLD], shares[:, CALL], shares[:, RAISE:].sum(axis=1)], axis=1)
    return Choices(observed.features, observed.kind, observed.player, np.log(kinds.clip(LEAST)))


def size_choices(observed: Observed, shares: Floats) -> Choices:
    """Choices among sizes of raises; -1 was made where there was no raise."""
    sizes = shares[:, RAISE:] / np.maximum(shares[:, RAISE:].sum(axis=1, keepdims=True), LEAST)
    made = observed.move - RAISE
    return Choices(observed.features, made, observed.player, np.log(sizes.clip(LEAST)))


@njit
def _before(player: Any, hand: Any, made: Any, last: Any, out: Any) -> None:
    """The sum of the logarithms `made` [n, k] over the earlier hands of each player, or over its
    last moves in them; decisions are in the order of players, and of the log."""
    n, k = made.shape
    first, start = 0, 0  # of the player, and of the hand
    for i in range(n):
        if i and player[i] != player[i - 1]:
            first = start = i
        elif i and hand[i] != hand[i - 1]:
            start = i
        if i > start:
            out[i] = out[start]
            continue
        begin = first if last <= 0 else max(first, start - last)
        if last <= 0 and i > first:
            before = i - 1
            while before > first and hand[before] == hand[before - 1]:
                before -= 1
            begin, out[i] = before, out[before]
        else:
            out[i] = 0.0
        for j in range(begin, start):
            for c in range(k):
                out[i, c] += made[j, c]


@njit
def _earlier_sizes(player: Any, hand: Any, preflop: Any, size: Any, out: Any) -> None:
    """Decisions are in the order of players, and of the log; a `size` below 0 is no raise."""
    counts = np.zeros(out.shape[1])
    start = 0  # of the hand
    for i in range(len(player)):
        if i and player[i] != player[i - 1]:
            counts[:] = 0.0
            start = i
        elif i and hand[i] != hand[i - 1]:
            for j in range(start, i):
                if preflop[j] and size[j] >= 0:
                    counts[size[j]] += 1.0
            start = i
        if preflop[i]:
            out[i] = counts


def _parts(count: int) -> list[Ints]:
    """Places in parts, since each decision takes a number for each cluster and move."""
    return np.array_split(np.arange(count), 1 + count // _AT_ONCE)


def _some(trees: Trees, which: slice) -> Trees:
    return Trees(trees.feature[which], trees.cut[which], trees.leaf[which])


def _joined(one: Trees, two: Trees) -> Trees:
    return Trees(
        np.concatenate([one.feature, two.feature]),
        np.concatenate([one.cut, two.cut]),
        np.concatenate([one.leaf, two.leaf]),
    )
