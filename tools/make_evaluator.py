"""Makes the evaluator's tables: `python tools/make_evaluator.py` writes them, `--check` compares.

The strength of a hand without a flush depends on its ranks only. Each rank gets a random 32-bit
number; the sum over the cards (modulo 2^32) is the key of a perfect hash table: displacements found
by trial give each key its own slot, (key >> 16) ^ displacement[key & mask]. Flushes are looked up
by the set of their ranks.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

OUT = Path(__file__).parent.parent / "features" / "cbr_holdem" / "cards" / "evaluator.npz"
Rating = tuple[int, ...]
#: The sets of ranks of all straights; the ace also counts below the deuce.
STRAIGHTS = [{12, 0, 1, 2, 3}, *({*range(low, low + 5)} for low in range(9))]


def rate(ranks: tuple[int, ...], flush: bool) -> Rating:
    """The rating of a five-card hand: its category, then the ranks that break ties (ace 14).

    >>> rate((12, 12, 12, 8, 8), False)
    (7, 14, 10)
    """
    straight = next((i + 5 for i, s in enumerate(STRAIGHTS) if s == set(ranks)), 0)
    if straight:
        return (9 if flush else 5, straight)
    groups = sorted(((ranks.count(r), r + 2) for r in set(ranks)), reverse=True)
    shape = [count for count, _ in groups]
    deciding = [rank for _, rank in groups]
    if flush:
        return (6, *deciding)
    categories = {(4, 1): 8, (3, 2): 7, (3, 1, 1): 4, (2, 2, 1): 3, (2, 1, 1, 1): 2}
    return (categories.get(tuple(shape), 1), *deciding)


def rank_sets(size: int) -> Iterator[tuple[int, ...]]:
    """Ranks of `size` cards, no rank more than four times."""
    for ranks in combinations_with_replacement(range(13), size):
        if max(ranks.count(r) for r in set(ranks)) <= 4:
            yield ranks


def strengths() -> tuple[dict[tuple[int, ...], int], NDArray[np.uint16], NDArray[np.uint8]]:
    """Strength (1 to 7462) of ranks of 5 to 7 cards, of flushes by rank set, and all ratings."""
    plain = {ranks: rate(ranks, False) for ranks in rank_sets(5)}
    suited = {ranks: rate(ranks, True) for ranks in combinations(range(13), 5)}
    order = sorted({*plain.values(), *suited.values()})
    number = {rating: place + 1 for place, rating in enumerate(order)}
    known = {ranks: number[rating] for ranks, rating in plain.items()}
    for size in (6, 7):
        for ranks in rank_sets(size):
            best = (known[ranks[:i] + ranks[i + 1 :]] for i in range(size))
            known[ranks] = max(best)
    flush = np.zeros(1 << 13, np.uint16)
    for mask in range(1 << 13):
        held = tuple(r for r in range(13) if mask >> r & 1)
        if 5 <= len(held) <= 7:
            flush[mask] = max(number[suited[five]] for five in combinations(held, 5))
    ratings = np.zeros((len(order) + 1, 6), np.uint8)
    for place, rating in enumerate(order):
        ratings[place + 1, : len(rating)] = rating
    return known, flush, ratings


def displace(
    keys: NDArray[np.uint32], values: NDArray[np.uint16], buckets: int, bits: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]] | None:
    """Displacement for each bucket and the filled table; None if two keys always collide."""
    size = 1 << bits
    home, place = keys & np.uint32(buckets - 1), (keys >> np.uint32(16)) & np.uint32(size - 1)
    if len(np.unique(home.astype(np.uint64) << np.uint64(32) | place)) != len(keys):
        return None
    order = np.argsort(home, kind="stable")
    edges = np.searchsorted(home[order], np.arange(buckets + 1))
    members = [order[edges[b] : edges[b + 1]] for b in range(buckets)]
    table, taken = np.zeros(size, np.uint16), np.zeros(size, bool)
    displacement = np.zeros(buckets, np.uint16)
    candidates = np.arange(size, dtype=np.uint32)
    for bucket in sorted(range(buckets), key=lambda b: -len(members[b])):
        mine = place[members[bucket]]
        if not len(mine):
            continue
        clash = np.zeros(size, bool)
        for one in mine:
            clash |= taken[one ^ candidates]
        free = np.flatnonzero(~clash)
        if not len(free):
            return None
        displacement[bucket] = free[0]
        spots = mine ^ np.uint32(free[0])
        taken[spots] = True
        table[spots] = values[members[bucket]]
    return displacement, table


def make() -> dict[str, NDArray[np.generic]]:
    known, flush, ratings = strengths()
    for seed in range(1000):
        numbers = np.random.default_rng(seed).integers(0, 1 << 32, 13, dtype=np.uint32)
        parts = {}
        for name, sizes, buckets, bits in (
            ("seven", (7,), 1 << 13, 16),
            ("few", (5, 6), 1 << 12, 15),
        ):
            ranks = [r for r in known if len(r) in sizes]
            keys = np.array([numbers[list(r)].sum(dtype=np.uint32) for r in ranks], np.uint32)
            values = np.array([known[r] for r in ranks], np.uint16)
            found = displace(keys, values, buckets, bits)
            if found is None:
                break
            parts[name + "_displacement"], parts[name] = found
        else:
            print(f"seed {seed}", file=sys.stderr)
            return {"rank_numbers": numbers, "flush": flush, "ratings": ratings, **parts}
    raise RuntimeError("no seed separates all keys")


def main() -> None:
    made = make()
    if "--check" in sys.argv:
        there = np.load(OUT)
        same = all(np.array_equal(made[name], there[name]) for name in made)
        sys.exit(0 if same and set(made) == set(there.files) else f"{OUT} is not what this makes")
    np.savez_compressed(OUT, **made)  # type: ignore[arg-type]
    digest = hashlib.blake2b(OUT.read_bytes(), digest_size=16).hexdigest()
    print(f"wrote {OUT}; DIGEST in evaluator.py must be {digest}", file=sys.stderr)


if __name__ == "__main__":
    main()
