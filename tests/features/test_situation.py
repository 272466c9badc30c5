"""The betting as a seat sees it: CASPER's worked cases, and properties on random hands."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cbr.errors import BadValue, CbrError
from cbr_holdem.cards import UNKNOWN, cards
from cbr_holdem.situation import Situations, view_of
from cbr_holdem.situation.betting import COLUMNS as BETTING
from cbr_holdem.situation.board import texture
from cbr_holdem.strength import strength_of
from cbr_holdem.table import (
    CALL,
    FOLD,
    HOLE,
    RAISE,
    Game,
    Table,
    deal_all,
    decks,
    new_tables,
    step_all,
)


def one(table: Table) -> dict[str, float]:
    """All columns of the one decision that is pending at a table."""
    return {
        name: float(column[0]) for name, column in Situations.at(table.rows, table.game).items()
    }


def after(seats: int, moves: str) -> dict[str, float]:
    """What the player to act sees after these moves at a limit table."""
    deck = list(range(2 * seats + 5))
    table = Table(Game(), [10_000] * seats, deck[:-5], deck[-5:])
    for move in moves.replace(" ", ""):
        table.play(move)
    return one(table)


class TestAppendixD:
    """Situations of the thesis, as far as the printed values determine the betting."""

    def check(self, seats: int, moves: str, **printed: float) -> None:
        found = after(seats, moves)
        for name, value in printed.items():
            assert found[name] == pytest.approx(value, abs=5e-4 if name == "position" else 1e-6), (
                name
            )

    def test_a_raise_and_a_reraise_before_the_button(self) -> None:
        self.check(
            9, "ffff r r", players=9, position=1.0, players_in=2, yet_to_act=3,
            committed=0, to_call=3, pot_odds=0.315789474,
        )  # fmt: skip

    def test_first_to_speak_in_the_middle(self) -> None:
        self.check(
            9, "f", players=9, position=0.375, players_in=0, yet_to_act=7,
            committed=0, to_call=1, pot_odds=0.4,
        )  # fmt: skip

    def test_our_call_is_raised_and_all_others_fold(self) -> None:
        """Seat 3 calls, the button raises, the blinds fold."""
        self.check(
            9, "f c ffff r ff", players=9, position=0.375, players_in=1, yet_to_act=0,
            committed=1, to_call=1, pot_odds=0.181818182,
        )  # fmt: skip

    def test_that_hand_to_its_river(self) -> None:
        """We raise again and are called; then we bet and are called on each street."""
        before = "f c ffff r ff r c"
        first = dict(players=2, position=0, players_in=0, yet_to_act=1, committed=0, to_call=0)
        self.check(9, before, previous_bets=3, pot=7.5, pot_odds=0, **first)
        self.check(9, before + "b c", previous_bets=1, pot=9.5, pot_odds=0, **first)
        self.check(9, before + "b c b c", previous_bets=1, pot=13.5, pot_odds=0, **first)

    def test_a_call_and_a_raise_before_us(self) -> None:
        self.check(
            9, "f c f r f", players=9, position=0.875, players_in=2, yet_to_act=4,
            committed=0, to_call=2, pot_odds=0.307692308,
        )  # fmt: skip

    def test_a_raise_and_four_players_on_the_flop_and_turn(self) -> None:
        """Table D.1.2: a raise is called by us, the button and the big blind."""
        self.check(
            9, "ffff r", players=9, position=0.875, players_in=1, yet_to_act=3,
            committed=0, to_call=2, pot_odds=0.363636364,
        )  # fmt: skip
        flop = "ffff r c c f c"
        self.check(
            9, flop + "b c", players=4, position=0.667, previous_bets=2, players_in=2, yet_to_act=1,
            committed=0, to_call=1, pot=10.5, pot_odds=0.086956522, opponents=3,
        )  # fmt: skip
        turn = flop + "b c c c"
        self.check(
            9, turn + "k b", players=4, position=0.667, previous_bets=1, players_in=2, yet_to_act=2,
            committed=0, to_call=1, pot=14.5, pot_odds=0.121212121, opponents=3,
        )  # fmt: skip
        self.check(
            9, turn + "k b c r f c", players=4, position=0.667, previous_bets=1, players_in=2,
            yet_to_act=0, committed=1, to_call=1, pot=22.5, pot_odds=0.081632653, opponents=2,
        )  # fmt: skip

    def test_the_turn_counts_in_big_bets(self) -> None:
        found = after(3, "c c k" + "b c c" + "b r")
        assert (found["to_call"], found["committed"], found["previous_bets"]) == (2, 0, 1)
        assert found["pot"] == 3 + 3 + 2 + 4
        assert found["pot_odds"] == pytest.approx(4 / (4 + 12))


class TestBeside:
    def test_aggressor_and_callers(self) -> None:
        found = after(4, "r c c")
        assert (found["aggressor"], found["callers"], found["bets"]) == (0, 2, 2)
        found = after(4, "r c c r")
        assert (found["aggressor"], found["callers"], found["yet_to_act"]) == (0, 0, 2)
        assert after(4, "r c c r r")["aggressor"] == 0
        assert after(3, "c c")["aggressor"] == -1
        assert after(3, "r c c k k")["aggressor"] == 1

    def test_stacks(self) -> None:
        table = Table(Game("nolimit"), [300, 1000, 200], range(6), range(6, 11))
        row = one(table)
        assert (row["stack"], row["effective"], row["off_button"]) == (20, 20, 0)
        table.play("c")
        table.play("c")
        row = one(table)
        assert (row["stack"], row["effective"]) == (99, 29)

    def test_heads_up_the_button_is_last_everywhere(self) -> None:
        assert after(2, "")["position"] == 1.0
        assert after(2, "c")["position"] == 0.0
        assert after(2, "ck")["position"] == 0.0
        assert after(2, "ckk")["position"] == 1.0


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 3, 6, 10])
def test_on_random_hands(seats: int) -> None:
    """What must hold at every decision of every hand, and a hand that is over has no situation."""
    rng, count, game = np.random.default_rng(seats), 300, Game()
    tables = new_tables(count)
    stacks = rng.integers(5, 400, (count, seats))
    deal_all(tables.rows, game.terms, seats, stacks, decks(3, 0, count))
    going, seen = True, 0
    while going:
        found, live = Situations.at(tables.rows, game), tables.actor >= 0
        assert all(np.isnan(found[name][~live]).all() for name in found)
        row = {name: found[name][live] for name in BETTING}
        seen += int(live.sum())
        assert (row["opponents"] >= 1).all()
        assert (row["players"] >= row["opponents"] + 1).all()
        assert ((row["position"] >= 0) & (row["position"] <= 1)).all()
        assert (row["players_in"] + 0 <= row["opponents"]).all()
        assert (row["yet_to_act"] <= row["opponents"]).all()
        assert ((row["pot_odds"] >= 0) & (row["pot_odds"] <= 0.5)).all()
        assert (row["effective"] <= row["stack"]).all()
        assert np.allclose(row["pot"], tables.paid[live].sum(axis=1) / 10)
        kinds = rng.choice([FOLD, CALL, CALL, RAISE], count)
        going = step_all(tables.rows, game.terms, kinds, np.zeros(count, np.int64)) > 0
    assert seen > count


class TestBoard:
    @pytest.mark.long
    @pytest.mark.parametrize(
        ("board", "expected"),
        [
            ("2c3d4h", (1.0, 2, 1, 1, 0)),
            ("AhKhQh", (11.0, 12, 3, 1, 3)),
            ("7c7d7h", (5.0, 5, 1, 3, 0)),
            ("JhJsTd9c2h", (33 / 5, 9, 2, 2, 1)),
        ],
    )
    def test_counts(self, board: str, expected: tuple) -> None:
        assert self.of(board)[:5] == pytest.approx(expected)

    @pytest.mark.parametrize(
        "board", ["2c3d4h", "AhKhQh", "9cTdJc", "2c7dJh", "2c3d4h5s", "TcJdQhKsAc"]
    )
    def test_straights_are_counted_as_the_evaluator_sees_them(self, board: str) -> None:
        """The share of hands whose five best cards, suits aside, are a straight."""
        table = cards(board)
        left = [card for card in range(52) if card not in table]
        straights = 0
        hands = list(combinations(left, 2))
        for hand in hands:
            ranks = {card >> 2 for card in (*hand, *table)}
            ranks |= {-1} if 12 in ranks else set()
            straights += any({*range(low, low + 5)} <= ranks for low in range(-1, 9))
        assert self.of(board)[5] == pytest.approx(straights / len(hands))

    def of(self, board: str) -> list[float]:
        numbers = cards(board)
        full = np.array([numbers + [0] * (5 - len(numbers))])
        return texture(full, np.array([len(numbers)]))[0].tolist()

    def test_no_board_has_no_texture(self) -> None:
        assert np.isnan(texture(np.zeros((1, 5), np.int64), np.zeros(1, np.int64))).all()


class TestView:
    def test_it_shows_what_the_seat_may_see(self) -> None:
        table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
        for move in ("c", "c", "k", "b", "c"):
            table.play(move)
        view = view_of(table.rows, 0, table.game)
        assert (view.seat, view.hole, view.board, view.street) == (2, "7h 2c", "2s 7d 9h", "flop")
        assert (view.pot, view.call, view.raise_from, view.raise_to) == (50, 10, 20, 20)
        assert [(m.seat, m.action, m.amount) for m in view.moves] == [
            (2, "c", 10), (0, "c", 5), (1, "k", 0), (0, "b", 10), (1, "c", 10),
        ]  # fmt: skip
        assert (view.opponents, view.seats, view.bets) == (2, 3, (10, 10, 0))
        assert view["yet_to_act"] == 0

    def test_it_does_not_depend_on_what_is_hidden(self) -> None:
        """Other hands and the cards to come may be any: the view stays the same."""
        views = []
        for hands, board in (("AhAs KdKc 7h2c", "2s7d9hJc3d"), ("QhQs TdTc 7h2c", "2s7d9h4c5d")):
            table = Table(Game(), [1000] * 3, hands, board)
            for move in ("c", "c", "k", "k", "b"):
                table.play(move)
            views.append(view_of(table.rows, 0, table.game))
        assert views[0] == views[1]

    def test_nobody_sees_a_hand_that_is_over(self) -> None:
        table = Table(Game(), [1000] * 2, "AhAs KdKc", "2s7d9hJc3d")
        table.play("f")
        with pytest.raises(BadValue, match="nobody has to act"):
            view_of(table.rows, 0, table.game)


class TestSituations:
    def played(self, moves: str, hands: str = "AhAs KdKc 7h2c") -> Situations:
        table = Table(Game(), [1000] * 3, hands, "2s 7d 9h Jc 3d")
        for move in moves.replace(" ", ""):
            table.play(move)
        return Situations.at(table.rows, table.game)

    def test_strengths_are_those_of_the_strength_room(self) -> None:
        for moves, board in (("cck", "2s 7d 9h"), ("cck kkk k", "2s 7d 9h Jc")):
            found, expected = (
                self.played(moves),
                strength_of("AhAs" if moves == "cck" else "KdKc", board),
            )
            # On the flop values are kept in 16 bits.
            for name in ("hs", "ppot", "npot", "ppot1", "npot1", "e_hs", "e_hs2"):
                assert found[name][0] == pytest.approx(getattr(expected, name), abs=1e-5), name
            assert found["ihs"][0] == pytest.approx(expected.hs**2, abs=1e-5)
            assert found["ehs"][0] == pytest.approx(expected.ehs(2), abs=1e-5)
        river = self.played("cck kkk kkk k")
        assert np.isnan(river["ppot"][0])
        assert river["ehs"] == river["ihs"]

    def test_without_a_board_or_cards_there_is_no_strength(self) -> None:
        before = self.played("")
        assert before["hand_rank"][0] == 169
        assert np.isnan(
            [before[name][0] for name in ("ihs", "ppot", "highest", "same_suit_flop")]
        ).all()
        table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
        table.rows[0, HOLE : HOLE + 6] = UNKNOWN
        for move in "cck":
            table.play(move)
        hidden = Situations.at(table.rows, table.game)
        assert np.isnan([hidden[name][0] for name in ("hand_rank", "hs", "ihs", "ehs")]).all()
        assert hidden["highest"][0] == 7

    def test_boards_of_streets_that_are_over(self) -> None:
        turn = self.played("cck kkk")
        assert [turn[f"highest{end}"][0] for end in ("", "_flop", "_turn")] == [9, 7, 9]
        assert np.isnan(turn["highest_river"][0])

    def test_what_is_hidden_is_not_there(self) -> None:
        """Neither other hands nor cards to come are in the copy that a bot gets to see."""
        found = self.played("cck")
        assert found.hole.tolist() == [cards("AhAs")]
        assert found.board.tolist() == [[*cards("2s7d9h"), UNKNOWN, UNKNOWN]]

    def test_it_does_not_move_on_with_its_table(self) -> None:
        table = Table(Game(), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
        before = Situations.at(table.rows, table.game)
        table.play("r")
        assert (before["pot"][0], before["seat"][0]) == (1.5, 2)

    def test_an_unknown_column_is_named(self) -> None:
        with pytest.raises(CbrError, match=r"'pod_odds'.*pot_odds"):
            self.played("")["pod_odds"]
