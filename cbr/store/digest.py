"""Order-independent digests of sets of cases.

Each row is hashed by itself and the hashes are added modulo 2^128. So a digest can be updated
while rows are added or removed, and the sums of different workers can be added. It detects drift
and damage; it is not a cryptographic signature.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cbr.case import CaseType, Value
from cbr.missing import is_nothing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODULUS = 1 << 128


def record_digest(body: str) -> bytes:
    """The digest of one record's content."""
    return hashlib.blake2b(body.encode("utf-8"), digest_size=12).digest()


def add(digest: str, amount: int) -> str:
    """A digest with the sum of row hashes `amount` added (subtracted, if negative).

    >>> add(add("", 5), -5)
    '00000000000000000000000000000000'
    """
    return f"{(int(digest or '0', 16) + amount) % _MODULUS:032x}"


def sum_of_rows(
    case_type: CaseType, columns: Sequence[Sequence[Value] | NDArray[np.generic]]
) -> int:
    """Sum of the row hashes of cases given in columns: every feature in order, then the solution.

    Numbers are hashed as the float32 that retrieval compares, so a row has the same hash before it
    is written and after it is read; a number that is the solution as float64. A missing value
    (None or NaN) has words of its own, which no value has. A row's hash is two words of 64 bits,
    into which its cells are mixed one after the other.
    """
    import numpy as np

    salt = "\x1f".join([case_type.stage, *(f.name for f in case_type.features)])
    is_number = [feature.is_number for feature in case_type.features] + [case_type.numeric]
    high, low = (np.full(len(columns[-1]), word, np.uint64) for word in _words(salt))
    for place, (column, number) in enumerate(zip(columns, is_number, strict=True)):
        if number:
            last = place == len(is_number) - 1
            cells = _words_of_numbers(np.asarray(column, "<f8" if last else "<f4"))
        else:
            cells = _words_of(column)
        high = _mixed(high + cells[0])
        low = _mixed(low ^ (cells[1] + np.uint64(_STEP)))
    return (_total(high) << 64) + _total(low)


def _words(text: str) -> tuple[int, int]:
    """Two words of 64 bits for a text: a short text itself, a long one hashed."""
    given = text.encode("utf-8")
    short = len(given) < 16
    mark = given.ljust(16, b"\0") if short else hashlib.blake2b(given, digest_size=16).digest()
    return int.from_bytes(mark[:8], "little"), int.from_bytes(mark[8:], "little")


def _words_of_numbers(numbers: NDArray[Any]) -> NDArray[np.uint64]:
    """The words [2, n] of n numbers: the bits of each, twice."""
    import numpy as np

    # Adding 0 turns -0.0 into 0.0: equal values must have the same hash.
    there = numbers + numbers.dtype.type(0)
    bits = there.view(f"<u{there.itemsize}").astype(np.uint64)
    bits[np.isnan(there)] = _MISSING[0]
    return np.stack([bits, bits])


def _words_of(column: Sequence[Value] | NDArray[np.generic]) -> NDArray[np.uint64]:
    """The words [2, n] of n texts."""
    import numpy as np

    texts: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    if set(map(type, texts)) - {str}:
        words = _words_of([str(cell) for cell in texts])
        absent = [place for place, cell in enumerate(texts) if is_nothing(cell)]
        words[:, absent] = np.array(_MISSING, np.uint64)[:, None]
        return words
    if max(map(len, texts), default=0) < 16:
        with suppress(UnicodeEncodeError):
            # Short ASCII texts as they are in memory: the same words as `_words` returns.
            cells = np.array(texts, "S16")
            return cells.view("<u8").astype(np.uint64).reshape(-1, 2).T
    places: dict[str, int] = {}
    order = [places.setdefault(text, len(places)) for text in texts]
    return np.array([_words(text) for text in places], np.uint64).reshape(-1, 2)[order].T


_STEP = 0x9E3779B97F4A7C15
#: The words of a missing value. UTF-8 has no such byte, and no number has such bits.
_MISSING = ((1 << 64) - 1, (1 << 64) - 1)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's mixing: every bit of a word depends on every bit."""
    import numpy as np

    one, two, three = np.uint64(30), np.uint64(27), np.uint64(31)
    words = words + np.uint64(_STEP)
    words = (words ^ (words >> one)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> two)) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> three)


def _total(words: NDArray[np.uint64]) -> int:
    """The sum of 128-bit hashes, as an unbounded integer."""
    import numpy as np

    half = np.uint64(32)
    return (int((words >> half).sum()) << 32) + int((words & np.uint64(0xFFFFFFFF)).sum())
