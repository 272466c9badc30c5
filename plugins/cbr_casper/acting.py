"""Turns the chances of solutions into actions at tables, for decisions on any street."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from cbr.typing import Flags, Floats, Ints
from cbr_arena import Chance, Triples
from cbr_casper.solutions import legal, raise_amounts, triples
from cbr_casper.streets import ActionChances
from cbr_holdem.situation import Pending


class Part(NamedTuple):
    """Decisions that one street makes in a batch: their `places` among all, and the function that
    returns their chances, given the situations, which solutions are legal, and the places."""

    places: Ints
    street: Any  # a Street or a Beginner
    decide: Callable[[Pending, Flags, Ints], ActionChances]


def size_draws(games: tuple[str, ...], chance: Chance) -> Floats | None:
    """Uniform numbers [n] that draw the sizes of raises; None in limit, which has one size."""
    return None if games == ("limit",) else chance.random()


def act_by_parts(situations: Pending, uniform: Floats | None, parts: Iterable[Part]) -> Triples:
    """The actions of all decisions; `uniform` is the result of `size_draws`."""
    shares = np.zeros((situations.count, 3))
    to = np.zeros(situations.count, np.int64)
    for places, street, decide in parts:
        if not len(places):
            continue
        some = situations.take(places)
        chances = decide(some, legal(some, street.solutions), places).chances
        shares[places] = triples(chances, street.solutions)
        if uniform is not None:
            to[places] = raise_amounts(chances, street.solutions, some, uniform[places])
    return Triples(shares, to)
