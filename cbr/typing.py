"""The types that every room writes in its signatures, defined once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

Progress = Callable[[float, float, int], None]
"""Called as work goes on with (amount done, amount in all, cases or rows so far)."""
