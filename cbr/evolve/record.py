"""What is known of a generation when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cbr.typing import Floats

#: The origin of a row that the search made when the race was over.
MIDDLE = "middle"


@dataclass(frozen=True, eq=False)
class Generation:
    """Rows [n, d], where each comes from, its scores block by block (some have more than others),
    and which of them is best; `notes` is what else the method has to say."""

    run: int
    number: int
    rows: Floats
    origins: Sequence[str]
    scores: Sequence[Floats]
    best: int
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def compared(self) -> Floats:
        """Scores of all that played the same blocks, in those that each of them had, [k, blocks].
        A row that was only in a duel (`MIDDLE`) is not among them."""
        some = [s for s, origin in zip(self.scores, self.origins, strict=True) if origin != MIDDLE]
        blocks = min(len(scores) for scores in some)
        return np.array([scores[:blocks] for scores in some])

    @property
    def spread(self) -> float:
        """From the worst mean to the best."""
        return float(np.ptp(self.compared.mean(axis=1)))
