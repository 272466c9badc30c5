"""The player model of Ponsen et al. (2008): a prior from many players, corrected for one of them.

The prior is any model in array form, fitted to all players as if they were one. The corrective
function (`corrective`) starts as no correction at all. How far and in which directions players of
the log differ from the prior is learned from them: the covariance of the weights over players, by
expectation maximisation. With it a few hands already tell something about a player, along the ways
in which players do differ, and a player who does not differ stays near the prior.

All decisions teach, those with hidden cards too, because they are compared with the prior's chances
without cards. Where folded hands are known as well, a second corrective function with features of
the hand is learned for decisions with known cards; elsewhere, known hands are those that were not
folded, and the function without cards corrects the chances of every hand alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cbr.errors import BadValue
from cbr.spec import unnest
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.table import RAISE, Game
from cbr_opponents.array_models import ArrayModel
from cbr_opponents.boosting import Trees
from cbr_opponents.corrective import (
    PUBLIC,
    WITH_CARDS,
    Corrective,
    Moves,
    correction_trees,
    observe_in_order,
)
from cbr_opponents.frequencies import hides_folds
from cbr_opponents.learning.observing import Observed, counted, counted_by_context
from cbr_opponents.opponent_model import OpponentModel, by_kind, described_chances, workspace
from cbr_opponents.player_models import Chances, model_maker

#: Players from whom the covariance is learned: those with the most decisions, and at most so many
#: decisions of each.
_PLAYERS, _DECISIONS = 400, 2_000
#: Rounds of expectation maximisation; and how many players the starting covariance counts as.
_ROUNDS, _PSEUDO = 4, 10.0
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class PonsenModel:
    """A prior and the distribution of corrective functions; of strangers it knows the prior alone.

    `in_sequence` predicts a log as if read hand by hand; `of_player` is the model of one player,
    in array form. `with_cards` is None where most folded hands are hidden.
    """

    prior: ArrayModel
    public: Corrective
    with_cards: Corrective | None

    @property
    def arrays(self) -> OpponentModel:
        return self.prior.arrays

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        """The prior's chances: who sits at a table is not told."""
        return self.prior.chances(tables, game, hands)

    def in_sequence(self, observed: Observed, chosen: Flags, cards: bool) -> Floats:
        """Chances of moves [n, moves] of the chosen decisions, with the cards or without them. Each
        is corrected by the earlier hands of its player in `observed`, and by nothing else."""
        shares = prior_chances(self.arrays, observed, cards)
        kinds = by_kind(shares)
        players = _by_player(observed, np.unique(observed.player[chosen]))
        if cards and self.with_cards is not None:
            players = [mine[observed.known[mine]] for mine in players]
            out = _in_order(observed, kinds, players, self.with_cards)
        elif cards:
            # The same factors for the chances of a hand as for those without cards.
            without = by_kind(prior_chances(self.arrays, observed, False))
            factors = _in_order(observed, without, players, self.public)
            factors /= np.maximum(without, _TINY)
            out = kinds * factors
            out /= np.maximum(out.sum(axis=1, keepdims=True), _TINY)
        else:
            out = _in_order(observed, kinds, players, self.public)
        return _spread(shares, out)[chosen]

    def of_player(self, observed: Observed) -> ArrayModel:
        """The model of one player, whose decisions these are."""
        moves = _moves(observed, by_kind(prior_chances(self.arrays, observed, False)))
        public = observe_in_order(moves, self.public)[1]
        own = None
        if self.with_cards is not None and observed.known.any():
            mine = observed.take(observed.known)
            known = _moves(mine, by_kind(prior_chances(self.arrays, mine, True)))
            own = observe_in_order(known, self.with_cards)[1]
        return ArrayModel(corrected(self.arrays, public, own))


def fit_ponsen(observed: Observed, prior: str, spread: float, drift: float) -> PonsenModel:
    """The prior of this spec fitted to all players, and the distribution of corrective functions
    over them; `spread` is the standard deviation of a weight before players were compared, and
    `drift` how much of the variance of weights comes back with each hand (`Corrective`)."""
    if not 0.0 < spread <= 10.0:
        raise BadValue(f"spread is {spread:g}; it must be above 0 and at most 10")
    if not 0.0 <= drift <= 1.0:
        raise BadValue(f"drift is {drift:g}; it must be at least 0 and at most 1")
    fitted = model_maker(unnest(prior))(observed)
    if fitted.arrays is None or hasattr(fitted, "in_sequence"):
        raise BadValue(f"{prior!r} has no array form, so it cannot be a prior; use trees")
    arrays = fitted.arrays
    public = _learned(observed, arrays, Corrective.start(PUBLIC, spread), False)
    own = None
    known = observed.take(observed.known)
    if len(known) and not hides_folds(counted(observed), counted_by_context(observed)):
        own = _learned(known, arrays, Corrective.start(WITH_CARDS, spread), True)
        own = own._replace(drift=drift)
    return PonsenModel(ArrayModel(arrays), public._replace(drift=drift), own)


def _learned(
    observed: Observed, arrays: OpponentModel, start: Corrective, cards: bool
) -> Corrective:
    """The distribution of corrective functions over players: each round, the mean over players of
    the squared weights and their uncertainty becomes the covariance."""
    often = np.argsort(-np.bincount(observed.player), kind="stable")[:_PLAYERS]
    mine = observed.take(np.isin(observed.player, often))
    moves = _moves(mine, by_kind(prior_chances(arrays, mine, cards)))
    players = [places[:_DECISIONS] for places in _by_player(mine, np.unique(mine.player))]
    found = start
    for _ in range(_ROUNDS):
        total = _PSEUDO * start.covariance
        for places in players:
            after = observe_in_order(moves.take(places), found)[1]
            total += np.outer(after.mean, after.mean) + after.covariance
        covariance = total / (_PSEUDO + len(players))
        found = found._replace(covariance=(covariance + covariance.T) / 2.0)
    return found


def corrected(
    prior: OpponentModel, public: Corrective, with_cards: Corrective | None = None
) -> OpponentModel:
    """A prior with the corrections of one player as further trees, in array form."""
    shared, own = [], []
    for street in range(4):
        (feature, cut, leaf), count = prior.trees_of(street), prior.public[street]
        first = correction_trees(street, public)
        shared.append(_joined([Trees(feature[:count], cut[:count], leaf[:count]), first]))
        rest = [Trees(feature[count:], cut[count:], leaf[count:])]
        if with_cards is not None:
            # With cards, the second function takes the place of the first.
            undo = first._replace(leaf=-first.leaf)
            rest += [undo, correction_trees(street, with_cards)]
        own.append(_joined(rest))
    sizes = [
        Trees(
            prior.sizes.feature[street, :count],
            prior.sizes.cut[street, :count],
            prior.sizes.leaf[street, :count].astype(np.float64),
        )
        for street, count in enumerate(prior.sizes.trees)
    ]
    return OpponentModel.of(
        prior.grid, own, shared, prior.average, prior.support, prior.stranger, sizes
    )


def prior_chances(arrays: OpponentModel, observed: Observed, cards: bool) -> Floats:
    """The prior's chances of moves [n, moves]; without cards also where they are known, unless
    `cards` is true."""
    out = np.empty((len(observed), observed.moves))
    held = observed.hand_class if cards else np.full(len(observed), -1, np.int64)
    described_chances(observed.place, observed.features, held, arrays, workspace(arrays), out)
    return out


def _in_order(
    observed: Observed, prior: Floats, players: Sequence[Ints], start: Corrective
) -> Floats:
    """The prior's chances [n, KINDS], corrected at the places of each of these players."""
    moves, out = _moves(observed, prior), prior.copy()
    for mine in players:
        out[mine] = observe_in_order(moves.take(mine), start)[0]
    return out


def _joined(trees: Sequence[Trees]) -> Trees:
    return Trees(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))


def _moves(observed: Observed, prior: Floats) -> Moves:
    street = np.ascontiguousarray(observed.place[:, 0])
    return Moves(street, observed.hand, observed.kind, observed.may_raise, observed.features, prior)


def _by_player(observed: Observed, players: Ints) -> list[Ints]:
    """The places of the decisions of each of these players, in the order of the log."""
    order = np.argsort(observed.player, kind="stable")
    first = np.searchsorted(observed.player[order], players)
    end = np.searchsorted(observed.player[order], players, "right")
    return [order[a:b] for a, b in zip(first, end, strict=True)]


def _spread(shares: Floats, kinds: Floats) -> Floats:
    """Chances of all moves with these chances of kinds, sizes of raises as before."""
    out = shares.copy()
    out[:, :RAISE] = kinds[:, :RAISE]
    raises: Any = shares[:, RAISE:].sum(axis=1)
    out[:, RAISE:] *= (kinds[:, RAISE] / np.where(raises > 0.0, raises, 1.0))[:, None]
    return out
