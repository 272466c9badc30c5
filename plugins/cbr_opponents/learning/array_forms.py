"""Array forms of models that are not made of arrays: trees fitted to moves drawn from the model.

Compiled roll-outs, search and ranges read one form of model alone. A model of another kind is asked
for its chances in a sample of decisions. Moves are drawn from these, several for each decision, and
trees are fitted to them as to a log. So the array form is near the model, not equal to it: `cbr
predict` tests such a model by its own chances, and by its array form where it needs ranges.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from cbr.store import Casebase
from cbr.typing import Floats
from cbr_opponents.learning.fitting import fit_trees, with_trees
from cbr_opponents.learning.observing import Observed, observe
from cbr_opponents.learning.streaming import streamed_chances
from cbr_opponents.opponent_model import OpponentModel
from cbr_opponents.player_models import PlayerModel

#: Moves that trees are fitted to, and most decisions of a casebase in which a model is asked.
DRAWN, _ASKED = 60_000, 6_000


def sampled(observed: Observed, most: int) -> Observed:
    """Decisions chosen at random, at most so many; in the order of the log."""
    if len(observed) <= most:
        return observed
    places = np.random.default_rng(0).choice(len(observed), most, replace=False)
    return observed.take(np.sort(places))


def refined_by_draws(start: OpponentModel, observed: Observed, shares: Floats) -> OpponentModel:
    """A model with public trees that bring it near these chances [n, moves] of observed decisions,
    which do not depend on the hand."""
    hidden = dataclasses.replace(observed, hand_class=np.full(len(observed), -1, np.int64))
    return with_trees(start, _drawn(hidden, shares), profiles=False)


def array_form(model: PlayerModel, file: str) -> OpponentModel:
    """A model in array form that acts nearly as another in the decisions of a casebase."""
    with Casebase.open(Path(file)) as base:
        observed = observe(base)
        chosen = np.zeros(len(observed), np.bool_)
        places = np.random.default_rng(0).permutation(len(observed))[:_ASKED]
        chosen[places] = True
        shares = streamed_chances(base, model, chosen, cards=True)
    return fit_trees(_drawn(observed.take(chosen), shares), profiles=False)


def _drawn(observed: Observed, shares: Floats) -> Observed:
    """The same decisions over and over, with moves drawn from their chances [n, moves]."""
    rows = np.repeat(np.arange(len(observed)), -(-DRAWN // len(observed)))
    drawn = np.random.default_rng(1).random(len(rows))
    move = (shares.cumsum(axis=1)[rows] <= drawn[:, None]).sum(axis=1)
    return dataclasses.replace(observed.take(rows), move=np.minimum(move, shares.shape[1] - 1))
