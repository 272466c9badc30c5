"""An unfinished search for best responses, kept in the casebase, so that an interruption costs one
step of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.store import Casebase
from cbr_casper.values.best_response import BestResponses
from cbr_opponents import OpponentModel

#: Names of the arrays in the casebase: what was found, and what it was found with.
_OF_SEARCH = ("strategy", "value", "moves")
_STATE = "state"


def _stored(name: str) -> str:
    return f"best_response.{name}"


class Unfinished:
    """The search with these `settings` against these models, among the learned arrays of `base`."""

    def __init__(
        self, base: Casebase, settings: Sequence[int], models: Sequence[OpponentModel]
    ) -> None:
        self._base = base
        arrays = [array for model in models for array in model if isinstance(array, np.ndarray)]
        models_crc = crc32(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
        self._settings = [*settings, base.count_records(), models_crc]
        self._start = BestResponses.before_any_round(models)

    def load(self, rounds: int) -> BestResponses | None:
        """What was found by the same search so far, if it did not go beyond so many rounds."""
        try:
            state = self._base.learned(_stored(_STATE))
            found = [self._base.learned(_stored(name)) for name in _OF_SEARCH]
        except BadValue:  # damaged: the search starts anew
            return None
        steps = self._steps(state)
        if not 0 < steps <= rounds * len(self._start.value) or not all(
            array is not None
            and (array.shape, array.dtype) == (start.shape, start.dtype)
            and np.isfinite(array).all()
            for array, start in zip(found, self._start[:3], strict=True)
        ):
            return None
        strategy, value, moves = (np.array(array, np.float64) for array in found)
        if any(
            shares.min() < 0.0 or shares.sum(axis=-1).min() <= 0.0 for shares in (strategy, moves)
        ):
            return None
        return BestResponses(strategy, value, moves, steps)

    def _steps(self, state: NDArray[Any] | None) -> int:
        """How far a stored search is; 0 if it is another one."""
        if state is None or state.dtype != np.int64 or state[:-1].tolist() != self._settings:
            return 0
        return int(state[-1])

    def save(self, found: BestResponses) -> None:
        with self._base.transaction():
            for name in _OF_SEARCH:
                self._base.put_learned(_stored(name), getattr(found, name))
            self._base.put_learned(_stored(_STATE), np.array([*self._settings, found.steps]))

    @staticmethod
    def drop(base: Casebase) -> None:
        """Delete it, inside a transaction."""
        base.drop_learned([_stored(name) for name in (*_OF_SEARCH, _STATE)])
