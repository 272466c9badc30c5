"""Readings: weight tables after the moves of a hand, kept by their public history.

A decision comes a few moves after the last one of the same hand, and hands that begin alike occur
again: in other seatings of a deal, in roll-outs, and before the flop everywhere. So the reading of
each public history (blinds, moves, and the board that the moves have seen) is kept, and a longer
history starts from the longest one that is known. Readings that begin alike share the weights of
the seats that have not acted since. All room is bounded, and what was dropped is computed again,
with the same result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import copy_to, njit
from cbr.typing import Floats, Ints
from cbr_bots.betting_line import DESCRIBED, IN_, LINE, begin, describe, on_street, take
from cbr_bots.board_values import slot_of
from cbr_bots.lookup import Places, blank_places, find, give
from cbr_bots.weight_tables import field_of, weigh_class, weigh_hands
from cbr_holdem.cards import CLASSES, HANDS
from cbr_holdem.chance import mixed
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    DEAD,
    FOLD,
    HISTORY,
    MOST_MOVES,
    MOST_SEATS,
    MOVES,
    POST,
    RAISE,
    SEATS,
    STREET,
    unpacked,
)

_HANDS, _CLASSES = len(HANDS), len(CLASSES)
#: Most rows of weights that one reading adds.
_ADDED = MOST_SEATS + MOST_MOVES


class Kept(NamedTuple):
    """Readings by public history; `places` finds them.

    A reading has the betting `line` [n, LINE], `likely` [n, 10], the probability that the formula
    player makes the moves of each seat (-1 if the seat has raised), and `row` [n, 10], the numbers
    of the rows of weights of the seats that have not folded. Rows are numbered as they are made;
    `weights` [rows, 1326] holds the last of them, number i at i modulo rows, and `made` [1] counts
    them. Weights of hands that share a card with the board may be above 0.
    """

    places: Places
    line: Ints
    likely: Floats
    row: Ints
    weights: Floats
    made: Ints


def blank_kept(readings: int = 8192, rows: int = 8192) -> Kept:
    """Room for so many readings (a power of 2, 0.5 kB each) and rows of weights (10 kB each, at
    least twice as many as a hand can have)."""
    assert rows > 2 * _ADDED
    return Kept(
        places=blank_places(readings),
        line=np.zeros((readings, LINE), np.int64),
        likely=np.ones((readings, MOST_SEATS)),
        row=np.zeros((readings, MOST_SEATS), np.int64),
        weights=np.empty((rows, _HANDS)),
        made=np.zeros(1, np.int64),
    )


class Reading(NamedTuple):
    """The reading of one table: `line` [LINE] and `likely` [10] as in `Kept`, and `rows` [10], the
    places of the seats' weights in `Kept.weights`, which are good until another table is read.
    `key` [moves + 1] are the keys of its histories; `now` [DESCRIBED], `classes` [10, 169] and
    `space` [3, 1326] are working memory."""

    line: Ints
    likely: Floats
    rows: Ints
    key: NDArray[np.uint64]
    now: Floats
    classes: Floats
    space: Floats


def blank_reading() -> Reading:
    """Allocated arrays, to be reused for one table after the other."""
    return Reading(
        np.zeros(LINE, np.int64),
        np.ones(MOST_SEATS),
        np.zeros(MOST_SEATS, np.int64),
        np.zeros(MOST_MOVES + 1, np.uint64),
        np.zeros(DESCRIBED),
        np.ones((MOST_SEATS, _CLASSES)),
        np.zeros((3, _HANDS)),
    )


@njit
def board_of(r: Any, street: Any) -> Any:
    """The board of a table on a street, as a bit set of cards."""
    found = np.int64(0)
    for place in range(BOARD_CARDS[street]):
        found |= np.int64(1) << r[BOARD + place]
    return found


@njit
def _next_key(key: Any, number: Any) -> Any:
    return mixed(key ^ np.uint64(number)) + np.uint64(1)


@njit
def write_keys(r: Any, terms: Any, out: Any) -> Any:
    """Write the key of the public history after 0, 1, ... moves of a table into `out`; returns the
    number of moves before the flop. A board is part of the history from the first move on it on."""
    key = np.uint64(r[SEATS])
    for term in terms:
        key = _next_key(key, term)
    key = _next_key(key, r[DEAD])
    for seat in range(r[SEATS]):
        key = _next_key(key, r[POST + seat])
    out[0] = key
    shown, before = 0, r[MOVES]
    for m in range(r[MOVES]):
        street = unpacked(r[HISTORY + m])[0]
        if street and before == r[MOVES]:
            before = m
        if street > shown:
            key = _next_key(key, board_of(r, street))
            shown = street
        key = _next_key(key, r[HISTORY + m])
        out[m + 1] = key
    return before


@njit
def decision_key(r: Any, hand: Any, keys: Any) -> Any:
    """The key of the decision at a table: of all that the player to act sees. `keys` are those of
    `write_keys`, `hand` is the number of his hand."""
    key = _next_key(keys[r[MOVES]], board_of(r, r[STREET]))
    return _next_key(key, _HANDS * r[ACTOR] + hand)


class Answers(NamedTuple):
    """What was computed for decisions [n, 3], by `decision_key`: a deal is played in several
    seatings, and they often go the same way."""

    places: Places
    answer: Floats


def blank_answers(count: int = 65_536) -> Answers:
    """Room for so many answers, a power of 2."""
    return Answers(blank_places(count), np.empty((count, 3)))


@njit
def follow_line(r: Any, terms: Any, k: Any, line: Any, now: Any) -> None:
    """Replay the moves of a table into a betting line, without weights."""
    begin(line, r)
    for m in range(r[MOVES]):
        street, seat, _kind, _amount = unpacked(r[HISTORY + m])
        on_street(line, street)
        describe(line, seat, terms, k, now)
        take(line, r[HISTORY + m])


@njit(inline="always")
def read(r: Any, terms: Any, rules: Any, values: Any, kept: Any, reading: Any) -> None:
    """Read a table (row `r`): replay its moves, from the longest history whose reading is kept."""
    line, likely, rows, key, now, _classes, space = reading
    first = write_keys(r, terms, key)
    known = r[MOVES]
    while known >= first and not _recall(key[known], kept, reading):
        known -= 1
    if known < first:
        _read_preflop(r, first, terms, rules, kept, reading)
        _keep(key[first], kept, reading)
        known = first
    for m in range(known, r[MOVES]):
        move = r[HISTORY + m]
        street, seat, kind, _amount = unpacked(move)
        on_street(line, street)
        describe(line, seat, terms, rules.constants, now)
        if kind != FOLD:
            slot = slot_of(board_of(r, street), values)
            field = field_of(seat, line[IN_], rows, kept.weights, space[2])
            row = _new_row(kept)
            chance = weigh_hands(
                kept.weights[rows[seat]],
                kept.weights[row],
                kind,
                now,
                rules,
                slot,
                values,
                field,
                space[:2],
            )
            rows[seat] = row
            likely[seat] = -1.0 if kind == RAISE else likely[seat] * chance
        take(line, move)
        _keep(key[m + 1], kept, reading)
    on_street(line, r[STREET])


@njit
def write_weights(r: Any, values: Any, kept: Any, reading: Any, out: Any) -> None:
    """Write the weights of the seats that have not folded, after `read`, into out [10, 1326]: 0 for
    hands that share a card with the board."""
    slot = slot_of(board_of(r, r[STREET]), values) if r[STREET] else -1
    for seat in range(MOST_SEATS):
        if reading.line[IN_] >> seat & 1:
            mine = kept.weights[reading.rows[seat]]
            for h in range(_HANDS):
                out[seat, h] = mine[h] if slot < 0 or values.strength[slot, h] else 0.0


@njit
def _read_preflop(r: Any, end: Any, terms: Any, rules: Any, kept: Any, reading: Any) -> None:
    """Read the first `end` moves, which are before the flop; weights are by hand class there."""
    line, likely, rows, _key, now, classes, _space = reading
    classes[:] = 1.0
    likely[:] = 1.0
    begin(line, r)
    for m in range(end):
        _street, seat, kind, _amount = unpacked(r[HISTORY + m])
        describe(line, seat, terms, rules.constants, now)
        if kind != FOLD:
            chance = weigh_class(classes[seat], kind, now, rules)
            likely[seat] = -1.0 if kind == RAISE else likely[seat] * chance
        take(line, r[HISTORY + m])
    for seat in range(r[SEATS]):
        if line[IN_] >> seat & 1:
            rows[seat] = _new_row(kept)
            for h in range(_HANDS):
                kept.weights[rows[seat], h] = classes[seat, rules.class_of[h]]


@njit
def _new_row(kept: Any) -> Any:
    """The place of a new row of weights, in place of the oldest."""
    kept.made[0] += 1
    return kept.made[0] % len(kept.weights)


@njit
def _keep(key: Any, kept: Any, reading: Any) -> None:
    place, rows = give(key, kept.places), len(kept.weights)
    copy_to(reading.line, kept.line[place])
    copy_to(reading.likely, kept.likely[place])
    for seat in range(MOST_SEATS):
        # The number of the last row that was made at this place.
        age = (kept.made[0] - reading.rows[seat]) % rows
        kept.row[place, seat] = kept.made[0] - age


@njit
def _recall(key: Any, kept: Any, reading: Any) -> Any:
    """Whether the reading of a history is kept; if so, it is copied to `reading`. Its rows of
    weights must be among those that no reading begun now can overwrite."""
    place, rows = find(key, kept.places), len(kept.weights)
    if place < 0:
        return False
    inside = kept.line[place, IN_]
    for seat in range(MOST_SEATS):
        if inside >> seat & 1 and kept.made[0] - kept.row[place, seat] >= rows - _ADDED:
            return False
    copy_to(kept.line[place], reading.line)
    copy_to(kept.likely[place], reading.likely)
    for seat in range(MOST_SEATS):
        reading.rows[seat] = kept.row[place, seat] % rows
    return True
