"""What is remembered of opponents: the same as a log tells, and no more than was public."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import BadValue, Casebase
from cbr.jit import njit
from cbr_arena.showing import as_seen
from cbr_holdem.cards import UNKNOWN
from cbr_holdem.table import FOLD, FOLDED, HOLE, PLAYERS, SEATS, Game, Hand, Table
from cbr_opponents import COLUMNS, OpponentModel, Trees, replay_decisions
from cbr_opponents.array_models import uniform_arrays
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.learning import counted, observe
from cbr_opponents.opponent_model import begin_decision, workspace
from cbr_opponents.profiles import (
    OF_PLAYER,
    PROFILE,
    S_HANDS,
    S_MOVES,
    SEEN,
    player_features,
    profile_features,
)
from cbr_opponents.remembering import OpponentMemory
from cbr_opponents.remembering.counting import decay_of


def hands_of(base: Path) -> list[Hand]:
    with Casebase.open(base) as opened:
        return [Hand.read(body) for _, some in opened.read_records(500) for body in some]


def ended(hands: list[Hand], seat: int = -1):
    """Finished hands as tables, as a seat (-1: a spectator) saw them, and the names."""
    rows = np.concatenate([Table.of(hand).rows for hand in hands])
    some = np.arange(len(rows))
    return as_seen(rows, some, np.full(len(rows), seat)), [list(hand.players) for hand in hands]


def with_a_tree(plain: OpponentModel, stranger: np.ndarray) -> OpponentModel:
    """A model that looks at the features of decisions."""
    none = np.zeros((1, 5), np.uint8)
    one = Trees(none, none, np.zeros((1, 32, 3)))
    return OpponentModel.of(plain.grid, trees=[one] * 4, stranger=stranger)


@njit
def asked_at(tables, terms, model, profiles, out):
    """The features of decisions at tables, as compiled play computes them."""
    space = workspace(model)
    for seat in range(len(profiles)):
        space.profiles[seat] = profiles[seat]
    for i in range(len(tables)):
        begin_decision(tables[i], terms, model, space)
        out[i] = space.features


@pytest.fixture(scope="module", params=["limit", "nolimit"])
def logged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp(request.param)
    base = (limit_base if request.param == "limit" else no_limit_base)(folder)
    with Casebase.open(base) as opened:
        observed = observe(opened)
    return observed, hands_of(base)


@pytest.mark.long
class TestWatching:
    @pytest.mark.parametrize("seat", [-1, 0])
    def test_play_has_the_features_of_the_log(self, logged, seat: int) -> None:
        """To the byte, at every decision: models are fitted to logs, and asked at tables."""
        observed, hands = logged
        tables, names = ended(hands, seat)
        memory = OpponentMemory(hands[0].game.betting)
        model = with_a_tree(uniform_arrays(observed.moves), observed.stranger)
        numbers = np.unique(observed.hand)
        for at, number in enumerate(numbers.tolist()):
            mine = np.flatnonzero(observed.hand == number)
            profiles = memory.profiles_of(names[at], observed.usual)
            asked, terms, _ = replay_decisions([hands[at].text])
            found = np.zeros((len(mine), COLUMNS), np.uint8)
            asked_at(asked.tables, terms[0], model, profiles, found)
            np.testing.assert_array_equal(found[:, FEATURES:], observed.features[mine, FEATURES:])
            memory.watch(tables[at : at + 1], names[at : at + 1], hands[at].game)
        strange = memory.profiles_of(["nobody"], observed.usual)[0]
        np.testing.assert_array_equal(strange, observed.stranger)

    def test_situations_are_told_apart(self, logged) -> None:
        """What was done in one situation changes the features of that situation, of the street and
        bet, and those in general, and no others."""
        observed, _ = logged
        blank, seen = np.zeros(SEEN), np.zeros(SEEN)
        seen[S_HANDS] = 10.0
        mine = 77
        seen[S_MOVES + 3 * mine + FOLD] = 10.0
        before, after = np.zeros((2, PROFILE), np.uint8)
        profile_features(blank, observed.usual, before)
        profile_features(seen, observed.usual, after)
        one, other = np.zeros((2, 2, COLUMNS), np.uint8)
        for row, profile in enumerate((before, after)):
            player_features(profile[None], 0, -1, mine, one[row])
            player_features(profile[None], 0, -1, 150, other[row])
        here = slice(FEATURES + OF_PLAYER - 6, FEATURES + OF_PLAYER)
        folds, raises, times = one[1, here][3:]
        assert folds > one[0, here][3]
        assert raises <= one[0, here][4]
        assert times == int(16 * np.log2(11))
        np.testing.assert_array_equal(other[0, here], other[1, here])
        assert one[1, FEATURES] > one[0, FEATURES]

    def test_hands_together_are_hands_one_by_one(self, logged) -> None:
        _, hands = logged
        tables, names = ended(hands)
        game = hands[0].game
        for forget in (1.0, 0.97):
            one, many = (OpponentMemory(game.betting, forget) for _ in range(2))
            many.watch(tables, names, game)
            for at in range(len(tables)):
                one.watch(tables[at : at + 1], names[at : at + 1], game)
            for name in many.opponents:
                np.testing.assert_array_equal(many.of(name).seen, one.of(name).seen)
                assert many.of(name).hands == one.of(name).hands
                assert many.of(name).shown == pytest.approx(one.of(name).shown, rel=1e-12)

    def test_parts_can_be_merged(self, logged) -> None:
        _, hands = logged
        tables, names = ended(hands)
        game = hands[0].game
        for forget in (1.0, 0.97):
            whole = OpponentMemory(game.betting, forget)
            whole.watch(tables, names, game)
            joined = whole.fresh()
            for first, last in itertools.pairwise([0, 30, 31, 200, len(tables)]):
                part = whole.fresh()
                part.watch(tables[first:last], names[first:last], game)
                joined.merge(part)
            for name in whole.opponents:
                np.testing.assert_allclose(
                    joined.of(name).seen, whole.of(name).seen, rtol=1e-11, atol=1e-12
                )
                assert joined.of(name).shown == pytest.approx(whole.of(name).shown, rel=1e-10)
                assert joined.of(name).showdowns == whole.of(name).showdowns

    def test_shown_cards_are_counted_by_cell(self, logged) -> None:
        """As `counted` counts the decisions of those who did not fold before a showdown."""
        observed, hands = logged
        tables, names = ended(hands)
        memory = OpponentMemory(hands[0].game.betting)
        memory.watch(tables, names, hands[0].game)
        numbers = np.unique(observed.hand).tolist()
        shows = np.zeros(len(observed), bool)
        for at, number in enumerate(numbers):
            row = tables[at]
            if row[PLAYERS] < 2:
                continue
            for seat in range(row[SEATS]):
                if not row[FOLDED] >> seat & 1:
                    who = observed.names.index(names[at][seat])
                    shows |= (observed.hand == number) & (observed.player == who)
        for who, name in enumerate(observed.names):
            expected = counted(observed.take(shows & (observed.player == who)))
            found = np.zeros(memory.cells)
            cells, often = memory.shown_of(name)
            found[tuple(cells.T)] = often
            np.testing.assert_array_equal(found, expected)
        assert any(memory.of(name).showdowns for name in observed.names)

    def test_hidden_cards_teach_nothing(self, logged) -> None:
        """Whoever sees all cards counts what a spectator counts."""
        _, hands = logged
        game = hands[0].game
        _, names = ended(hands)
        every = np.concatenate([Table.of(hand).rows for hand in hands])
        public = as_seen(every, np.arange(len(every)), np.full(len(every), -1))
        assert (public[:, HOLE : HOLE + 2] == UNKNOWN).any()
        one, two = (OpponentMemory(game.betting) for _ in range(2))
        one.watch(every, names, game)
        two.watch(public, names, game)
        for name in one.opponents:
            np.testing.assert_array_equal(one.of(name).seen, two.of(name).seen)
            assert one.of(name).shown == two.of(name).shown

    def test_who_has_no_name_is_not_counted(self, logged) -> None:
        _, hands = logged
        tables, names = ended(hands)
        memory = OpponentMemory(hands[0].game.betting)
        mine = names[0][0]
        memory.watch(
            tables, [["" if one == mine else one for one in row] for row in names], hands[0].game
        )
        assert mine not in memory.opponents
        assert len(memory.opponents) == len(names[0]) - 1


def test_how_counts_fade() -> None:
    assert (decay_of(1.0)[[S_HANDS]] == 1.0).all()
    assert decay_of(0.5)[S_HANDS] == 0.5
    assert decay_of(0.5).shape == (SEEN,)
    assert ((decay_of(0.9) > 0) & (decay_of(0.9) <= 1)).all()


@pytest.mark.parametrize("forget", [0.0, -1.0, 1.5, float("nan"), True, "x"])
def test_what_cannot_be_forgotten(forget: object) -> None:
    with pytest.raises(BadValue, match="above 0, and at most 1"):
        OpponentMemory("limit", forget)  # type: ignore[arg-type]


def test_other_games() -> None:
    with pytest.raises(BadValue, match="not in 'potlimit'"):
        OpponentMemory("potlimit")
    with pytest.raises(BadValue, match="nolimit"):
        OpponentMemory("limit").watch(np.zeros((0, 366), np.int64), [], Game("nolimit"))
    with pytest.raises(BadValue, match="cannot be merged"):
        OpponentMemory("limit").merge(OpponentMemory("limit", 0.5))
