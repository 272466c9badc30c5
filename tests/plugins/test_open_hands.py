"""Hands in progress: the open decision of each, and a sentence where there is none."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cbr.errors import BadValue
from cbr_holdem.situation import Pending, replay_arrays, view_of
from cbr_holdem.table import (
    BOARD_CARDS,
    HISTORY,
    MOVES,
    STREET,
    Game,
    Hand,
    HandArrays,
    open_table,
    random_hands,
)
from cbr_logs import OpenHand, read_open_hands, write_phh

OPEN = """\
variant = 'NT'
antes = [0, 0, 0]
blinds_or_straddles = [0.50, 1.00, 0]
min_bet = 1.00
starting_stacks = [100.00, 40.00, 100.00]
players = ['ann', 'bob', 'cyd']
actions = [
  'd dh p1 ????', 'd dh p2 AhTh', 'd dh p3 ????',
  'p3 cbr 3.00', 'p1 f', 'p2 cc', 'd db Ts7h2c', 'p2 cc', 'p3 cbr 4.00',
]
"""
STARS = """\
PokerStars Hand #77:  Hold'em No Limit ($0.50/$1.00 USD) - 2010/07/26 6:17:21 ET
Table 'Demo' 6-max Seat #3 is the button
Seat 1: ann ($48 in chips)
Seat 2: dora ($90 in chips) is sitting out
Seat 3: bob ($100 in chips)
Seat 4: eve ($70 in chips)
Seat 5: new ($100 in chips)
Seat 6: cy ($20.50 in chips)
new: will be allowed to play after the button
eve: posts small blind $0.50
cy: posts big blind $1
*** HOLE CARDS ***
Dealt to ann [Ah Kd]
"""


def opened(text: str, folder: Path, name: str = "hand.phh") -> OpenHand:
    """The one hand of a text."""
    path = folder / name
    path.write_text(text, "utf-8")
    [found] = read_open_hands(path)
    return found


def refused(text: str, folder: Path) -> str:
    with pytest.raises(BadValue) as found:
        opened(text, folder)
    said = str(found.value)
    assert "\n" not in said
    assert said.startswith(f"{folder / 'hand.phh'}, hand 1 (line 1): ")
    return said.partition("): ")[2]


# --- every decision of complete hands -------------------------------------------------------------


def cut(hand: Hand, step: int, street: int) -> Hand:
    """A hand before its action number `step`, on a street."""
    kept, moves = "", 0
    for slash, move in re.findall(r"(/)|([A-J]?[fcr]\d*)", hand.actions):
        if move and moves == step:
            break
        moves += bool(move)
        kept += slash or move
    board = "".join(hand.board.split())[: 2 * BOARD_CARDS[street]]
    return replace(hand, actions=kept.rstrip("/"), board=board, result=None)


@pytest.mark.parametrize("seats", [2, 3, 6, 10])
@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_a_hand_cut_anywhere_is_where_the_replay_was(seats: int, betting: str) -> None:
    hands = list(random_hands(12, seats, Game(betting, 5, 10), seed=7))
    played = replay_arrays(HandArrays.read([hand.text for hand in hands]), keep_tables=True)
    assert len(played.hand) > 12 * seats / 2
    assert played.tables is not None
    for place, row in enumerate(played.tables):
        hand = cut(hands[played.hand[place]], int(played.step[place]), int(row[STREET]))
        table = open_table(hand)
        mine, theirs = (
            Pending(rows, table.game, np.zeros(1, np.int64)) for rows in (table.rows, row[None])
        )
        upto = HISTORY + int(row[MOVES])
        # What a row keeps of an earlier hand is not part of its table.
        for column in mine:
            np.testing.assert_array_equal(mine[column], theirs[column])
        np.testing.assert_array_equal(table.rows[0, HISTORY:upto], row[HISTORY:upto])
        assert view_of(table.rows, 0, table.game).stacks == view_of(row[None], 0, table.game).stacks


def test_a_log_cut_before_the_last_action(tmp_path: Path) -> None:
    [hand] = random_hands(1, 4, Game("nolimit", 50, 100), seed=3)
    out = tmp_path / "whole.phhs"
    write_phh(iter([hand.text]), out)
    text = out.read_text()
    with pytest.raises(BadValue, match="no open decision: the hand is over"):
        list(read_open_hands(out))
    actions = re.search(r"^actions = \[(.*)\]", text, re.M)
    assert actions
    words = re.findall(r"'[^']*'", actions[1])
    last = max(place for place, word in enumerate(words) if re.match(r"'p\d (f|cc|cbr)", word))
    shorter = text.replace(actions[1], ", ".join(words[:last]))
    found = opened(shorter, tmp_path, "cut.phhs")
    assert view_of(found.table.rows, 0, found.table.game).seat == int(words[last][2]) - 1


# --- PHH ------------------------------------------------------------------------------------------


def test_the_open_decision(tmp_path: Path) -> None:
    found = opened(OPEN, tmp_path)
    view = view_of(found.table.rows, 0, found.table.game)
    assert (found.name, found.hand.unit, found.hand.players[view.seat]) == ("1", 100, "bob")
    assert (view.hole, view.board, view.call, view.pot) == ("Ah Th", "Ts 7h 2c", 400, 1050)
    assert (view.raise_from, view.raise_to) == (800, 3700)


def test_several_hands_have_their_names(tmp_path: Path) -> None:
    path = tmp_path / "two.phhs"
    shorter = OPEN.replace(" 'p2 cc', 'p3 cbr 4.00',", "")
    path.write_text(f"[1]\n{OPEN}\n[2]\nhand = 912\n{shorter}")
    first, second = read_open_hands(path)
    assert (first.name, second.name) == ("1", "912")
    tables = [view_of(one.table.rows, 0, one.table.game) for one in (first, second)]
    assert [view.call for view in tables] == [400, 0]
    path.write_text(f"[1]\n{OPEN}\n[2]\n{OPEN.replace('AhTh', '????')}")
    with pytest.raises(BadValue, match=r"two\.phhs, hand 2 \(line 13\): the cards of bob"):
        list(read_open_hands(path))


def test_heads_up_blinds_are_listed_in_reverse(tmp_path: Path) -> None:
    text = OPEN.replace("[0, 0, 0]", "[0, 0]").replace("[0.50, 1.00, 0]", "[0.50, 1.00]")
    text = text.replace("[100.00, 40.00, 100.00]", "[100.00, 40.00]").replace(", 'cyd'", "")
    text = text[: text.index("actions")] + "actions = ['d dh p1 ????', 'd dh p2 AhTh']\n"
    view = view_of(opened(text, tmp_path).table.rows, 0, Game("nolimit", 50, 100))
    assert (view.seat, view.call, view.bets) == (1, 50, (100, 50))


def test_limit_has_the_usual_cap_unless_the_hand_has_more_bets(tmp_path: Path) -> None:
    raises = ["p3 cbr 20", "p1 cbr 30", "p2 cbr 40", "p3 cbr 50"]
    for count, cap in ((3, 4), (4, None)):
        dealt = "'d dh p1 AsAc', 'd dh p2 AhTh', 'd dh p3 KsKc'"
        moves = ", ".join(repr(move) for move in raises[:count])
        text = OPEN[: OPEN.index("actions")].replace("'NT'", "'FT'")
        text = text.replace("min_bet = 1.00", "small_bet = 10\nbig_bet = 20")
        text = text.replace("[0.50, 1.00, 0]", "[5, 10, 0]") + f"actions = [{dealt}, {moves}]\n"
        text = text.replace("[100.00, 40.00, 100.00]", "[500, 500, 500]")
        found = opened(text, tmp_path)
        assert found.table.game.cap == cap
        assert bool(view_of(found.table.rows, 0, found.table.game).raise_to) == (cap is None)


def test_a_dead_blind_and_a_newcomer(tmp_path: Path) -> None:
    text = OPEN.replace("[0, 0, 0]", "[0, 0, 0.50]").replace("[0.50, 1.00, 0]", "[0.50, 1, -1]")
    view = view_of(opened(text, tmp_path).table.rows, 0, Game("nolimit", 50, 100))
    assert view.pot == 1100


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("'p3 cbr 4.00',", "'p3 cbr 4.00', 'p2 f',", "no open decision: the hand is over"),
        ("AhTh", "????", "the cards of bob, who is to act, are not given"),
        ("AhTh", "Ah??", "the cards of bob, who is to act, are not given"),
        ("'NT'", "'PO'", "variant is 'PO'; FT and NT are hold'em with limit and without"),
        (
            "'d db Ts7h2c', 'p2 cc', 'p3 cbr 4.00',",
            "",
            "bob is to act on the flop, where the board has 3 cards, and none are given",
        ),
        (
            "'p3 cbr 4.00',",
            "'p3 cc',",
            "bob is to act on the turn, where the board has 4 cards, and 3 are given",
        ),
        (
            "'p2 cc', 'd db Ts7h2c', 'p2 cc', 'p3 cbr 4.00',",
            "'d db Ts7h2c',",
            "bob is to act before the flop, where the board has 0 cards, and 3 are given",
        ),
        (
            "'p2 cc', 'd db Ts7h2c',",
            "'d db Ts7h2c',",
            "action 3: it is on the flop, and the betting is before the flop",
        ),
        (
            "'p1 f', 'p2 cc'",
            "'p2 cc', 'p1 f'",
            "action 2: seat 2 acts, and it is the turn of seat 1",
        ),
        (
            "p3 cbr 3.00",
            "p3 cbr 1.50",
            "action 1: a raise to 150 is not legal; legal are fold, call 100, raise to "
            "200 ... 10000 (in chips; 100 are 1 of the log)",
        ),
        ("'p3 cbr 4.00'", "'p3 bets 4'", "'p3 bets 4' is not an action that hold'em has"),
        ("Ts7h2c", "Th7h2c", "Th is twice in the hands and the board"),
        (
            "[0.50, 1.00, 0]",
            "[0, 0, 0]",
            "nobody posted a blind or an ante, so there is no pot to play for",
        ),
        ("variant = 'NT'", "variant 'NT'", "the hand is not in TOML: Expected '=' after a key in"),
    ],
)
def test_reasons(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert old in OPEN
    assert refused(OPEN.replace(old, new), tmp_path).startswith(why)


def test_files_that_are_no_hands(tmp_path: Path) -> None:
    path = tmp_path / "what.txt"
    with pytest.raises(BadValue, match=r"what\.txt cannot be read: No such file"):
        list(read_open_hands(path))
    path.write_text("STATE:0:cc:AhAs|\n")
    with pytest.raises(BadValue, match=r"what\.txt is neither a hand in PHH nor the text"):
        list(read_open_hands(path))
    path = tmp_path / "empty.phhs"
    path.write_text("\n")
    with pytest.raises(BadValue, match=r"empty\.phhs has no hand"):
        list(read_open_hands(path))


# --- PokerStars -----------------------------------------------------------------------------------


def test_who_has_not_acted_yet_is_dealt_in(tmp_path: Path) -> None:
    found = opened(STARS, tmp_path, "stars.txt")
    assert found.name == "77"
    # Without the player who sits out, and the one who waits for the button to pass.
    assert list(found.hand.players) == ["eve", "cy", "ann", "bob"]
    view = view_of(found.table.rows, 0, found.table.game)
    assert (view.seat, view.hole, view.call, view.seats) == (2, "Ah Kd", 100, 4)


def test_in_a_tournament_who_sits_out_is_dealt_in(tmp_path: Path) -> None:
    text = STARS.replace(
        "Hold'em No Limit ($0.50/$1.00 USD)", "Tournament #5, Hold'em No Limit (1/2)"
    )
    text = text.replace("$0.50", "1").replace("big blind $1", "big blind 2").replace("$", "")
    text = text.replace("20.50", "20").replace(
        "new: will be allowed to play after the button\n", ""
    )
    found = opened(text + "ann: folds\nDealt to dora [Ac Ad]\n", tmp_path, "stars.txt")
    assert list(found.hand.players) == ["eve", "new", "cy", "ann", "dora", "bob"]


def test_a_later_street(tmp_path: Path) -> None:
    play = "ann: raises $2 to $3\nbob: folds\neve: folds\ncy: calls $2\n*** FLOP *** [Ts 4c 2h]\n"
    text = f"{STARS}{play}cy: checks\n"
    found = opened(text, tmp_path, "stars.txt")
    view = view_of(found.table.rows, 0, found.table.game)
    assert (view.street, view.seat, view.call, view.pot) == ("flop", 2, 0, 650)
    with pytest.raises(BadValue, match="the cards of cy, who is to act, are not given"):
        opened(text.removesuffix("cy: checks\n"), tmp_path, "stars.txt")
    with pytest.raises(BadValue, match="no open decision: the hand is over"):
        opened(text + "ann: bets $4\ncy: folds\n", tmp_path, "stars.txt")


@pytest.mark.parametrize("text", [OPEN, STARS], ids=["phh", "stars"])
def test_damaged_text_is_a_sentence_or_a_hand(text: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    path = tmp_path / "hand.phh" if text == OPEN else tmp_path / "hand.txt"
    read = refused_as = 0
    for _ in range(300):
        damaged = bytearray(text.encode())
        for _ in range(int(rng.integers(1, 3))):
            start, other = rng.integers(0, len(damaged), 2).tolist()
            lost, put = rng.integers(0, 3, 2).tolist()
            damaged[start : start + lost] = damaged[other : other + put]
        path.write_bytes(damaged)
        try:
            for found in read_open_hands(path):
                assert view_of(found.table.rows, 0, found.table.game).hole
                read += 1
        except BadValue as error:
            assert "\n" not in str(error)
            refused_as += 1
    assert read > 20
    assert refused_as > 20
