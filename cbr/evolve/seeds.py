"""Seeds derived from purpose, run and generation, so that no random state is carried along.

The random numbers of a generation depend only on the seed of the search, the run and the
generation, not on earlier draws: a resumed run draws what it would have drawn.
"""

from __future__ import annotations

import hashlib

import numpy as np

#: What a contest is for: the search, the final report, the choice of what the search returns. Seeds
#: of the report are odd, others even: no trial that a generation used is ever in the report.
SEARCH, REPORT, CHOICE = 0, 1, 2


def seed_of(seed: int, purpose: int, *place: int) -> int:
    """The seed of one contest, below 2^62."""
    return 2 * _mark(seed, "contest", *place) + purpose % 2


def generator_of(seed: int, run: int, generation: int) -> np.random.Generator:
    """The random generator for the creation of a generation."""
    return np.random.default_rng(_mark(seed, "generation", run, generation))


def _mark(seed: int, word: str, *place: int) -> int:
    text = " ".join([str(seed), word, *map(str, place)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 3
