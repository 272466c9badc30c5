"""What loki keeps between decisions: weight tables by public history, values of boards, answers.

Whatever is kept or was dropped, in any order and company, the result is that of a fresh player, bit
for bit; and that of the definitions, computed slowly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from cbr_arena import Match, play, players_of, sittings
from cbr_bots import Formula
from cbr_bots.betting_line import DESCRIBED, IN_, LINE, OPPONENTS, begin, describe, on_street, take
from cbr_bots.board_values import Values, blank_values, shared_values, slot_of
from cbr_bots.loki import Loki, own_hand
from cbr_bots.loki_constants import DOUBT, DOUBT_CALL, DOUBT_CHECK, FLOOR
from cbr_bots.loki_preflop import class_of_hand, income_rates
from cbr_bots.lookup import blank_places, find, give
from cbr_bots.readings import blank_answers, blank_kept, board_of, write_keys
from cbr_bots.sim import Sim
from cbr_bots.triples import after_flop, before_flop
from cbr_holdem.cards import HANDS, cards, evaluate
from cbr_holdem.situation import Pending
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    FOLD,
    HISTORY,
    MOVES,
    POST,
    RAISE,
    SEATS,
    STREET,
    Game,
    unpacked,
)

GAME = Game()


class Watched(Loki):
    """Loki that notes the tables at which it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[np.ndarray] = []

    def act(self, situations: Pending, memory: object, chance: object) -> object:
        self.asked.append(situations.seen())
        return super().act(situations, memory, chance)


@cache
def decisions() -> np.ndarray:
    """Tables of a match, as loki saw them when it was asked, in that order."""
    match = Match(players_of(["loki*3", "lag*2", "call", "random"]), hands=140, seed=11)
    room, bot = match.room(), Watched()
    room.bots = [bot, *room.bots[1:]]
    for sitting in sittings(match, range(match.deals), room):
        room.play(sitting)
    rows = np.concatenate(bot.asked)
    assert set(rows[:, STREET]) == {0, 1, 2, 3}
    return rows


def tiny(formula: Formula) -> Formula:
    """The same player with hardly any room to keep things."""
    formula.values = blank_values(32)
    formula.kept, formula.answers = blank_kept(32, 600), blank_answers(32)
    return formula


# The definitions


def strengths(board: np.ndarray) -> np.ndarray:
    """The strength of every hand on a board, 0 for hands that share a card with it."""
    there = ~np.isin(HANDS, board).any(axis=1)
    out = np.zeros(len(HANDS), np.int64)
    full = np.concatenate([HANDS[there], np.tile(board, (there.sum(), 1))], axis=1)
    out[there] = evaluate(full.astype(np.uint8))
    return out


@cache
def apart() -> np.ndarray:
    """Whether two hands share no card, [1326, 1326]."""
    holds = np.zeros((len(HANDS), 52), np.int64)
    holds[np.arange(len(HANDS))[:, None], HANDS] = 1
    return holds @ holds.T == 0


def hand_strength(strength: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The share of weighted hands that each hand beats, ties counting half."""
    beats = (strength[:, None] > strength) + 0.5 * (strength[:, None] == strength)
    possible = apart() * np.where(strength > 0, weights, 0.0)
    return (possible * beats).sum(axis=1) / possible.sum(axis=1)


def slow(r: np.ndarray, formula: Formula) -> tuple[np.ndarray, np.ndarray]:
    """Weights [10, 1326] and the triples [1326, 3] of the player to act, by replaying the hand."""
    k, style = formula.rules.constants, formula.rules.style
    line, now = np.zeros(LINE, np.int64), np.zeros(DESCRIBED)
    weights = np.ones((10, len(HANDS)))
    begin(line, r)

    def triples(seat: int) -> np.ndarray:
        if now[0] == 0:
            income = income_rates()[int(now[10])][class_of_hand()]
            return np.array([before_flop(x, now, style, k) for x in income])
        board = r[BOARD : BOARD + 2 + int(now[0])]
        others = [s for s in range(r[SEATS]) if s != seat and line[IN_] >> s & 1]
        strength = strengths(board)
        hs = hand_strength(strength, weights[others].sum(axis=0)) ** now[OPPONENTS]
        slot = slot_of(int(board_of(r, int(now[0]))), formula.values)
        ppot = formula.values.ppot[slot]
        zipped = zip(hs, ppot, strength, strict=True)
        found = [after_flop(a, b, now, k) if s else (0, 1, 0) for a, b, s in zipped]
        return np.array(found)

    for move in r[HISTORY : HISTORY + r[MOVES]]:
        street, seat, kind, _amount = unpacked(int(move))
        on_street(line, street)
        describe(line, seat, GAME.terms, k, now)
        if kind != FOLD:
            there = np.ones(len(HANDS), bool)
            if street:
                there = ~np.isin(HANDS, r[BOARD : BOARD + 2 + street]).any(axis=1)
            free = now[2] <= 0
            doubt = k[DOUBT] if kind == RAISE else k[DOUBT_CHECK if free else DOUBT_CALL]
            mine = weights[seat] * (doubt + (1 - doubt) * triples(seat)[:, kind]) * there
            weights[seat] = np.maximum(k[FLOOR], mine / mine.max()) * there
        take(line, int(move))
    on_street(line, r[STREET])
    describe(line, r[ACTOR], GAME.terms, k, now)
    if r[STREET]:
        weights[:, strengths(r[BOARD : BOARD + 2 + r[STREET]]) == 0] = 0.0
    for seat in range(10):
        if not line[IN_] >> seat & 1:
            weights[seat] = 0.0
    return weights, triples(r[ACTOR])


@pytest.mark.parametrize("street", [0, 1, 2, 3])
def test_weights_and_triples_are_those_of_the_definitions(street: int) -> None:
    rows = decisions()
    rows = rows[rows[:, STREET] == street][3::40][:3]
    formula = Formula()
    weights, every = formula.weights(rows, GAME), formula.all_triples(rows, GAME)
    own = formula.own_triples(rows, GAME)
    for at, r in enumerate(rows):
        expected, triples = slow(r, formula)
        np.testing.assert_allclose(weights[at], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(every[at], triples, rtol=0, atol=1e-9)
        np.testing.assert_allclose(own[at], triples[own_hand(r)], rtol=0, atol=1e-9)


# What is kept changes nothing


@pytest.mark.parametrize("options", [{}, {"model": "frequencies"}, {"style": "loose"}])
def test_a_reading_that_is_kept_is_that_of_a_fresh_replay(options: dict[str, str]) -> None:
    rows = decisions()
    known = Formula(**options)
    in_order = known.own_triples(rows, GAME)
    some = np.flatnonzero(rows[:, STREET] > 0)[::25]
    weights = known.weights(rows[some], GAME)
    for place, expected in zip(some, weights, strict=True):
        fresh = Formula(**options)
        assert fresh.weights(rows[place : place + 1], GAME)[0].tobytes() == expected.tobytes()
        alone = Formula(**options).own_triples(rows[place : place + 1], GAME)
        assert alone.tobytes() == in_order[place : place + 1].tobytes()


def test_triples_do_not_depend_on_order_company_or_room() -> None:
    rows = decisions()
    expected = Formula().own_triples(rows, GAME)
    mixed_up = np.random.default_rng(1).permutation(len(rows))
    for formula in (Formula(), tiny(Formula())):
        found = np.empty_like(expected)
        for part in np.array_split(mixed_up, 7):
            found[part] = formula.own_triples(rows[part], GAME)
        assert found.tobytes() == expected.tobytes()
        assert formula.own_triples(rows, GAME).tobytes() == expected.tobytes()


def test_all_triples_and_weights_do_not_depend_on_what_was_asked_before() -> None:
    rows = decisions()[5::60]
    known, small = Formula(), tiny(Formula())
    known.own_triples(decisions(), GAME)
    for formula in (known, small):
        for method in ("all_triples", "weights"):
            together = getattr(formula, method)(rows, GAME)
            alone = [getattr(Formula(), method)(rows[i : i + 1], GAME) for i in range(len(rows))]
            assert together.tobytes() == np.concatenate(alone).tobytes()


def test_a_reading_is_computed_once_and_continued() -> None:
    rows = decisions()
    formula = Formula()
    formula.own_triples(rows, GAME)
    made = int(formula.kept.made[0])
    # Each move that is not a fold adds one row of weights, however many decisions come after it;
    # and each beginning of a hand one for every player.
    histories = {
        (r[BOARD : BOARD + 2 + s].tobytes(), r[HISTORY : HISTORY + m + 1].tobytes())
        for r in rows
        for m in range(r[MOVES])
        for s, _seat, kind, _amount in [unpacked(int(r[HISTORY + m]))]
        if s and kind != FOLD
    }
    before = {
        r[HISTORY : HISTORY + m].tobytes(): int(r[SEATS])
        for r in rows[rows[:, STREET] > 0]
        for m in [sum(unpacked(int(x))[0] == 0 for x in r[HISTORY : HISTORY + r[MOVES]])]
    }
    assert made <= len(histories) + sum(before.values())
    formula.own_triples(rows, GAME)
    formula.weights(rows[rows[:, STREET] > 0], GAME)
    assert formula.kept.made[0] == made


def test_simulations_do_not_depend_on_what_is_kept() -> None:
    rows = decisions()
    rows = rows[rows[:, STREET] > 0][::50]
    state = np.arange(len(rows), dtype=np.uint64)
    known, small = Sim(trials=5), Sim(trials=5)
    tiny(small.formula)
    expected = known.values(rows, GAME, state)
    assert known.values(rows, GAME, state).tobytes() == expected.tobytes()
    assert small.values(rows[::-1], GAME, state[::-1])[::-1].tobytes() == expected.tobytes()
    # With other random numbers it is another simulation.
    assert known.values(rows, GAME, state + np.uint64(1)).tobytes() != expected.tobytes()


def test_the_key_of_a_history_is_of_all_that_is_public() -> None:
    rows = decisions()
    r = rows[(rows[:, STREET] == 2) & (rows[:, MOVES] > 8)][0]

    def key(row: np.ndarray, game: Game = GAME) -> list[int]:
        out = np.zeros(300, np.uint64)
        write_keys(row, game.terms, out)
        return out[: row[MOVES] + 1].tolist()

    whole = key(r)
    assert len(set(whole)) == len(whole)
    shorter = r.copy()
    shorter[MOVES] -= 2
    assert key(shorter) == whole[:-2]
    flop = next(m for m in range(r[MOVES]) if unpacked(int(r[HISTORY + m]))[0] == 1)
    for column in (BOARD, HISTORY + flop, POST + 2, SEATS):
        other = r.copy()
        other[column] += 1
        same = [a == b for a, b in zip(key(other), whole, strict=True)]
        assert same[: flop + 1] == [column in {BOARD, HISTORY + flop}] * (flop + 1)
        assert not any(same[flop + 1 :])
    assert not set(key(r, Game(cap=3))) & set(whole)


def test_a_match_is_the_same_with_hardly_any_room(monkeypatch: pytest.MonkeyPatch) -> None:
    match = Match(players_of(["loki*2", "lag"]), hands=90, seed=3, keep_hands=True)
    expected = play(match)
    monkeypatch.setattr("cbr_bots.loki.shared_values", lambda: blank_values(32))
    monkeypatch.setattr("cbr_bots.loki.blank_kept", lambda: blank_kept(32, 600))
    monkeypatch.setattr("cbr_bots.loki.blank_answers", lambda: blank_answers(32))
    # Another length of sessions, which no bot here has, so that the players are built again.
    assert play(replace(match, session=7)).hands == expected.hands


# Boards


def potential(board: list[int]) -> np.ndarray:
    """The approximate potential by its definition, from all hands and all cards."""

    def shares(shown: list[int], there: np.ndarray) -> np.ndarray:
        strength = strengths(np.array(shown)) * there
        _kinds, again, count = np.unique(strength[there], return_inverse=True, return_counts=True)
        out = np.zeros(len(HANDS))
        out[there] = ((np.cumsum(count) - count / 2) / count.sum())[again]
        return out

    there = ~np.isin(HANDS, board).any(axis=1)
    now, gain, seen = shares(board, there), np.zeros(len(HANDS)), np.zeros(len(HANDS))
    for card in set(range(52)) - set(board):
        free = there & ~(card == HANDS).any(axis=1)
        gain[free] += np.maximum(0.0, shares([*board, card], free) - now)[free]
        seen[free] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(there, np.minimum(1.0, 1.1 * gain / seen / (1.0 - now)), 0.0)


@pytest.mark.parametrize(
    "board", ["3h 4c Jh", "2d Ks 3h", "7h 7c 2d", "8h 8c 2c 3d", "7h 8h 2c 3c", "Ah Kd 5s 6c"]
)
def test_potential_is_near_its_definition(board: str) -> None:
    # In the computation the hands that hold the card to come still count among the others.
    values = shared_values()
    found = values.ppot[slot_of(sum(1 << card for card in cards(board)), values)]
    np.testing.assert_allclose(found, potential(cards(board)), atol=0.03)


def same_values(one: Values, at: int, two: Values, other: int) -> bool:
    hands = one.hands[at]
    return hands == two.hands[other] and all(
        getattr(one, name)[at][: hands if name == "order" else None].tobytes()
        == getattr(two, name)[other][: hands if name == "order" else None].tobytes()
        for name in ("strength", "order", "share", "ppot")
    )


def test_values_of_a_board_do_not_depend_on_boards_before() -> None:
    rng = np.random.default_rng(0)
    known = blank_values(32)
    boards = [
        sum(1 << int(card) for card in rng.choice(52, size, replace=False))
        for size in (3, 4, 5)
        for _ in range(60)
    ]
    for board in [*boards, *boards]:
        fresh = blank_values(32)
        assert same_values(known, slot_of(board, known), fresh, slot_of(board, fresh))


def test_flops_that_differ_in_the_names_of_suits_share_their_potential() -> None:
    for one, two in (("3h 4c Jh", "3s 4d Js"), ("2d Ks 3h", "2c Kh 3s"), ("2d Ks 3h", "2s Kh 3d")):
        alone, values = blank_values(32), blank_values(32)
        slot_of(sum(1 << card for card in cards(one)), values)
        board = sum(1 << card for card in cards(two))
        slot = slot_of(board, values)
        assert (values.flops.key != 0).sum() == 1
        assert same_values(values, slot, alone, slot_of(board, alone))


def test_players_share_the_values_of_boards() -> None:
    assert Formula().values is Formula("tight").values is Sim().formula.values


# The cache


def test_the_key_that_was_used_longest_ago_makes_room() -> None:
    places = blank_places(32)  # one set
    given = [give(np.uint64(key), places) for key in range(1, 33)]
    assert sorted(given) == list(range(32))
    assert find(np.uint64(1), places) == given[0]
    assert give(np.uint64(99), places) == given[1]
    assert find(np.uint64(2), places) == -1
    assert find(np.uint64(1), places) == given[0]
    assert give(np.uint64(99), places) == given[1]
