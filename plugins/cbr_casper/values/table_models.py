"""Table models: models of how the opponents at a table play, and their posterior at a table.

The first model is that of all players of the casebase together. The others are the same players
with a tilt; and, where the casebase has groups of players who act alike, one model for each group.
Each model has its own best response, found by simulated play when cases are labelled.

At a table the bot updates the posterior of each model from the opponents' moves. The value of a
move is then that of the cases, times the posterior of the first model, plus the values of the
abstraction in the other models, times their posteriors.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.jit import copy_to, njit
from cbr.store import Casebase
from cbr.typing import Floats, Ints, Progress
from cbr_casper.values.best_response import HANDS, ROUNDS, best_responses, starts_of
from cbr_casper.values.unfinished import Unfinished
from cbr_holdem.situation import BETTING
from cbr_holdem.table import (
    ACTOR,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    PAID,
    POST,
    RAISE,
    SEATS,
    STACK,
    STREET,
    act,
    deal_posted,
    unpacked,
)
from cbr_opponents import (
    CLASSES,
    COLUMNS,
    CONTEXTS,
    DEPTH,
    KINDS,
    QUICK,
    RAISE_SIZES,
    TILTS,
    OpponentModel,
    Trees,
    actor_strength,
    context,
    hand_class,
    move_of,
    strength_space,
)
from cbr_opponents.learning import fit_frequencies, fit_trees, groups_of, observe

#: Arrays in casebases and label files are called "worlds.NAME". These names are a file format: the
#: arrays of the `OpponentModel`, then the best response, the values and the move rates.
STORED_AS = "worlds"
_OF_MODEL = ("grid", "feature", "cut", "leaf", "trees")
_STRATEGY, _VALUE, _RATES = "own", "value", "seen"
NAMES = (*_OF_MODEL, _STRATEGY, _VALUE, _RATES)
#: The array of a casebase with the number of hands that the models were learned from.
_HANDS = f"{STORED_AS}.hands"

#: Exponent of a hand's likelihood: moves of one hand depend on one another.
_TEMPER = 0.03
#: Decay of the log-likelihood with each hand, so that the belief follows a table that changes.
_FORGET = 0.99
#: Hands that a casebase needs for a bot to adapt to the table.
_ENOUGH = 1_000
#: The least rate of a move, since logarithms are taken of it.
_LEAST = 1e-6
#: Most trees of a street: labels are averages over whole tables, for which few will do.
_TREES = 60
#: The greatest number in an array; values are in small bets or big blinds.
_GREATEST = 1e6
#: Prior of the first model.
_PRIOR = 0.6


@dataclass(frozen=True, eq=False)
class TableModels:
    """Table models of a casebase, with best responses to them.

    `opponents` is the model of the casebase's players, and `strategy` [4, CONTEXTS, CLASSES, moves]
    the best response to it; cases are labelled by these two. For each table model, `value` [models,
    4, CONTEXTS, CLASSES, moves] are the values of moves for a player of its best response, and
    `move_rates` [models, 4, CONTEXTS, moves] how often its opponents make each move.
    """

    opponents: OpponentModel
    strategy: Floats
    value: Floats
    move_rates: Floats

    @classmethod
    def learn(
        cls,
        base: Casebase,
        seed: int = 0,
        rounds: int = ROUNDS,
        hands: int = HANDS,
        pool: Executor | None = None,
        progress: Progress | None = None,
        resume: bool = False,
    ) -> TableModels:
        """Table models of a casebase, with best responses from `rounds` rounds of `hands` hands;
        with 0 rounds our strategy is that of the players. No-limit has one table model: the
        abstraction is too coarse for its range of pot sizes, and a bot that adapted by it lost.
        With `resume` what was found is written to the casebase after each step, and a search that
        was interrupted there goes on."""
        observed, betting = observe(base), BETTING[base.domain]
        # Simulated tables have no history, so what was seen of single players is left out.
        everybody = fit_trees(observed, _TREES, False, public=False, sized=False, pace=QUICK)
        models, has_trees = [everybody], bool(everybody.trees.any())
        if betting == "limit":
            # Trees are fitted to the players of the log, not to others. With trees the tilted
            # models took longer and won no more.
            plain = everybody.without_trees()
            tilts = TILTS if has_trees else TILTS[1:]  # without trees the first equals `everybody`
            models += [plain.tilted(tilt) for tilt in tilts]
            groups = groups_of(observed)
            if len(groups) > 1:
                mine = [np.isin(observed.player, group) for group in groups]
                models += [fit_frequencies(observed.take(some)) for some in mine]
        before, keep = None, None
        if resume:
            unfinished = Unfinished(base, [seed, hands], models)
            before, keep = unfinished.load(rounds), unfinished.save
        starts = starts_of(base)
        found = best_responses(
            starts, models, betting, seed, rounds, hands, pool, progress, before, keep
        )
        first = int(has_trees and betting == "limit")
        opponents = everybody._replace(grid=_as_stored(everybody.grid))
        strategy = _as_stored(found.strategy[0])
        value, rates = _as_stored(found.value[first:]), _as_stored(found.move_rates[first:])
        return cls(opponents, strategy, value, np.maximum(rates, _LEAST))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by their stored names; `from_arrays` restores the models."""
        stored = {name: getattr(self.opponents, name) for name in _OF_MODEL}
        return stored | {_STRATEGY: self.strategy, _VALUE: self.value, _RATES: self.move_rates}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any] | None], base: Casebase
    ) -> TableModels | None:
        """The models of a casebase, or None if an array is missing. Arrays are checked, since they
        may come from any file."""
        known = {name: array for name in NAMES if (array := arrays.get(name)) is not None}
        if len(known) < len(NAMES):
            return None
        _verify(known, base)
        trees = [
            Trees(
                known["feature"][street, :count].astype(np.uint8),
                known["cut"][street, :count].astype(np.uint8),
                known["leaf"][street, :count].astype(np.float64),
            )
            for street, count in enumerate(known["trees"].tolist())
        ]
        opponents = OpponentModel.of(known["grid"].astype(np.float64), trees)
        strategy, value, rates = (
            known[name].astype(np.float64) for name in (_STRATEGY, _VALUE, _RATES)
        )
        return cls(opponents, strategy, value, np.maximum(rates, _LEAST))

    @classmethod
    def load(cls, base: Casebase) -> TableModels | None:
        """The models stored in a casebase, if any."""
        return cls.from_arrays({name: base.learned(f"{STORED_AS}.{name}") for name in NAMES}, base)

    @classmethod
    def load_if_valid(cls, base: Casebase) -> TableModels | None:
        """The models stored in a casebase, unless they are of another game or version."""
        try:
            return cls.load(base)
        except BadValue:
            return None

    @classmethod
    def for_adaptation(cls, base: Casebase) -> TableModels | None:
        """The models stored in a casebase, if a bot can adapt by them: there are several, with best
        responses, learned from enough hands."""
        if cls.from_fewer_hands(base, _ENOUGH):
            return None
        found = cls.load(base)
        return found if found is not None and len(found.value) > 1 and found.value.any() else None

    @staticmethod
    def from_fewer_hands(base: Casebase, number: int) -> bool:
        """Whether a casebase's models were learned from fewer hands than this."""
        hands = _learned_from(base)
        return hands is not None and hands < number

    @staticmethod
    def are_stale(base: Casebase) -> bool:
        """Whether a casebase has other hands than those its models were learned from."""
        return _learned_from(base) != base.count_records()

    def save(self, base: Casebase) -> None:
        """Write the models to a casebase, inside a transaction."""
        for name, array in self.arrays().items():
            short = array.astype(np.float32) if array.dtype.kind == "f" else array
            base.put_learned(f"{STORED_AS}.{name}", short)
        base.put_learned(_HANDS, np.array([base.count_records()]))
        Unfinished.drop(base)

    def posterior(self, log_likelihood: Floats) -> Floats:
        """The probability of each model [n, models], given its log-likelihood."""
        prior = np.full(len(self.value), (1.0 - _PRIOR) / max(1, len(self.value) - 1))
        prior[0] = _PRIOR
        weight = prior * np.exp(log_likelihood - log_likelihood.max(axis=-1, keepdims=True))
        posterior: Floats = weight / weight.sum(axis=-1, keepdims=True)
        return posterior

    def describe(self, posterior: Floats) -> str:
        """The likeliest models of one table [models], in words."""
        kinds = range(1, len(posterior) - len(TILTS) + 1)
        names = [tilt.name for tilt in TILTS] + [f"like players of kind {kind}" for kind in kinds]
        first = np.argsort(-posterior, kind="stable")[:3]
        return ", ".join(
            f"{names[at]} ({posterior[at]:.0%})" for at in first if posterior[at] >= 0.05
        )

    def weighted_values(self, tables: Ints, terms: Ints, posterior: Floats) -> Floats:
        """The value of each move to the actor of each table in each model, by the abstraction and
        times the `posterior` [n, models]: [n, models, moves]."""
        out = np.empty((*posterior.shape, self.value.shape[-1]))
        _values(tables, terms, self.value, out)
        out *= posterior[..., None]
        return out

    def observe(self, tables: Ints, terms: Ints, seats: Ints, log_likelihood: Floats) -> None:
        """Update the log-likelihoods [n, models] from the moves of the opponents of `seats` [n] in
        finished hands."""
        new = np.zeros_like(log_likelihood)
        _add_log_likelihood(tables, terms, seats, np.log(self.move_rates), new)
        log_likelihood *= _FORGET
        log_likelihood += _TEMPER * (new - new[:, :1])


def findings(base: Casebase) -> list[str]:
    """What is wrong with the models that a casebase stores, for `cbr check`."""
    found = []
    if base.domain in BETTING:
        for read in (_learned_from, TableModels.load):
            try:
                read(base)
            except BadValue as error:
                found.append(str(error))
    return found


def _learned_from(base: Casebase) -> int | None:
    """The number of hands that the models of a casebase were learned from, if it is stored."""
    hands = base.learned(_HANDS)
    if hands is None:
        return None
    if hands.shape != (1,) or hands.dtype.kind not in "iu" or hands[0] < 0:
        raise BadValue(
            f"array {_HANDS!r} of {base.path} is not a number of hands; label it again from its log"
        )
    return int(hands[0])


def _verify(known: Mapping[str, NDArray[Any]], base: Casebase) -> None:
    """Raise BadValue if an array does not have the shape, type and range that the models need."""
    moves = RAISE + len(RAISE_SIZES[BETTING[base.domain]])
    most, models = known["feature"].shape[1:2], known[_VALUE].shape[:1] or (1,)
    cells = (4, CONTEXTS, CLASSES, moves)
    shapes = {
        "grid": cells,
        "feature": (4, *most, DEPTH),
        "cut": (4, *most, DEPTH),
        "leaf": (4, *most, 1 << DEPTH, KINDS),
        "trees": (4,),
        _STRATEGY: cells,
        _VALUE: (*models, *cells),
        _RATES: (*models, *cells[:2], moves),
    }
    # Compiled code does not check bounds: a feature number beyond the last would read other memory.
    greatest = {"feature": COLUMNS - 1, "cut": 255, "trees": max(most, default=0)}
    for name, array in known.items():
        kinds = "iu" if name in greatest else "f"
        right = array.shape == shapes[name] and array.dtype.kind in kinds
        if right and name in greatest:
            right = not array.size or bool(array.min() >= 0 and array.max() <= greatest[name])
        # As float64, since float16 does not reach that far; false for NaN too.
        right = right and bool((np.abs(array.astype(np.float64)) <= _GREATEST).all())
        if right and name in {"grid", _STRATEGY, _RATES}:  # chances
            right = bool(array.min() >= 0.0 and (array.sum(axis=-1) > 0.0).all())
        if not right or not models[0]:
            raise BadValue(
                f"array '{STORED_AS}.{name}' of {base.path} or of its labels does not fit its "
                "game; label it again from its log"
            )


def _as_stored(array: Floats) -> Floats:
    """Rounded as a casebase stores it, so that labelling later gives the same values."""
    return array.astype(np.float32).astype(np.float64)


@njit
def _values(tables: Any, terms: Any, value: Any, out: Any) -> None:
    """The value of each move at each table in each model, into `out` [n, models, moves]."""
    known, cards = strength_space()
    for i in range(len(tables)):
        r = tables[i]
        known[:] = -1
        street, at = r[STREET], context(r, terms)
        held = hand_class(street, actor_strength(r, known, cards))
        for model in range(len(value)):
            copy_to(value[model, street, at, held], out[i, model])


@njit
def _add_log_likelihood(tables: Any, terms: Any, seats: Any, log_rates: Any, out: Any) -> None:
    """Add to `out` [n, models] the logarithms of the rates [models, 4, CONTEXTS, moves] of all
    moves of other seats than `seats` [n]."""
    r, moves = tables[0].copy(), log_rates.shape[-1]
    for i in range(len(tables)):
        end = tables[i]
        stacks = end[STACK : STACK + MOST_SEATS] + end[PAID : PAID + MOST_SEATS]
        nothing = np.zeros(MOST_SEATS, np.int64)
        deal_posted(r, terms, end[SEATS], stacks, end[POST:], nothing, end[HOLE:])
        for m in range(end[MOVES]):
            _street, _seat, kind, amount = unpacked(end[HISTORY + m])
            if r[ACTOR] != seats[i]:
                street, at = r[STREET], context(r, terms)
                move = move_of(r, terms, kind, amount, moves)
                for model in range(len(out[i])):
                    out[i, model] += log_rates[model, street, at, move]
            if m + 1 < end[MOVES]:  # the last move would start the showdown
                act(r, terms, kind, amount)
