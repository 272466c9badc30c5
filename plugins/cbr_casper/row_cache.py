"""A cache of computed rows, since many decisions of a match are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cbr.typing import Floats, Ints

#: Most rows: more than the decisions of one street in the hands that are played in lockstep.
_MOST = 100_000


class RowCache:
    """Rows by key; the cache is emptied when it would exceed its limit."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._place: dict[bytes, int] = {}
        self._rows: Floats = np.empty((0, 0))

    def rows(self, keys: Sequence[bytes], compute: Callable[[Ints], Floats]) -> Floats:
        """The row of each key; `compute` returns the rows for the indices of new `keys`.

        >>> cache = RowCache()
        >>> cache.rows([b"a", b"b", b"a"], lambda places: places[:, None] + 0.5).tolist()
        [[2.5], [1.5], [2.5]]
        >>> cache.rows([b"b"], lambda places: places).tolist()
        [[1.5]]
        """
        if len(self._place) + len(keys) > _MOST:
            self._forget()
        new = {key: at for at, key in enumerate(keys) if key not in self._place}
        if new:
            # Keys are added after computing, which may fail.
            found = compute(np.fromiter(new.values(), np.int64, len(new)))
            begin, end = len(self._place), len(self._place) + len(new)
            if end > len(self._rows):
                larger = np.empty((2 * end, found.shape[1]))
                if begin:
                    larger[:begin] = self._rows[:begin]
                self._rows = larger
            self._rows[begin:end] = found
            self._place.update(zip(new, range(begin, end), strict=True))
        return self._rows[[self._place[key] for key in keys]]
