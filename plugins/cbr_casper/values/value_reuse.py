"""The reuse policy `worth`, which mixes imitation with the values of actions."""

from __future__ import annotations

import numpy as np

from cbr import BadValue, reuse_policy
from cbr.retrieval import Evidence
from cbr.spec import Spec, settle
from cbr.typing import Floats

#: Added to the share of each solution, so that one without a retrieved case can be chosen.
_RARE = 0.01


@reuse_policy("worth", batched=True, by_value=True)
def worth(retrieved: Evidence, temperature: float = 0.1, imitate: float = 1.0) -> Floats:
    """The chance of a solution is proportional to its share of the cases to the power `imitate`,
    times e^(value / `temperature`).

    The value of a solution is the mean over the retrieved cases that have one. Where fewer than two
    solutions have a value, shares alone decide; without shares all solutions are equally likely.
    """
    if not temperature > 0.0 or not 0.0 <= imitate <= 1.0:
        raise BadValue(
            f"worth?temperature={temperature}&imitate={imitate}: the temperature must be above 0, "
            "imitate from 0 to 1"
        )
    taken, value = retrieved.taken, retrieved.mean_value()
    shares = taken / np.maximum(taken.sum(axis=-1, keepdims=True), 1e-300)
    known = ~np.isnan(value)
    best = np.where(known, value, -1e300).max(axis=-1, keepdims=True)
    ahead = np.where(known, value, best) - best
    mixed = np.where(known, (shares + _RARE) ** imitate * np.exp(ahead / temperature), 0.0)
    several = known.sum(axis=-1, keepdims=True) > 1
    imitated = np.where(taken.any(axis=-1, keepdims=True), shares, 1.0)
    chances: Floats = np.where(several, mixed, imitated)
    return chances


def temperature_of(reuse: str) -> float:
    """The temperature of a spec of `worth`."""
    settled = settle(worth, 1, Spec.parse(reuse))
    return float(settled["temperature"])
