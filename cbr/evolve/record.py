"""The record of a completed generation: rows, origins and scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbr.typing import Floats

#: The origin of the mean of the search, which plays only in the duel.
MIDDLE = "middle"


@dataclass(frozen=True, eq=False)
class Generation:
    """Rows [n, d], the origin of each, its scores by block (rows may differ in the number of
    blocks), and the index of the best row; `notes` are further values of the method."""

    run: int
    number: int
    rows: Floats
    origins: Sequence[str]
    scores: Sequence[Floats]
    best: int
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def compared(self) -> Floats:
        """Scores of all rows in the blocks that each of them played, [k, blocks]. A row that only
        played a duel (`MIDDLE`) is left out."""
        some = [s for s, origin in zip(self.scores, self.origins, strict=True) if origin != MIDDLE]
        blocks = min(len(scores) for scores in some)
        return np.array([scores[:blocks] for scores in some])

    @property
    def spread(self) -> float:
        """The range of the rows' mean scores."""
        return float(np.ptp(self.compared.mean(axis=1)))
