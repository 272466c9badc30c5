"""The rules of the table: PokerKit as referee, and what it does not know (the competition's rules)."""

from __future__ import annotations

import ast
import random
import warnings
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from soak.games import random_game

from cbr.errors import BadValue, CbrError
from cbr_holdem.table import (
    CALL,
    FOLD,
    MOST_CHIPS,
    RAISE,
    Game,
    Table,
    call_down,
    deal_all,
    decks,
    legal_action,
    new_tables,
    packed,
    seating,
    step_all,
    unpacked,
)


@pytest.mark.long
@pytest.mark.parametrize("betting", ["limit", "nolimit", "potlimit"])
def test_pokerkit_agrees(betting: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        played = [random_game(random.Random(f"{betting} {seed}"), betting) for seed in range(170)]
    assert sum(played) > 1300


@pytest.mark.slow
def test_pokerkit_agrees_for_long() -> None:
    """`make soak` goes on from here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(20_000):
            random_game(random.Random(seed), ("limit", "nolimit", "potlimit")[seed % 3])


def table(stacks: list[int], betting: str = "nolimit", rules: str = "casino", **game: Any) -> Table:
    cards = list(range(2 * len(stacks) + 5))
    return Table(Game(betting, rules=rules, **game), stacks, cards[:-5], cards[-5:])


class TestShortAllIns:
    """Where poker engines go wrong: a raise that is less than a full one."""

    def bet_and_short_raise(self, rules: str) -> Table:
        made = table([1000, 1000, 160], rules=rules)
        for move in ("c", "c", "k"):
            made.play(move)
        made.play("b", 100)  # seat 0; seat 1 calls, seat 2 is all-in for 150
        made.play("c")
        made.play("r", 150)
        return made

    def test_in_the_casino_it_does_not_reopen_the_betting(self) -> None:
        made = self.bet_and_short_raise("casino")
        assert (made.actor, made.legal().call, made.legal().raise_to) == (0, 50, 0)
        with pytest.raises(BadValue, match="a raise is not legal; legal are fold, call 50"):
            made.play("r", 400)

    def test_in_the_competition_it_does(self) -> None:
        made = self.bet_and_short_raise("acpc")
        legal = made.legal()
        assert (legal.call, legal.raise_from, legal.raise_to) == (50, 200, 990)

    def test_who_has_not_acted_may_raise(self) -> None:
        made = table([1000, 160, 1000])
        for move in ("c", "c", "k"):
            made.play(move)
        made.play("b", 100)
        made.play("r", 150)  # seat 1, short
        assert made.legal().raise_from == 250

    def test_several_short_ones_can_make_a_full_one(self) -> None:
        made = table([1000, 160, 210, 1000])
        for _ in range(4):
            made.play("c")
        made.play("b", 100)
        made.play("r", 150)
        made.play("r", 200)
        made.play("c")
        assert made.actor == 0
        assert made.legal().raise_from == 300


class TestPots:
    def test_side_pots(self) -> None:
        """Three all-ins of different depth: each pot goes to the best of those who paid for it."""
        game = Game("nolimit")
        made = Table(game, [50, 100, 200], "AsAh KsKh QsQh", "2c 3d 7h 8s 9c")
        made.play("r", 200)
        made.play("c")
        made.play("c")
        assert made.over
        assert made.final_stacks == [150, 100, 100]

    def test_odd_chips(self) -> None:
        casino = Table(Game("nolimit", 1, 2), [5, 5, 5], "2s3h 2d3c AsAh", "4c 5d 6h 7s 8c")
        casino.play("r", 5)
        casino.play("c")
        casino.play("c")
        assert casino.final_stacks == [5, 5, 5]
        for rules, shares in (("casino", [3, 2]), ("acpc", [2.5, 2.5])):
            made = Table(
                Game("nolimit", 1, 2, rules=rules), [9, 9, 9], "2s3h 2d3c AsAh", "4c5d6h7sTc"
            )
            made.play("f")
            made.play("c")
            made.play("k")
            for _ in range(6):
                made.play("k")
            assert made.payoffs == [0, 0, 0]
            dead = Table(
                Game("nolimit", 1, 2, ante=1, rules=rules),
                [9, 9, 9],
                "2s3h 2d3c AsAh",
                "4c5d6h7sTc",
            )
            dead.play("f")
            for move in ("c", *"kkkkkkk"):
                dead.play(move)
            assert [p + 3 for p in dead.payoffs[:2]] == [s + 1 for s in shares]

    def test_a_bet_that_nobody_called_comes_back(self) -> None:
        made = table([1000, 1000])
        made.play("r", 600)
        made.play("f")
        assert made.final_stacks == [990, 1010]

    def test_everybody_folds_to_the_big_blind(self) -> None:
        made = table([100] * 6, "limit")
        for _ in range(5):
            made.play("f")
        assert made.payoffs == [-5, 5, 0, 0, 0, 0]


class TestOrder:
    def test_heads_up_the_button_posts_small_and_acts_first(self) -> None:
        made = table([100, 100], "limit")
        assert (made.actor, made.stacks) == (1, [90, 95])
        made.play("c")
        made.play("k")
        assert (made.street, made.actor) == ("flop", 0)

    def test_the_cap_counts_the_big_blind(self) -> None:
        made = table([1000, 1000], "limit")
        for _ in range(3):
            made.play("r")
        assert made.legal().raise_to == 0
        made.play("c")
        for _ in range(4):
            made.play("b")
        assert made.legal().raise_to == 0
        assert made.pot == 2 * 40 + 40 + 30

    def test_bets_double_on_the_turn(self) -> None:
        made = table([1000, 1000], "limit")
        for _ in range(4):
            made.play("c")
        assert (made.street, made.legal().raise_from) == ("turn", 20)


class TestShowdown:
    def test_the_last_to_bet_on_the_river_shows_first(self) -> None:
        made = table([1000] * 4, "limit")
        for move in "cccc" + "kkkk" + "kkkk" + "kkbccf":
            made.play(move)
        assert made.showdown == [2, 3, 0]

    def test_else_the_first_left_of_the_button(self) -> None:
        made = table([1000] * 3, "limit")
        assert made.showdown == []
        for move in "ccc" + "bcf" + "kk" + "kk":
            made.play(move)
        assert made.showdown == [0, 1]

    def test_nobody_shows_when_all_others_fold(self) -> None:
        made = table([1000] * 3, "limit")
        made.play("f")
        made.play("f")
        assert made.showdown == []

    def test_the_button_moves_on(self) -> None:
        assert [seating(button, 4)[-1] for button in range(4)] == [0, 1, 2, 3]
        for button, players in ((4, 4), (-1, 4), (0, 1), (0, 11)):
            with pytest.raises(BadValue):
                seating(button, players)


class TestLockstep:
    @pytest.mark.parametrize("seats", [2, 6, 10])
    @pytest.mark.parametrize("betting", ["limit", "nolimit"])
    def test_many_tables_are_as_many_single_ones(self, betting: str, seats: int) -> None:
        count, rng = 60, np.random.default_rng(4)
        game = Game(betting)
        stacks = rng.integers(1, 400, (count, seats))
        cards = decks(9, 100, count)
        tables = new_tables(count)
        deal_all(tables.rows, game.terms, seats, stacks, cards)
        single = [
            Table(
                game, stacks[i].tolist(), cards[i, : 2 * seats], cards[i, 2 * seats : 2 * seats + 5]
            )
            for i in range(count)
        ]
        going = True
        while going:
            kinds = rng.choice([FOLD, CALL, CALL, RAISE], count)
            amounts = rng.integers(0, 500, count)
            for i, one in enumerate(single):
                assert (one.over, one.actor or 0) == (
                    tables.actor[i] < 0,
                    max(0, int(tables.actor[i])),
                )
                if not one.over:
                    _as_step(one, int(kinds[i]), int(amounts[i]))
            going = step_all(tables.rows, game.terms, kinds, amounts) > 0
        for i, one in enumerate(single):
            assert tables.payoff[i, :seats].tolist() == one.payoffs
            assert tables.history(i) == one.tables.history(0)
        assert (tables.payoff.sum(axis=1) == 0).all()

    @pytest.mark.long
    def test_calling_down_ends_every_hand(self) -> None:
        tables = new_tables(200)
        deal_all(tables.rows, Game().terms, 9, np.full((200, 9), 1000), decks(1, 0, 200))
        call_down(tables.rows, Game().terms)
        assert (tables.actor == -1).all()
        assert (tables.paid[:, :9] == 10).all()
        assert (tables.payoff.sum(axis=1) == 0).all()
        assert (tables.payoff.max(axis=1) > 0).mean() > 0.9  # or the board is best for all

    def test_decks_are_known_by_their_number(self) -> None:
        many = decks(5, 0, 300)
        assert (np.sort(many, axis=1) == np.arange(52)).all()
        assert (decks(5, 200, 100) == many[200:]).all()
        assert (decks(5, 0, 300, need=23)[:, :23] == many[:, :23]).all()
        assert (decks(6, 0, 300) != many).any()
        counts = np.bincount(decks(7, 0, 52_000)[:, 3], minlength=52)
        assert counts.min() > 850
        assert counts.max() < 1150


def _as_step(one: Table, kind: int, amount: int) -> None:
    """An action made legal as `step_all` does."""
    legal = one.legal()
    if kind == RAISE and legal.raise_to:
        one.play("r", min(max(amount, legal.raise_from), legal.raise_to))
    elif kind == FOLD and legal.fold:
        one.play("f")
    else:
        one.play("c")


@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_a_war_of_raises_ends(betting: str) -> None:
    """The history has room for so many actions; then there is no more raising, and it all fits."""
    made = table([10**12] * 10, betting, cap=None)
    moves = 0
    while not made.over:
        made.play("r" if made.legal().raise_to else "c")
        moves += 1
    assert 200 < moves <= 256
    assert len(made.tables.history(0)) == moves
    assert sum(made.payoffs) == 0


class TestPackedMoves:
    def test_every_part_comes_back(self) -> None:
        for street in range(4):
            for seat in range(10):
                for kind in (FOLD, CALL, RAISE):
                    for amount in (0, 1, 255, 256, MOST_CHIPS):
                        move = packed(street, seat, kind, amount)
                        assert unpacked(move) == (street, seat, kind, amount)

    def test_only_one_module_knows_the_layout(self) -> None:
        """No other module shifts or masks what it takes out of a table's history."""
        rooms = [path for root in ("features", "plugins") for path in (ROOT / root).rglob("*.py")]
        for path in rooms:
            nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
            moves = {
                name.id
                for node in nodes
                if isinstance(node, ast.Assign) and _is_move(node.value, set())
                for name in node.targets
                if isinstance(name, ast.Name)
            }
            for node in nodes:
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift | ast.BitAnd):
                    assert not _is_move(node.left, moves), f"{path}:{node.lineno}"


def _is_move(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is an entry of the history, or one of the names given to such."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "last_move"
    if isinstance(node, ast.Subscript):
        return "HISTORY" in {n.id for n in ast.walk(node.slice) if isinstance(n, ast.Name)}
    if isinstance(node, ast.BinOp):
        return _is_move(node.left, names) or _is_move(node.right, names)
    return isinstance(node, ast.Name) and node.id in names


class TestLegalAction:
    def test_what_is_played_for_what_is_wanted(self) -> None:
        one = Table(Game("nolimit", 5, 10), [1000] * 3, "AhAs KdKc 7h2c", "2s 7d 9h Jc 3d")
        wanted = {
            (FOLD, 0): (FOLD, 0, True),
            (CALL, 7): (CALL, 0, True),
            (RAISE, 0): (RAISE, 20, True),
            (RAISE, 40): (RAISE, 40, True),
            (RAISE, 19): (FOLD, 0, False),
            (RAISE, 1001): (FOLD, 0, False),
            (9, 0): (FOLD, 0, False),
        }
        for (kind, amount), played in wanted.items():
            assert legal_action(one.rows[0], one.terms, kind, amount) == played
        for move in ("c", "c", "k"):
            one.play(move)
        # Nothing to call: nobody folds for nothing.
        assert legal_action(one.rows[0], one.terms, FOLD, 0) == (CALL, 0, True)
        assert legal_action(one.rows[0], one.terms, RAISE, 5) == (CALL, 0, False)


class TestBadInput:
    @pytest.mark.parametrize(
        ("game", "says"),
        [
            (dict(betting="nolimits"), "did you mean 'nolimit'"),
            (dict(rules="house"), "no set of rules 'house'"),
            (dict(small_blind=20), "blinds are 20 and 10"),
            (dict(ante=-1), "the ante is -1"),
            (dict(ante=0.5), "0.5 in a game is not a whole number"),
            (dict(bet_sizes="abcd"), "'a' in a game is not a whole number"),
            (dict(cap=0), "the cap is 0 bets"),
            (dict(bet_sizes=[1, 2]), "give four above 0"),
        ],
    )
    def test_games(self, game: dict, says: str) -> None:
        with pytest.raises(CbrError, match=says):
            Game(**game)

    @pytest.mark.parametrize(
        ("stacks", "hands", "board", "says"),
        [
            ([100], "AsAh", "2c3d4h5s6c", "1 players; a table has 2 to 10"),
            ([100] * 11, "", "2c3d4h5s6c", "11 players"),
            ([100, -5], "AsAhKsKh", "2c3d4h5s6c", "a stack is -5"),
            ([100, 0], "AsAhKsKh", "2c3d4h5s6c", "a stack is 0"),
            ([100, 10.5], "AsAhKsKh", "2c3d4h5s6c", "a stack is 10.5"),
            ([100, 10**30], "AsAhKsKh", "2c3d4h5s6c", "whole number of chips"),
            ([100, 100], [60, 60, 1, 2], [4, 5, 6, 7, 8], "from 0 to 51"),
            ([100, 10**14], "AsAhKsKh", "2c3d4h5s6c", "it must be at most"),
            ([100, 100], "AsAhKs", "2c3d4h5s6c", "need 4 cards, not 3"),
            ([100, 100], "AsAhKsKh", "2c3d4h5s", "5 cards in the end, not 4"),
            ([100, 100], "AsAhKsKh", "2c3d4h5sAs", "As is twice"),
            ([100, 100], [0, 1, 2, 60], [4, 5, 6, 7, 8], "from 0 to 51"),
        ],
    )
    def test_tables(self, stacks, hands, board, says: str) -> None:
        with pytest.raises(BadValue, match=says):
            Table(Game(), stacks, hands, board)

    @pytest.mark.long
    def test_actions_name_what_is_legal(self) -> None:
        made = table([1000, 1000, 1000])
        with pytest.raises(
            BadValue, match=r"a raise to 15 is not legal; legal are fold, call 10, "
        ):
            made.play("r", 15)
        with pytest.raises(BadValue, match=r"20\.5 is not a whole number of chips; legal are"):
            made.play("r", 20.5)
        with pytest.raises(BadValue, match="'x' is not an action; actions are f, k, c, b, r"):
            made.play("x")
        for _ in range(3):
            made.play("c")
        with pytest.raises(BadValue, match="a fold is not legal when checking is free; legal are"):
            made.play("f")
        assert not made.can_play("f")
        assert made.can_play("k")
        while not made.over:
            made.play("k")
        with pytest.raises(BadValue, match="the hand is over"):
            made.play("k")
