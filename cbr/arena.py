"""Arenas: where feature weights show what they are worth.

Evolution asks one function for scores and knows nothing of the contest behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Play = Callable[[NDArray[np.float64], int, int], NDArray[np.float64]]


@dataclass(frozen=True)
class Arena:
    """A named contest: ``play(weights[n, d], blocks, seed) -> scores[n, blocks]``.

    Block b of a seed is the same contest for every row of weights and for every number of blocks,
    so that differences between rows are paired. `cbr.testing.check_arena` checks that.
    """

    name: str
    play: Play
    meaning: str = ""

    kind: ClassVar[str] = "arena"
