"""Loki and Sim: the published check values, legal play, and what they win."""

from __future__ import annotations

from dataclasses import astuple, fields, replace

import numpy as np
import pytest

from cbr.errors import BadValue, NoSuchName
from cbr_arena import CALL, RAISE, Chance, Match, lines_of, play, players_of
from cbr_bots import STYLES, Constants, Formula, loki_constants
from cbr_bots.betting_line import IN_, LINE
from cbr_bots.board_values import against, shared_values, slot_of
from cbr_bots.kinds import KINDS
from cbr_bots.loki import Loki
from cbr_bots.loki_preflop import income_at, income_rates, thresholds
from cbr_bots.readings import blank_reading, board_of, read
from cbr_bots.sim import Sim, station_chances
from cbr_bots.triples import after_flop, before_flop
from cbr_bots.weight_tables import factor, threshold, weighed
from cbr_holdem.cards import CLASSES, HANDS, cards
from cbr_holdem.situation import Pending
from cbr_holdem.strength import board_strengths, quick_potential
from cbr_holdem.table import ACTOR, STREET, Game, Table

K = Constants().numbers()


def bits(text: str) -> int:
    return sum(1 << card for card in cards(text))


def lines(specs: list[str], hands: int, seed: int = 1) -> list:
    match = Match(players_of(specs), hands=hands, seed=seed)
    return lines_of(match, play(match))


def a_table(moves: str, holes: str = "AhAs KdKc 7h2c", board: str = "2s 7d 9h Jc 3d") -> Table:
    """A limit table after some moves (f, c, r)."""
    table = Table(Game(), [1000] * len(holes.split()), holes, board)
    for move in moves:
        table.play(move)
    return table


# Weight tables


@pytest.mark.parametrize(("value", "expected"), [(0.3, 0.01), (0.4, 0.01), (0.6, 0.5), (0.8, 1.0)])
def test_factor_by_frequencies_is_as_published(value: float, expected: float) -> None:
    assert factor(value, 0.6, 0.2, 0.01) == pytest.approx(expected)
    assert factor(0.7, 0.6, 0.2, 0.01) == pytest.approx(0.75)


def test_aces_that_only_call_are_as_published() -> None:
    assert weighed(0.90, 0.2, 0.0, 0.01) == pytest.approx(0.18)
    assert weighed(0.90, 0.0, 0.0, 0.01) == pytest.approx(0.01)


def test_threshold_of_a_raiser_is_as_published() -> None:
    # Papp: who raises 30 % of his hands has mu = +118, and the fifth percentile is -433.
    assert income_at(0.70) == pytest.approx(118, abs=3)
    assert income_at(0.05) == pytest.approx(-433, abs=10)


def test_income_rates_are_as_published() -> None:
    def rate(name: str, group: int) -> float:
        return float(income_rates()[group, CLASSES.index(name)])

    assert rate("AA", 2) == pytest.approx(2045, abs=5)
    assert rate("72o", 2) == pytest.approx(-497, abs=5)
    assert rate("32s", 0) == pytest.approx(-280, abs=5)
    assert rate("A8s", 1) == pytest.approx(340, abs=5)


def test_default_frequencies_are_as_published() -> None:
    now = np.zeros(20)
    now[4] = 10
    for to_call, raising, calling in [(0, 0.5, -1), (10, 0.8, 0.5), (20, 0.9, 0.7)]:
        now[2] = to_call
        assert threshold(RAISE, now) == pytest.approx(raising)
        assert threshold(CALL, now) == pytest.approx(calling)


def test_published_thresholds_are_in_the_styles() -> None:
    assert thresholds("tight")[1, 1].tolist() == [200, 50]
    moderate = thresholds("moderate")[1]
    assert (moderate[2, 0], moderate[1, 0], moderate[0, 0]) == (580, 200, 50)


def test_a_raise_makes_good_hands_likelier() -> None:
    table = a_table("rcc")  # the button raises, both blinds call; then the flop
    formula = Formula()
    seen = Pending(table.rows, table.game, np.array([0])).seen()
    before = formula.weights(seen, table.game)
    aces, trash = (
        int(np.flatnonzero((cards(h) == HANDS).all(axis=1))[0]) for h in ("AcAd", "2d7c")
    )
    assert before[0, 2, aces] > 5 * before[0, 2, trash]
    shown = np.isin(HANDS, cards("2s 7d 9h")).any(axis=1)
    assert (before[0, :3, shown] == 0).all()
    assert before[0, :3, ~shown].min() >= 0.01
    assert before.max() <= 1.0


# Boards


@pytest.mark.long
@pytest.mark.parametrize(
    "board", ["3h 4c Jh", "2d Ks 3s", "2d Ks 3s Ac", "9c 9d 9h 9s", "As Ks Qs Js Ts"]
)
def test_hand_strength_of_all_hands_is_exact(board: str) -> None:
    values, out = shared_values(), np.empty(len(HANDS))
    against(np.ones(len(HANDS)), values, slot_of(bits(board), values), out)
    exact = board_strengths(board)[:, 0]
    there = ~np.isnan(exact)
    np.testing.assert_allclose(out[there], exact[there], atol=1e-12)


def test_weights_count_in_hand_strength() -> None:
    values = shared_values()
    weights, out = np.zeros(len(HANDS)), np.empty(len(HANDS))
    ours, better, worse = (
        int(np.flatnonzero((np.sort(cards(h)) == HANDS).all(axis=1))[0])
        for h in ("KdKs", "AdAs", "QdQs")
    )
    weights[better], weights[worse] = 1.0, 3.0
    against(weights, values, slot_of(bits("2c 7d 9h Jc 3d"), values), out)
    assert out[ours] == pytest.approx(0.75)


@pytest.mark.long
@pytest.mark.parametrize(
    ("board", "least", "off"),
    [
        ("3h 4c Jh", 0.98, 0.05),
        ("2d Ks 3s", 0.98, 0.05),
        ("3s 6d Kd", 0.98, 0.05),
        ("7h 8c 2c 2d", 0.98, 0.08),
        ("7h 8h 2c 2d", 0.95, 0.08),
        ("7h 8h 9h", 0.9, 0.2),
        ("Ah Kh 5h 6c", 0.9, 0.2),
    ],
)
def test_quick_potential_goes_with_the_exact_one(board: str, least: float, off: float) -> None:
    values = shared_values()
    exact = board_strengths(board)[:, 3]
    there = ~np.isnan(exact)
    quick = values.ppot[slot_of(bits(board), values)][there]
    assert np.corrcoef(exact[there], quick)[0, 1] > least
    assert quick.mean() == pytest.approx(exact[there].mean(), rel=off)


@pytest.mark.parametrize(
    ("hole", "board", "outs"),
    [
        ("8s 9s", "2d Ks 3s 4c", 9),
        ("8s 9d", "6c 7h Kd 2s", 8),
        ("5c 6c", "7d 9h Ks Kd", 4),
        ("Ah Kd", "2c 7d 9h Jc", 3),
        ("2c 7h", "Ks Qd 9h 4d", 0),
    ],
)
def test_outs(hole: str, board: str, outs: float) -> None:
    found = quick_potential(np.array(cards(hole), np.uint8), np.array(cards(board), np.uint8))
    assert found == pytest.approx(outs / 46)


# Triples


def test_names_of_constants_are_in_order() -> None:
    for place, field in enumerate(fields(Constants)):
        assert getattr(loki_constants, field.name.upper()) == place
    assert Constants().numbers().tolist() == list(astuple(Constants()))


def described(**given: float) -> np.ndarray:
    """A decision on the flop: 1 bet of 10 to call in a pot of 50, one opponent."""
    names = "street bets to_call pot size committed opponents may_raise led later group position"
    values = dict(street=1, bets=1, to_call=10, pot=50, size=10, opponents=1, may_raise=1, later=40)
    return np.array(
        [{**values, **given}.get(name, 0.0) for name in [*names.split(), "small"]], float
    )


def test_triples_follow_the_rules_away_from_thresholds() -> None:
    pure = replace(Constants(), slip=0.0, bluff=0.0, barrel=0.0, semi_bluff=1.0).numbers()

    def triple(hs: float, ppot: float, **given: float) -> list[float]:
        return [round(part, 9) for part in after_flop(hs, ppot, described(**given), pure)]

    fold, call, bet = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    assert triple(0.92, 0.0) == bet  # rule 1
    assert triple(0.87, 0.0, bets=2) == call
    assert triple(0.95, 0.0, bets=2) == bet  # ours: make4
    assert triple(0.7, 0.0) == call  # rule 2
    assert triple(0.7, 0.0, bets=0, to_call=0) == bet
    assert triple(0.2, 0.0, bets=0, to_call=0) == call  # a check
    assert triple(0.05, 0.4, bets=0, to_call=0) == bet  # rule 3
    assert triple(0.05, 0.3) == call  # rule 4
    assert triple(0.05, 0.02) == fold  # rule 6
    assert triple(0.05, 0.9, street=3, later=0) == fold  # nothing comes on the river
    assert triple(0.3, 0.0, street=3, later=0) == call
    # Two bets at once are too much for a middling hand.
    assert triple(0.6, 0.0, bets=2, to_call=20, pot=20, later=0, street=3)[2] == 0
    assert triple(0.55, 0.0, bets=2, to_call=20, pot=4, later=0, street=3) == fold
    assert triple(0.6, 0.0, bets=2, to_call=20, pot=4, later=0, street=3, committed=1) == call


def test_triples_are_chances_and_legal() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        free, capped = rng.random() < 0.3, rng.random() < 0.3
        now = described(
            street=int(rng.integers(1, 4)),
            bets=0 if free else int(rng.integers(1, 5)),
            to_call=0 if free else 10 * int(rng.integers(1, 5)),
            may_raise=not capped,
            group=int(rng.integers(4)),
            position=int(rng.integers(8)),
            led=int(rng.integers(2)),
            committed=int(rng.integers(2)),
            small=int(rng.integers(2)),
        )
        style = thresholds(STYLES[int(rng.integers(3))])
        for triple in (
            after_flop(rng.random(), rng.random(), now, K),
            before_flop(rng.uniform(-500, 2000), now, style, K),
        ):
            assert sum(triple) == pytest.approx(1.0)
            assert min(triple) >= -1e-12
            assert not free or triple[0] == 0
            assert not capped or triple[2] == 0


@pytest.mark.long
def test_all_hands_have_the_triple_that_is_played() -> None:
    formula = Formula()
    for moves in ("", "r", "rcc", "rccrc", "ccc", "ccccccrc", "cccccccccr"):
        table = a_table(moves)
        if table.rows[0, ACTOR] < 0:
            continue
        seen = Pending(table.rows, table.game, np.array([0])).seen()
        every = formula.all_triples(seen, table.game)[0]
        np.testing.assert_allclose(every.sum(axis=1), 1.0)
        seat = int(seen[0, ACTOR])
        own = np.sort(seen[0, 85 + 2 * seat : 87 + 2 * seat])
        place = int(np.flatnonzero((own == HANDS).all(axis=1))[0])
        np.testing.assert_allclose(formula.own_triples(seen, table.game)[0], every[place])


def test_better_hands_play_more() -> None:
    table = a_table("r")
    seen = Pending(table.rows, table.game, np.array([0])).seen()
    every = Formula("tight").all_triples(seen, table.game)[0]
    aces, trash = (
        int(np.flatnonzero((cards(h) == HANDS).all(axis=1))[0]) for h in ("AcAd", "2d7c")
    )
    assert every[aces, 2] > 0.95
    assert every[trash, 0] > 0.95


# Players


@pytest.mark.long
@pytest.mark.parametrize(
    "spec",
    [
        "loki",
        "loki?style=tight",
        "loki?model=frequencies",
        "loki?constants=poki",
        "sim?trials=5",
        "sim?trials=5&model=frequencies",
    ],
)
@pytest.mark.parametrize("others", [["call"], ["raise"] * 2, ["random"] * 8, ["lag"] * 9])
def test_no_faults(spec: str, others: list[str]) -> None:
    assert not any(line.faults for line in lines([spec, *others], 120))


def test_only_limit() -> None:
    for kind in KINDS:
        if kind.name in {"loki", "sim"}:
            assert tuple(kind.games) == ("limit",)
    with pytest.raises(NoSuchName):
        Loki(style="wild")
    with pytest.raises(NoSuchName):
        Loki(model="none")
    with pytest.raises(NoSuchName):
        Loki(constants="none")
    with pytest.raises(BadValue):
        Sim(trials=0)


@pytest.mark.long
def test_same_seed_same_play() -> None:
    for specs in (["loki", "lag", "call"], ["sim?trials=10", "loki", "lag"]):
        match = Match(players_of(specs), hands=300, seed=4)
        one, two = play(match), play(match)
        np.testing.assert_array_equal(one.won, two.won)
        other = play(Match(players_of(specs), hands=300, seed=5))
        assert not np.array_equal(one.won, other.won)


def test_simulation_does_not_depend_on_its_company() -> None:
    tables = [a_table("rcc"), a_table("ccc"), a_table("rccc", "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")]
    rows = np.concatenate([table.rows for table in tables])
    assert (rows[:, STREET] > 0).all()
    game = tables[0].game
    seen = Pending(rows, game, np.arange(len(rows))).seen()
    chance = Chance(1, np.arange(len(rows)), seen[:, ACTOR], np.zeros(len(rows), np.int64))
    together = Sim(trials=20).values(seen, game, chance.state)
    alone = [
        Sim(trials=20).values(seen[i : i + 1], game, chance.state[i : i + 1]) for i in range(3)
    ]
    np.testing.assert_array_equal(together, np.concatenate(alone))


def test_simulation_knows_the_nuts_and_nothing() -> None:
    # Quads on the river, an opponent has bet: a raise is best; and seven high is folded.
    rows = []
    for hand in ("9c9d", "2c4d"):
        table = a_table("cc", f"KdKc {hand}", "9h 9s Ah Kh 3d")
        while table.rows[0, STREET] < 3:
            table.play("c")
        table.play("r")
        rows.append(table.rows.copy())
    both = np.concatenate(rows)
    seen = Pending(both, Game(), np.arange(2)).seen()
    values = Sim(trials=200).values(seen, Game(), np.array([1, 2], np.uint64))
    assert values[0].argmax() == RAISE
    assert values[1].argmax() == 0
    # Nothing beats quads here: a call wins the blinds and the bet, in every trial.
    assert values[0, CALL] == pytest.approx(40)
    assert values[1, CALL] < 0


def test_who_only_checks_and_calls_is_found_out() -> None:
    line, found = np.zeros(LINE, np.int64), np.empty(10)
    line[IN_] = 0b1011
    likely = np.array([1.0, 0.5, 0.5, -1.0, *[1.0] * 6])
    station_chances(likely, line, 0.1, found)
    # Bayes: 0.1 / (0.1 + 0.9 x 0.5); who has folded or raised is none.
    np.testing.assert_allclose(found, [0.1, 2 / 11, 0, 0, *[0] * 6])


def test_moves_that_the_formula_would_seldom_make_are_unlikely() -> None:
    formula, reading = Formula(), blank_reading()
    for moves, wanted in (("ccc", {0, 1, 2}), ("rcc", {0, 1}), ("cccccc", {0, 1, 2})):
        table = a_table(moves)
        seen = Pending(table.rows, table.game, np.array([0])).seen()
        read(seen[0], table.game.terms, formula.rules, formula.values, formula.kept, reading)
        likely = reading.likely
        assert {seat for seat in range(3) if 0 < likely[seat] < 1} == wanted
    assert (likely[:3] < 0.9).all()


@pytest.mark.long
def test_loki_beats_weak_players_heads_up() -> None:
    for other, least in (("call", 0.6), ("random", 0.3), ("miniloki", 0.0)):
        line = lines(["loki", other], 4000)[0]
        assert line.rate - line.ci95 > least, other


@pytest.mark.long
def test_styles_differ_in_the_hands_they_play() -> None:
    for style, wanted in (("tight", 0.15), ("moderate", 0.20), ("loose", 0.25)):
        match = Match(players_of([f"loki?style={style}*10"]), hands=1_500, duplicate=False)
        shares = [line.vpip for line in lines_of(match, play(match))]
        assert np.mean(shares) == pytest.approx(wanted, abs=0.02)


@pytest.mark.long
def test_sim_beats_a_calling_station() -> None:
    line = lines(["sim?trials=20", "call"], 2000)[0]
    assert line.rate - line.ci95 > 0.6


def test_boards_of_rows() -> None:
    table = a_table("rcc")
    assert board_of(table.rows[0], 1) == bits("2s 7d 9h")
    assert board_of(table.rows[0], 2) == bits("2s 7d 9h Jc")
    assert board_of(table.rows[0], 0) == 0
