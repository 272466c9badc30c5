"""Seeds by what they are for, so that no random state is ever carried along.

What happens in a generation depends on the seed of the whole, the run and the generation, and on
nothing that was drawn before: a run that is taken up again draws what it would have drawn.
"""

from __future__ import annotations

import hashlib

import numpy as np

#: Seeds of contests for the search are even, those of the report at the end are odd: no deal that a
#: generation saw is ever in the report.
SEARCH, REPORT = 0, 1


def seed_of(seed: int, purpose: int, *place: int) -> int:
    """The seed of one contest, below 2^62."""
    return 2 * _mark(seed, "contest", *place) + purpose


def generator_of(seed: int, run: int, generation: int) -> np.random.Generator:
    """The random numbers by which a generation is made."""
    return np.random.default_rng(_mark(seed, "generation", run, generation))


def _mark(seed: int, word: str, *place: int) -> int:
    text = " ".join([str(seed), word, *map(str, place)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 3
