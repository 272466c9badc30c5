"""Findler's and Waterman's players: what is published, by hand; legal play; what they win."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from cbr_arena import CALL, FOLD, RAISE, Chance, Match, Room, Sitting, play, players_of, rate_of
from cbr_bots import waterman as w
from cbr_bots.findler import CHEAP, DEAR, MARGIN, RAISES, Findler, needed, price, rh_of
from cbr_bots.simple import random
from cbr_bots.waterman import NAMES, RULES, VARIABLES, Waterman, changed, fire
from cbr_bots.waterman_memory import ACTS, FACED, FOLDS, HABITS, MEMORY, TRUST
from cbr_bots.waterman_memory import RAISES as RAISED_BY
from cbr_holdem.situation import Pending
from cbr_holdem.table import HOLE, Game, Table

NO_LIMIT = Game("nolimit", 50, 100)
ONE = np.array([0])


def a_table(
    moves: str,
    holes: str = "AhAs KdKc 7h2c",
    board: str = "2s 7d 9h Jc 3d",
    game: Game | None = None,
) -> Table:
    """A table after some moves (f, c, r)."""
    table = Table(game or Game(), [1000] * len(holes.split()), holes, board)
    for move in moves:
        table.play(move)
    return table


def now(table: Table) -> Pending:
    return Pending(table.rows, table.game, ONE)


def deciding(bot: Any, table: Table, memory: Any = None) -> int:
    return int(bot.act(now(table), memory, Chance(1, ONE, ONE, ONE)).kind[0])


def blank(count: int = 1) -> Any:
    return np.zeros(count, MEMORY)


# Findler


def test_rh_is_as_published() -> None:
    assert rh_of(60, 4, 2, 5, 1) == 1.0
    assert rh_of(48, 2, 1, 3, 4) == 1.0
    assert rh_of(10, 2, 0, 1, 2) == 2.5
    # Nobody after us, and nothing to pay, count as 1.
    assert rh_of(12, 3, 1, 0, 2) == rh_of(12, 3, 1, 1, 2) == 1.0
    assert rh_of(12, 3, 0, 2, 0) == rh_of(12, 3, 0, 2, 1) == 2.0


@pytest.mark.parametrize(
    ("moves", "rh"),
    [
        # The button first: 1.5 bets, 3 in, no raise, both blinds after him, 1 bet to pay.
        ("", 1.5 / (3 * 1 * 2 * 1)),
        # He raised: the small blind has the big one after him and 1.5 to pay.
        ("r", 3.5 / (3 * 2 * 1 * 1.5)),
        # He called, and so did the small blind: nothing to pay, nobody after us.
        ("cc", 3 / (3 * 1 * 1 * 1)),
        # On the flop there was a bet of 1: after us the button, and nobody has to act again.
        ("cccr", 4 / (3 * 2 * 1 * 1)),
        # On the turn two bets of 2 each: who bet first is asked again, and 4 are to pay.
        ("ccccccrr", 9 / (3 * 3 * 1 * 4)),
    ],
)
def test_price_on_a_table(moves: str, rh: float) -> None:
    assert price(now(a_table(moves)))[0] == pytest.approx(rh)


def test_price_depends_on_no_stakes() -> None:
    small, large = Game(small_blind=5, big_blind=10), Game(small_blind=20, big_blind=40)
    for moves in ("", "r", "ccc", "cccr", "cccccccr"):
        assert price(now(a_table(moves, game=small))) == price(now(a_table(moves, game=large)))


def test_a_better_price_needs_less() -> None:
    needs = needed(np.linspace(0, 50, 100))
    assert needs[0] == DEAR
    assert (np.diff(needs) < 0).all()
    assert CHEAP < needs[-1] < CHEAP + 0.01


def test_findler_values_a_hand_by_playing_it_out() -> None:
    bot = Findler()
    holes = "7h2c AhAs"
    assert bot.value(now(a_table("", holes)))[0] == pytest.approx(0.852, abs=0.001)
    assert bot.value(now(a_table("c", holes)))[0] == pytest.approx(0.346, abs=0.001)
    # On the river it is hand strength: aces lose to sets, two pair, and T8 here.
    table = a_table("cc" + "cc" + "cc", "AhAs KdKc")
    assert bot.value(now(table))[0] == pytest.approx(now(table).standing()[0])


@pytest.mark.parametrize(
    ("hole", "kind"), [("AhAs", RAISE), ("KhTs", CALL), ("9s8h", FOLD), ("7h2c", FOLD)]
)
def test_what_findler_does_on_the_button(hole: str, kind: int) -> None:
    # RH is 1.5 / 6 and a hand must be worth 0.523 to stay: KTo has 0.60, 98o 0.48.
    assert deciding(Findler(), a_table("", f"QdQc 5h5d {hole}")) == kind


def test_findler_raises_by_value_and_margin() -> None:
    bot = Findler()
    for moves in ("", "r", "cc", "ccc", "cccr", "cccccc"):
        for hole in ("AhAs", "KhTs", "9s8s", "6h6s", "Th2h"):
            table = a_table(moves, f"{hole} QdQc 5c4c")
            table.rows[:, HOLE : HOLE + 6] = np.tile(table.rows[:, HOLE : HOLE + 2], 3)
            value, needs = bot.value(now(table))[0], needed(price(now(table)))[0]
            wanted = RAISE if value >= max(RAISES, needs + MARGIN) else CALL
            assert deciding(bot, table) == (wanted if value >= needs else FOLD)


# Waterman


def vector(**values: float) -> np.ndarray:
    return np.array([[values.get(name, 0.0) for name in VARIABLES]])


def test_the_published_rule() -> None:
    state = vector(VDHAND=0.99, POT=30, LASTBET=2, BLUFF=0.1, RAISED=1, STYLE=0.5)
    [rule] = fire(state)
    assert set(RULES[rule].when.split()) == {"SUREWIN", "BIGPOT", "POSITIVEBET"}
    assert RULES[rule].action == CALL
    [after] = changed(state, np.array([CALL]), 2.0)
    assert after.tolist() == [0.99, 30 + 2 * 2, 0, 0.1, 1, 0.5]
    # Without one of the three it is another rule.
    for other in ({"VDHAND": 0.2}, {"POT": 1.0}, {"LASTBET": 0.0}):
        changed_state = dict(zip(VARIABLES, state[0].tolist(), strict=True)) | other
        assert fire(vector(**changed_state))[0] != rule


def test_a_raise_and_a_fold_change_the_vector() -> None:
    state = np.repeat(vector(VDHAND=0.9, POT=3, LASTBET=1), 2, axis=0)
    after = changed(state, np.array([RAISE, FOLD]), 2.0)
    assert after[0, [w.POT, w.LASTBET]].tolist() == [5, 2]
    assert after[1].tolist() == state[1].tolist()


def test_names_are_ranges() -> None:
    assert all(low < high for _, low, high in NAMES.values())
    assert {name for rule in RULES for name in rule.when.split()} == set(NAMES)


def test_every_rule_can_fire_and_the_first_match_wins() -> None:
    values = []
    for variable in range(len(VARIABLES)):
        bounds = sorted({b for v, *both in NAMES.values() if v == variable for b in both})
        finite = [bound for bound in bounds if np.isfinite(bound)]
        values.append([*finite, *(bound + 0.01 for bound in finite)])
    states = np.array(list(product(*values)))

    def holds(state: Any, name: str) -> bool:
        variable, above, up_to = NAMES[name]
        return bool(above < state[variable] <= up_to)

    fired = fire(states)
    assert set(fired.tolist()) == set(range(len(RULES)))
    for state, rule in zip(states[::37], fired[::37].tolist(), strict=True):
        matches = [all(holds(state, name) for name in one.when.split()) for one in RULES]
        assert rule == matches.index(True)


def test_the_vector_of_a_table() -> None:
    bot = Waterman()
    # On the flop the first bets, and the second has one bet to pay into 3 that were there; of the
    # two opponents nothing is known but that one bet.
    [state] = bot.vector(now(a_table("cccr")), blank())
    raises, folds = HABITS
    assert state[w.POT] == pytest.approx(3.0)
    assert state[w.LASTBET] == pytest.approx(1.0)
    assert state[w.BLUFF] == pytest.approx(folds**2)
    assert state[w.RAISED] == 1
    assert state[w.STYLE] == pytest.approx(1 - raises)
    assert state[w.VDHAND] == pytest.approx(now(a_table("cccr")).standing()[0] ** 2)
    # The big blind has one opponent when the small blind folds, and has paid for all there is.
    [state] = bot.vector(now(a_table("cf")), blank())
    assert (state[w.LASTBET], state[w.RAISED]) == (0, 0)
    assert state[w.VDHAND] == pytest.approx(1317 / 1326)  # kings, and half of all kings


def test_opponents_are_remembered_by_their_place() -> None:
    # Seat 2, the button, raises; seat 0 folds; seat 1 calls; on the flop 1 bets and 2 folds.
    table = a_table("rfcrf")
    memory = blank(2)
    seats = np.array([0, 1])
    Waterman().remember(np.repeat(table.rows, 2, axis=0), seats, memory)
    of_first, of_second = memory["seen"]
    count = {ACTS: 2, RAISED_BY: 1, FACED: 1, FOLDS: 1}
    for known, place in ((of_first, 2), (of_second, 1)):  # seat 2 from seat 0, and from seat 1
        assert known[place].tolist() == [count[i] for i in range(4)]
    assert of_first[1].tolist() == [2, 1, 0, 0]
    assert of_second[2].tolist() == [1, 0, 0, 0]  # a fold before the flop is no bluff's work
    assert not of_first[0].any()
    assert not of_second[0].any()
    # A hand later everybody has moved on by a seat: who was in seat 2 is in seat 1.
    later = a_table("cc")  # the button is seat 2; seat 1 must act: we, who were in seat 2
    [state] = Waterman().vector(now(later), memory[:1])
    raise_of = [(1 + TRUST * HABITS[0]) / (2 + TRUST)] * 2
    assert state[w.STYLE] == pytest.approx(1 - np.mean(raise_of))


def test_it_bluffs_who_was_seen_to_fold() -> None:
    table = a_table("cc", "7h2c AhAs", "QsTd9h Jc 3d")  # the first on the flop, with nothing
    memory = blank()
    memory["seen"][0, 1] = [40, 0, 20, 0]
    assert deciding(Waterman(), table, memory) != RAISE
    memory["seen"][0, 1] = [40, 0, 20, 20]
    assert deciding(Waterman(), table, memory) == RAISE


def test_a_fair_hand_respects_who_seldom_bets() -> None:
    table = a_table("ccr", "AhAs 5d2s", "9c Td 2h Jc 3d")  # the lowest pair, and the other bets
    _, above, up_to = NAMES["FAIRHAND"]
    memory = blank()
    assert above < Waterman().vector(now(table), memory)[0, w.VDHAND] <= up_to
    memory["seen"][0, 1] = [200, 100, 0, 0]
    assert deciding(Waterman(), table, memory) == CALL
    memory["seen"][0, 1] = [200, 2, 0, 0]
    assert deciding(Waterman(), table, memory) == FOLD


# Both


@pytest.mark.parametrize("bot", [Findler(), Waterman()])
def test_alone_it_decides_as_among_many(bot: Any) -> None:
    """Both doors: many tables at once, and one table of which only what the seat sees is there."""
    asked = []

    class Spy:
        memory = bot.memory

        def act(self, situations: Pending, memory: Any, chance: Chance) -> Any:
            known = None if memory is None else memory.copy()
            actions = bot.act(situations, memory, chance)
            asked.append((situations.seen(), known, actions))
            return actions

        def remember(self, tables: Any, seats: Any, memory: Any) -> None:
            bot.remember(tables, seats, memory)

    room = Room(Game(), 1_000, 1, [Spy(), random()], np.array([0, 0, 1]))
    room.begin(20)
    for first in range(0, 60, 20):
        deals = np.arange(first, first + 20)
        room.play(Sitting(deals, (np.arange(3) + deals[:, None]) % 3, np.arange(20)))
    assert not room.faults
    decided = []
    for seen, known, actions in asked:
        for at in range(len(seen)):
            alone = bot.act(
                Pending(seen[at : at + 1], room.game, ONE),
                None if known is None else known[at : at + 1],
                Chance(1, ONE, ONE, ONE),
            )
            assert alone.kind[0] == actions.kind[at]
            decided.append(int(alone.kind[0]))
    assert len(decided) > 200
    assert set(decided) == {FOLD, CALL, RAISE}


@pytest.mark.long
@pytest.mark.parametrize("spec", ["findler", "waterman"])
@pytest.mark.parametrize("others", ["random", "lag random", "lag*4 random*4"])
def test_no_faults(spec: str, others: str) -> None:
    for game, size in ((Game(), ""), (NO_LIMIT, ""), (NO_LIMIT, "?size=1/2")):
        match = Match(
            players_of([spec + size, *others.split()]), hands=180, game=game, seed=5, session=5
        )
        assert not play(match).faults


@pytest.mark.long
@pytest.mark.parametrize("spec", ["findler", "waterman"])
@pytest.mark.parametrize(("other", "least"), [("random", 0.3), ("call", 0.6)])
def test_they_beat_who_does_not_think(spec: str, other: str, least: float) -> None:
    match = Match(players_of([spec, other]), hands=3_000, seed=17, session=60)
    found = rate_of(play(match).won[:, 0])
    assert found.ci95 is not None
    assert found.rate - found.ci95 > least


@pytest.mark.long
def test_memory_is_worth_something() -> None:
    """Against one who folds to any bet, knowing it pays."""
    long, short = (
        rate_of(
            play(Match(players_of(["waterman", "fold"]), hands=2_000, seed=4, session=session)).won[
                :, 0
            ]
        ).rate
        for session in (200, 1)
    )
    assert long > short + 0.05
