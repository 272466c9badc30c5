"""Hands in their neutral form, replayed in batches: what is kept, and what is refused and why."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from cbr.errors import BadValue
from cbr_holdem.cards import names
from cbr_holdem.situation import ACTIONS, Situations, replay
from cbr_holdem.table import Game, Hand, Table, decks

HAND = Hand(
    game=Game(),
    stacks=(1000, 1000, 1000),
    posts=(5, 10, 0),
    antes=(0, 0, 0),
    holes=("AhAs", "KdKc", "7h2c"),
    board="2s8d9hJc3d",
    actions="ccc/crcc/ccc/ccc",
    players=("ann", "bob", "cyd"),
)


def changed(**fields: object) -> Hand:
    return dataclasses.replace(HAND, **fields)


class TestText:
    @pytest.mark.parametrize(
        "hand",
        [
            HAND,
            changed(result=(40, -20, -20), number="7", holes=("", "KdKc", "")),
            changed(game=Game("nolimit", 25, 50), unit=100, antes=(5, 5, 5), posts=(25, 50, -50)),
            changed(game=Game(bet_sizes=(10, 10, 30, 30), cap=None, rules="acpc")),
            changed(players=("a b", "c,d|e", "ü'\"\\")),
            changed(result=(6.666667, -3.333333, -3.333333)),
        ],
    )
    def test_it_comes_back(self, hand: Hand) -> None:
        back = Hand.read(hand.text)
        for field in dataclasses.fields(Hand):
            one, two = getattr(hand, field.name), getattr(back, field.name)
            assert one == two or list(one) == list(two), field.name
        assert "\n" not in hand.text

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            (["7"], "0 players"),
            (HAND.text.split("\t")[:10], "1 players"),
            (["", "limit 5", *HAND.text.split("\t")[2:]], "is not a game"),
            (["", "limit 5/10 cup=4", *HAND.text.split("\t")[2:]], "cup"),
            (["", "limit 5/10", "1,2,x", *HAND.text.split("\t")[3:]], "stacks '1,2,x'"),
            (["", "limit 5/10", "1,2", *HAND.text.split("\t")[3:]], "2 stacks for 3 players"),
            ([*HAND.text.split("\t")[:7], "cx", *HAND.text.split("\t")[8:]], "actions 'cx'"),
            ([*HAND.text.split("\t")[:8], "1,2", *HAND.text.split("\t")[9:]], "2 results"),
        ],
    )
    def test_a_wrong_one_is_refused(self, fields: list[str], says: str) -> None:
        with pytest.raises(BadValue, match=says):
            Hand.read("\t".join(fields))


class TestReplay:
    def test_decisions_and_outcomes(self) -> None:
        found = replay([HAND])
        assert not found.rejected
        assert [ACTIONS[a] for a in found.action] == list("cckkbcckkkkkk")
        assert found.step.tolist() == list(range(13))
        assert found.situations.place[:, 1].tolist() == [2, 0, 1, 0, 1, 2, 0] + [0, 1, 2] * 2
        # Aces win a pot of 6 small bets. What was put in before a decision does not count there.
        assert found.outcome[0] == -2
        assert found.outcome[1] == pytest.approx(4 + 0.5)
        assert found.outcome[-3] == 4 + 2

    def test_a_fold_earns_nothing(self) -> None:
        found = replay([changed(actions="fff")])
        assert found.rejected  # the big blind has won when the others have folded
        found = replay([changed(actions="ff")])
        assert found.outcome.tolist() == [0, 0]

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            ({"actions": "ccc/ccc/ccc/cccc"}, "action 13 is one too many"),
            ({"actions": "ccc/ccc/ccc/cc"}, "action 11 is the last, and the hand is not over"),
            ({"actions": ""}, "no actions"),
            ({"actions": "cc/c"}, "action 3 is on another street"),
            ({"actions": "cccc/"}, "action 4 is on another street"),
            ({"actions": "Ac"}, "action 1 is out of turn"),
            ({"actions": "rrrr"}, "action 4 is a raise that the rules do not allow"),
            ({"actions": "r25"}, "action 1 raises to an amount"),
            ({"board": "2s7d9h"}, "cards of the board are missing"),
            ({"board": "2s7d"}, "the board has 2 cards"),
            ({"board": "2s7d9hJc3x"}, "'3x' is not a card"),
            ({"board": "2s7d9hJcAh"}, "Ah is twice"),
            ({"holes": ("AhAs", "KdKc", "7h")}, "not two cards|no card"),
            ({"stacks": (1000, -5, 1000)}, "a stack is -5"),
            ({"stacks": (1000, 0, 1000)}, "a stack is 0"),
            ({"antes": (-1, 0, 0)}, "antes"),
            ({"players": ("ann", "ann", "cyd")}, "'ann' sits at the table twice"),
            ({"players": ("ann", "b\x07b", "cyd")}, "control characters"),
            ({"players": ("ann", "", "cyd")}, "empty"),
            ({"players": ("ann", "b\tb", "cyd")}, "3 hands of cards for 4 players"),
            ({"result": (40, -20, -10)}, "the log gives a result of 40, -20, -10"),
            ({"result": (-20, 40, -20)}, "the rules 40, -20, -20"),
            ({"result": (float("nan"), 40, -20)}, "the log gives"),
            ({"result": (90, -90, 0), "holes": ("", "", "")}, "cannot come to"),
        ],
    )
    def test_what_is_wrong_is_refused_and_named(self, fields: dict, says: str) -> None:
        found = replay([HAND, changed(**fields), HAND])
        assert list(found.rejected) == [1]
        assert re.search(says, found.rejected[1]), found.rejected[1]
        assert found.hand.tolist() == [0] * 13 + [2] * 13

    def test_cards_that_nobody_saw(self) -> None:
        """Those that show beat those that do not; where nobody shows, nobody knows who won."""
        found = replay([changed(holes=("", "KdKc", ""))])
        assert found.outcome[[0, 1, 2]].tolist() == [-2, pytest.approx(-1.5), 4 + 1]
        assert np.isnan(found.situations["hand_rank"][0])
        found = replay([changed(holes=("", "", ""))])
        assert np.isnan(found.outcome).all()
        found = replay([changed(holes=("", "", ""), result=(40, -20, -20))])
        assert found.outcome[0] == -2

    def test_a_rake_is_no_contradiction(self) -> None:
        found = replay([changed(result=(37, -20, -20))])
        assert not found.rejected
        assert found.outcome[1] == pytest.approx(3.7 + 0.5)

    def test_newcomers_and_odd_blinds(self) -> None:
        """A newcomer's post is a bet that does not move the opener; one blind is enough."""
        posts = changed(stacks=(1000,) * 4, posts=(5, 10, 0, -10), antes=(0,) * 4,
                        holes=("",) * 4, players=tuple("abcd"), actions="CfDcAfBcBc", board="")  # fmt: skip
        assert (
            replay([posts]).rejected[0]
            == "action 5 is on another street than the betting has come to"
        )
        one = changed(posts=(10, 0, 0), actions="BcCcAc/ccc/ccc/ccc")
        assert not replay([one]).rejected

    def test_dead_money_stays_in_the_pot(self) -> None:
        """A big blind ante, and a dead small blind: whoever posted it does not get it back."""
        dead = changed(antes=(0, 10, 0), posts=(5, 10, 0), result=(50, -30, -20))
        assert replay([dead]).rejected == {}
        assert Table.of(dead).payoffs == [50, -30, -20]
        equal = changed(antes=(10, 10, 10), stacks=(4, 1000, 1000), posts=(0, 10, 0),
                        actions="CcBc/BcCc/BcCc/BcCc", holes=("AhAs", "KdKc", "7h2c"))  # fmt: skip
        assert Table.of(equal).payoffs == [8, 12, -20]  # four of each ante is all that he can win

    def test_hands_that_are_all_refused(self) -> None:
        assert list(replay([changed(stacks=(0, 1, 1))]).rejected) == [0]
        assert replay([]).rejected == {}

    def test_a_fold_that_costs_nothing_is_kept(self) -> None:
        found = replay([changed(actions="ccc/fcc/cc/cc")])
        assert (not found.rejected, ACTIONS[found.action[3]]) == (True, "f")


@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_a_batch_is_what_one_table_after_the_other_gives(betting: str) -> None:
    """Random hands played at a table, written down and replayed: the same situations."""
    rng, game = np.random.default_rng(7), Game(betting)
    hands, seen, ends = [], [], []
    for deal, deck in enumerate(decks(9, 0, 60)):
        seats = int(rng.integers(2, 11))
        stacks = rng.integers(30, 900, seats).tolist()
        held, board = deck[: 2 * seats], deck[2 * seats : 2 * seats + 5]
        table = Table(game, stacks, held.tolist(), board.tolist())
        written, street = "", "preflop"
        while not table.over:
            seen.append(Situations.at(table.rows, game))
            legal = table.legal()
            move = rng.choice(["f", "c", "c", "r"])
            move = move if table.can_play(move) else "c"
            to = int(rng.integers(legal.raise_from, legal.raise_to + 1)) if move == "r" else None
            steps = ("preflop", "flop", "turn", "river")
            written += "/" * (steps.index(table.street) - steps.index(street))
            street = table.street
            written += move + (str(to) if to else "")
            table.play(move, to)
        posts = [10, 5] if seats == 2 else [5, 10] + [0] * (seats - 2)
        holes = [names(held[2 * s : 2 * s + 2]).replace(" ", "") for s in range(seats)]
        full = names(board).replace(" ", "")
        hand = Hand(game, stacks, posts, [0] * seats, holes, full, written,
                    [f"p{s}" for s in range(seats)], table.payoffs, number=str(deal))  # fmt: skip
        hands.append(Hand.read(hand.text))
        ends.append(Table.of(hands[-1]).payoffs == table.payoffs)
    found = replay(hands)
    assert not found.rejected
    assert all(ends)
    assert len(found.hand) == len(seen)
    for name in ("to_call", "pot", "position", "own_size", "ihs", "highest", "hand_rank"):
        assert np.array_equal(
            found.situations[name], np.concatenate([s[name] for s in seen]), equal_nan=True
        ), name
