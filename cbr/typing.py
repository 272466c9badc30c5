"""Types that signatures throughout the engine share: arrays and progress callbacks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

Progress = Callable[[float, float, int], None]
"""Called during long work with (amount done, total amount, cases or rows so far)."""
