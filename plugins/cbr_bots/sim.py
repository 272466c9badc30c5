"""Sim: selective-sampling simulation after the flop (Poki's Simbot), for limit games.

At each decision it rolls out the hand many times: opponents' cards are drawn from their weight
tables, the board is completed, and the rest is played twice with the same cards and random numbers,
once after a call and once after a raise, all players acting by the formula player's triples. The
value of a fold is 0, and the action with the highest mean is taken. Before the flop it plays as
Loki does.

A formula player bets good hands and folds bad ones, so check-raises and bluffs pay against it. Both
lose against a calling station, a player who only checks and calls. So in part of the trials an
opponent is a calling station with random cards: with the posterior probability that he is one,
given his moves of this hand.

Roll-outs must be quick: on the current board, hand strength is against the weighted field; on later
boards it is HS against a random hand, to the power that fits best on the current board.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import copy_to, njit
from cbr.typing import Floats, Ints
from cbr_arena import CALL, FOLD, RAISE, Chance, Triples
from cbr_bots.betting_line import DESCRIBED, IN_, LINE, OPPONENTS, describe, on_street, take
from cbr_bots.board_values import against, slot_of
from cbr_bots.loki import Formula, own_hand
from cbr_bots.loki_constants import STATION
from cbr_bots.lookup import find, give
from cbr_bots.readings import (
    blank_answers,
    blank_reading,
    board_of,
    decision_key,
    read,
    write_keys,
    write_weights,
)
from cbr_bots.triples import after_flop
from cbr_bots.weight_tables import field_of
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.chance import mixed, step, unit
from cbr_holdem.situation import Pending
from cbr_holdem.strength import count_now, hand_number, quick_potential, strength_of_counts
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    FOLDED,
    HOLE,
    MOST_SEATS,
    PAID,
    PARTS,
    PAYOFF,
    STREET,
    WIDTH,
    Game,
    act,
    add_up,
    deal_unseen,
    last_move,
    raise_limits,
    to_call,
)

_COUNT = len(HANDS)
#: Most trials of a decision: more would take minutes in compiled code, which cannot be interrupted.
_MOST = 100_000
#: Trials in one call of compiled code, so that a batch of decisions can be interrupted.
_AT_ONCE = 20_000


class Sim:
    """Chooses by roll-outs after the flop; `trials` for each decision."""

    memory = None

    def __init__(self, trials: int = 100, style: str = "moderate", model: str = "triples") -> None:
        if not 1 <= trials <= _MOST:
            raise BadValue(f"sim?trials={trials} must be 1 to {_MOST:,}")
        self.trials = trials
        self.formula, self.answers = Formula(style, model), blank_answers()
        self.space = _blank_space()

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        rows = situations.seen()
        shares = np.zeros((len(rows), 3))
        first = rows[:, STREET] == 0
        if first.any():
            shares[first] = self.formula.own_triples(rows[first], situations.game)
        later = np.flatnonzero(~first)
        if len(later):
            worth = self.values(rows[later], situations.game, chance.state[later])
            shares[later, worth.argmax(axis=1)] = 1.0
        return Triples(shares)

    def values(self, rows: Ints, game: Game, state: NDArray[np.uint64]) -> Floats:
        """Expected chips of a fold, a call and a raise, [n, 3], counted from this decision on; rows
        are tables after the flop as the player to act sees them. Illegal actions have -inf."""
        formula, out = self.formula, np.empty((len(rows), 3))
        # For views with gaps all would be compiled once more.
        rows, state = np.ascontiguousarray(rows), np.ascontiguousarray(state)
        size = max(1, _AT_ONCE // self.trials)
        for first in range(0, len(rows), size):
            some = slice(first, first + size)
            _simulate_all(
                rows[some],
                game.terms,
                formula.rules,
                formula.values,
                formula.kept,
                self.answers,
                self.trials,
                state[some],
                self.space,
                out[some],
            )
        return out


@njit
def station_chances(likely: Any, line: Any, prior: Any, out: Any) -> None:
    """Posterior probability that each seat is a calling station, by Bayes' rule. `likely` [10] is
    the likelihood of the seat's moves under the formula player; -1 if one was a raise."""
    for seat in range(MOST_SEATS):
        out[seat] = 0.0
        if likely[seat] >= 0 and line[IN_] >> seat & 1:
            out[seat] = prior / (prior + (1.0 - prior) * likely[seat])


@njit
def _fit_powers(hs: Any, share: Any, weights: Any, line: Any, strength: Any, powers: Any) -> None:
    """For each seat, fit the power of `share` that is closest to the seat's strength against the
    field: weighted least squares of the logarithms."""
    for seat in range(MOST_SEATS):
        if not line[IN_] >> seat & 1:
            continue
        over, under = 1e-9, 1e-9
        for h in range(_COUNT):
            if strength[h] and 0.02 < share[h] < 0.98:
                x, y = np.log(share[h]), np.log(max(1e-4, hs[seat, h]))
                over += weights[seat, h] * x * y
                under += weights[seat, h] * x * x
        powers[seat] = min(4.0, max(0.5, over / under))


@njit
def _draw_stations(chances: Any, state: Any, stations: Any) -> Any:
    """Draw which seats are calling stations in this trial; returns the new random state."""
    for seat in range(MOST_SEATS):
        state = step(state)
        stations[seat] = unit(state) < chances[seat]
    return state


class _Trial(NamedTuple):
    """Data of a roll-out from a decision on `street`: strength `hs` [10, 1326] and potential `ppot`
    [1326] of hands on the current board, the `powers` [10] that adjust strength on later boards,
    and which seats are calling stations (`stations` [10]).

    `known` [10, 4, 2] caches strength and potential by seat and street for both roll-outs of one
    deal; negative means not computed. `hole` [2] and `board` [5] are working memory."""

    street: Any
    hs: Any
    ppot: Any
    powers: Any
    stations: Any
    known: Any
    hole: Any
    board: Any


@njit
def _strength(r: Any, seat: Any, trial: Any, found: Any) -> None:
    """Strength and potential of a seat's hand on a simulated board, into found [2]."""
    hole, board, shown = trial.hole, trial.board, BOARD_CARDS[r[STREET]]
    for card in range(2):
        hole[card] = r[HOLE + 2 * seat + card]
    for place in range(shown):
        board[place] = r[BOARD + place]
    now = np.empty(3, np.int64)
    count_now(hole, board[:shown], now)
    found[0] = strength_of_counts(now) ** trial.powers[seat]
    found[1] = quick_potential(hole, board[:shown]) if shown == 4 else 0.0


@njit
def _play_out(r: Any, line: Any, terms: Any, k: Any, trial: Any, state: Any) -> None:
    """Play a table to its end: calling stations check and call, the others follow triples."""
    now = np.zeros(DESCRIBED)
    while r[ACTOR] >= 0:
        seat = r[ACTOR]
        on_street(line, r[STREET])
        describe(line, seat, terms, k, now)
        found = trial.known[seat, r[STREET]]
        if found[0] < 0:
            if r[STREET] == trial.street:
                h = hand_number(r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1])
                found[0], found[1] = trial.hs[seat, h], trial.ppot[h]
            else:
                _strength(r, seat, trial, found)
        fold, call, _raise = after_flop(found[0] ** now[OPPONENTS], found[1], now, k)
        state = step(state)
        drawn = unit(state)
        kind, amount = RAISE, np.int64(0)
        if trial.stations[seat]:
            kind = CALL
        elif drawn < fold:
            kind = FOLD
        elif drawn < fold + call:
            kind = CALL
        else:
            amount, most = raise_limits(r, terms)
            if most == 0:
                kind = CALL
        act(r, terms, kind, amount)
        take(line, last_move(r))


class _Space(NamedTuple):
    """Working memory of simulations: the `reading` of the table, `weights`, their cumulative `sums`
    and strengths `hs` [10, 1326], the rest as in `_Trial` and `deal_unseen`."""

    reading: Any
    weights: Any
    sums: Any
    hs: Any
    line: Any
    powers: Any
    known: Any
    chances: Any
    stations: Any
    taken: Any
    hole: Any
    board: Any
    table: Any
    then: Any


def _blank_space() -> _Space:
    return _Space(
        blank_reading(),
        np.zeros((MOST_SEATS, _COUNT)),
        np.empty((MOST_SEATS, _COUNT)),
        np.empty((MOST_SEATS, _COUNT)),
        np.zeros(LINE, np.int64),
        np.ones(MOST_SEATS),
        np.empty((MOST_SEATS, 4, 2)),
        np.zeros(MOST_SEATS),
        np.zeros(MOST_SEATS, np.bool_),
        np.zeros(DECK + 1, np.bool_),
        np.empty(2, np.uint8),
        np.empty(5, np.uint8),
        np.empty(WIDTH, np.int64),
        np.empty(WIDTH, np.int64),
    )


@njit
def _simulate_all(
    rows: Any,
    terms: Any,
    rules: Any,
    values: Any,
    kept: Any,
    answers: Any,
    trials: Any,
    states: Any,
    space: Any,
    out: Any,
) -> None:
    for i in range(len(rows)):
        r, key = rows[i], space.reading.key
        write_keys(r, terms, key)
        mark = mixed(decision_key(r, own_hand(r), key) ^ states[i]) | np.uint64(1)
        place = find(mark, answers.places)
        if place < 0:
            place = give(mark, answers.places)
            found = answers.answer[place]
            _simulate(r, terms, rules, values, kept, trials, states[i], space, found)
        copy_to(answers.answer[place], out[i])


@njit(inline="always")
def _simulate(
    r: Any,
    terms: Any,
    rules: Any,
    values: Any,
    kept: Any,
    trials: Any,
    state: Any,
    space: Any,
    out: Any,
) -> None:
    """Write the values of fold, call and raise at one table into out [3]."""
    k, seat, street = rules.constants, r[ACTOR], r[STREET]
    reading, weights, hs, stations = space.reading, space.weights, space.hs, space.stations
    read(r, terms, rules, values, kept, reading)
    line, table, then = reading.line, space.table, space.then
    slot = slot_of(board_of(r, street), values)
    station_chances(reading.likely, line, k[STATION], space.chances)
    for other in range(MOST_SEATS):
        if line[IN_] >> other & 1:
            field = field_of(other, line[IN_], reading.rows, kept.weights, reading.space[2])
            against(field, values, slot, hs[other])
    write_weights(r, values, kept, reading, weights)
    add_up(weights, r[FOLDED], seat, space.sums)
    _fit_powers(hs, values.share[slot], weights, line, values.strength[slot], space.powers)
    trial = _Trial(
        street, hs, values.ppot[slot], space.powers, stations, space.known, space.hole, space.board
    )
    to, most = raise_limits(r, terms)
    out[FOLD] = 0.0 if to_call(r) else -np.inf
    out[CALL] = 0.0
    out[RAISE] = 0.0 if most else -np.inf
    for _ in range(trials):
        copy_to(r, table)
        state = _draw_stations(space.chances, state, stations)
        state = deal_unseen(table, space.sums, stations, state, space.taken)
        space.known[:] = -1.0
        for first in (CALL, RAISE):
            if first == RAISE and most == 0:
                continue
            copy_to(table, then)
            copy_to(line, space.line)
            act(then, terms, first, to if first == RAISE else 0)
            take(space.line, last_move(then))
            _play_out(then, space.line, terms, k, trial, state)
            out[first] += (then[PAYOFF + seat] / PARTS + r[PAID + seat]) / trials
        # A new random state for the next trial.
        state = mixed(state)
