"""Values of the 1326 hands on boards: strength, their order, and potential; and hand strength.

The values of boards that were computed are kept, for all players of the process, because they do
not depend on the player. There is room for a bounded number of boards.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import copy_to, njit
from cbr.typing import Ints
from cbr_bots.hand_types import MOST_TYPES, RANK_PAIRS, look_at
from cbr_bots.lookup import Places, blank_places, find, give
from cbr_bots.potential import (
    MOST_LEVELS,
    Counts,
    blank_counts,
    count_hands,
    strengths_by_ranks,
    strengths_by_types,
    write_potential,
)
from cbr_holdem.cards import DECK, HANDS

_COUNT = len(HANDS)
_ONE, _TWO = HANDS[:, 0].astype(np.uint8), HANDS[:, 1].astype(np.uint8)
#: Room for all 1755 flops that differ by more than the names of suits, and their most types of
#: hands: one suit counts.
_FLOPS, _FLOP_TYPES = 2048, 4 * RANK_PAIRS


class Values(NamedTuple):
    """Values of hands on boards, a slot for each board; `places` finds it (`slot_of`).

    `strength` [slots, 1326] is 0 for a hand that shares a card with the board; `order`
    [slots, 1326] lists the other hands by ascending strength, and `hands` [slots] counts them.
    `levels` [slots] is the number of distinct strengths, and `ends` [slots, most levels] where each
    of them ends in the order. `share` [slots, 1326] is the share of hands that a hand beats, `ppot`
    [slots, 1326] its potential. `flop_ppot` [flops, types] is that of the types of hands on flops,
    by the `code` of the flop. `counts` is working memory.
    """

    places: Places
    strength: NDArray[np.uint16]
    order: NDArray[np.uint16]
    hands: Ints
    levels: Ints
    ends: NDArray[np.uint16]
    share: NDArray[np.float32]
    ppot: NDArray[np.float32]
    flops: Places
    flop_ppot: NDArray[np.float32]
    counts: Counts


def blank_values(slots: int = 2048) -> Values:
    """Room for the values of so many boards, 16 kB each; a power of 2, at least 32."""
    return Values(
        places=blank_places(slots),
        strength=np.empty((slots, _COUNT), np.uint16),
        order=np.empty((slots, _COUNT), np.uint16),
        hands=np.zeros(slots, np.int64),
        levels=np.zeros(slots, np.int64),
        ends=np.empty((slots, MOST_LEVELS), np.uint16),
        share=np.empty((slots, _COUNT), np.float32),
        ppot=np.empty((slots, _COUNT), np.float32),
        flops=blank_places(_FLOPS),
        flop_ppot=np.empty((_FLOPS, _FLOP_TYPES), np.float32),
        counts=blank_counts(),
    )


@cache
def shared_values() -> Values:
    """The values of boards that all players of this process share."""
    return blank_values()


@njit(inline="always")
def slot_of(board: Any, values: Any) -> Any:
    """The slot of a board (a bit set of cards), whose values are computed if they are missing. The
    next call may give the slot to another board."""
    slot = find(np.uint64(board), values.places)
    if slot < 0:
        slot = give(np.uint64(board), values.places)
        _fill(board, slot, values)
    return slot


@njit
def _fill(board: Any, slot: Any, values: Any) -> None:
    """Compute the values of one board."""
    of_hand, counts = np.empty(_COUNT, np.uint16), values.counts
    known = look_at(board, of_hand)
    plain, types = np.empty(RANK_PAIRS, np.uint16), known.types
    # The last entry is that of hands that share a card with the board.
    strengths, shares = np.zeros(MOST_TYPES + 1, np.uint16), np.zeros(MOST_TYPES + 1, np.float32)
    ppot = np.zeros(MOST_TYPES + 1, np.float32)
    strengths_by_ranks(known.ranks, known.cards, plain)
    strengths_by_types(plain, known.made, known.masks[known.made], known, strengths)
    levels = count_hands(strengths, known.hands, types, known.total, False, counts, shares)
    values.hands[slot], values.levels[slot] = known.total, levels
    copy_to(counts.ends[:levels], values.ends[slot])
    # Hands of the same strength are listed from the last to the first.
    order, places = values.order[slot], counts.ends
    for h in range(_COUNT):
        if of_hand[h] < types:
            level = counts.level[of_hand[h]]
            places[level] -= 1
            order[places[level]] = h
    if known.cards == 3:
        _flop_potential(known, shares, counts, values, ppot)
    elif known.cards == 4:
        write_potential(known, shares, counts, ppot)
    for h in range(_COUNT):
        values.strength[slot, h] = strengths[of_hand[h]]
        values.share[slot, h] = shares[of_hand[h]]
        values.ppot[slot, h] = ppot[of_hand[h]]


@njit(inline="always")
def _flop_potential(board: Any, share: Any, counts: Any, values: Any, out: Any) -> None:
    """`write_potential` of a flop, which is kept for other suits."""
    place = find(board.code, values.flops)
    if place < 0:
        write_potential(board, share, counts, out)
        place = give(board.code, values.flops)
        copy_to(out[: board.types], values.flop_ppot[place])
    copy_to(values.flop_ppot[place, : board.types], out)


@njit(error_model="numpy")  # without a test of each divisor the division is vectorized
def against(weight: Any, values: Any, slot: Any, out: Any) -> None:
    """Strength of every hand against one opponent whose hands have these weights [1326], excluding
    hands that share a card with it, into out [1326]; what is there for hands that share a card with
    the board means nothing. One pass in order of strength, with running sums by card."""
    order, ends = values.order[slot], values.ends[slot]
    cards = np.zeros(DECK)
    below = 0.0
    start = 0
    for level in range(values.levels[slot]):
        end = ends[level]
        for place in range(start, end):
            h = order[place]
            out[h] = below - cards[_ONE[h]] - cards[_TWO[h]]
        for place in range(start, end):
            h = order[place]
            below += weight[h]
            cards[_ONE[h]] += weight[h]
            cards[_TWO[h]] += weight[h]
        for place in range(start, end):
            h = order[place]
            out[h] += below - cards[_ONE[h]] - cards[_TWO[h]] + weight[h]
        start = end
    # By now all hands are in the sums.
    h = 0
    for one in range(DECK):
        without = below - cards[one]
        for two in range(one + 1, DECK):
            whole = without - cards[two] + weight[h]
            out[h] = 0.5 * out[h] / whole if whole > 0 else 0.5
            h += 1


@njit
def against_one(weight: Any, values: Any, slot: Any, hand: Any) -> Any:
    """The same for one hand that shares no card with the board, to the last bit: the sums add up
    the same numbers in the same order."""
    order, ends, strength = values.order[slot], values.ends[slot], values.strength[slot]
    low, high = 0, values.levels[slot] - 1
    while low < high:
        middle = (low + high) // 2
        if strength[order[ends[middle] - 1]] < strength[hand]:
            low = middle + 1
        else:
            high = middle
    start, end = ends[low - 1] if low else 0, ends[low]
    one, two = _ONE[hand], _TWO[hand]
    sums = _add_up(weight, order, 0, start, one, two, (0.0, 0.0, 0.0))
    lower = sums[0] - sums[1] - sums[2]
    sums = _add_up(weight, order, start, end, one, two, sums)
    upper = sums[0] - sums[1] - sums[2] + weight[hand]
    sums = _add_up(weight, order, end, values.hands[slot], one, two, sums)
    whole = sums[0] - sums[1] - sums[2] + weight[hand]
    return 0.5 * (lower + upper) / whole if whole > 0 else 0.5


@njit
def _add_up(weight: Any, order: Any, start: Any, end: Any, one: Any, two: Any, sums: Any) -> Any:
    """Add the weights from `start` to `end` in the order of hands to three sums: of all hands, of
    those with card `one`, and of those with card `two`."""
    every, with_one, with_two = sums
    for place in range(start, end):
        h = order[place]
        a, b, w = _ONE[h], _TWO[h], weight[h]
        every += w
        with_one += w if (a == one) | (b == one) else 0.0
        with_two += w if (a == two) | (b == two) else 0.0
    return every, with_one, with_two
