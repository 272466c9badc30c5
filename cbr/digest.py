"""Digests: one number for a set of cases, whatever the order they came in.

Each row is hashed by itself and the hashes are added modulo 2^128. So a digest can be carried
along while rows are added or removed, and parts made by different workers can be put together.
It finds drift and damage; it is no signature against somebody who wants a collision.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cbr.case import CaseType, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODULUS = 1 << 128


def record_digest(body: str) -> bytes:
    """Identity of one record's content."""
    return hashlib.blake2b(body.encode("utf-8"), digest_size=12).digest()


def add(digest: str, amount: int) -> str:
    """A digest with the row hashes of `amount` added (or taken away, if negative).

    >>> add(add("", 5), -5)
    '00000000000000000000000000000000'
    """
    return f"{(int(digest or '0', 16) + amount) % _MODULUS:032x}"


def sum_of_rows(
    case_type: CaseType, columns: Sequence[Sequence[Value] | NDArray[np.generic]]
) -> int:
    """Sum of the row hashes of cases given in columns: every feature in order, then the solution.

    Numbers count as the 32-bit floats that retrieval compares, so a row hashes alike before it is
    written and after it is read.
    """
    import numpy as np

    salt = "\x1f".join([case_type.stage, *(f.name for f in case_type.features)]).encode()
    seed = hashlib.blake2b(salt, digest_size=16)
    is_number = [feature.is_number for feature in case_type.features] + [False]
    numbers = [c for c, n in zip(columns, is_number, strict=True) if n]
    texts = [c for c, n in zip(columns, is_number, strict=True) if not n]
    rows = len(columns[-1])
    # Adding 0 turns -0.0 into 0.0: equal values must hash alike.
    packed = np.ascontiguousarray(np.array(numbers, "<f4").reshape(len(numbers), rows).T + 0)
    raw, width = packed.astype("<f4").tobytes(), 4 * len(numbers)
    total = 0
    for row, words in enumerate(_joined(texts)):
        state = seed.copy()
        state.update(raw[row * width : (row + 1) * width])
        state.update(words)
        total += int.from_bytes(state.digest(), "big")
    return total


def _joined(texts: Sequence[Iterable[Value]]) -> Iterable[bytes]:
    """The text cells of each row, each with its length, so that no two rows run together alike."""
    for row in zip(*texts, strict=True):
        yield "".join(f"{len(str(cell))}:{cell}" for cell in row).encode()
