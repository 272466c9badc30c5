"""Match states and actions of the ACPC protocol as text: what is read, refused and made legal."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cbr.errors import BadValue, NoSuchName
from cbr_arena.acpc.dealer import dealt
from cbr_arena.acpc.games import load_game
from cbr_arena.acpc.lines import LONGEST, Gone, Lines, Silent
from cbr_arena.acpc.protocol import (
    MatchState,
    action_text,
    betting_of,
    follow,
    settled,
    speaks_ours,
    states_of,
    table_of,
)
from cbr_holdem.table import BOARD, CALL, FOLD, HOLE, RAISE, STRENGTH, Game, Table, act
from cbr_logs import SHIPPED, SHIPPED_TEXTS, GameDef, gamedef_text, read_gamedef

LIMIT = SHIPPED["holdem.limit.2p.reverse_blinds.game"]
NO_LIMIT = SHIPPED["holdem.nolimit.2p.reverse_blinds.game"]
THREE = SHIPPED["holdem.nolimit.3p.game"]


def at(game: GameDef, betting: str) -> Table:
    """A table after some betting, on cards of its own."""
    table = dealt(game, 0, 0)
    before = 0
    for street in betting.split("/"):
        for move in street.replace("f", " f").replace("c", " c").replace("r", " r").split():
            sized = int(move[1:]) - before if move[1:] else None
            table.play(move[0], sized)
        before = int(table.tables.paid[0].max())
    return table


# --- states -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ours", "over"),
    [
        ("MATCHSTATE:1:7::|AhKd", True, False),
        ("MATCHSTATE:1:7:r:|AhKd", False, False),
        ("MATCHSTATE:1:7:rc/:|AhKd/Ts4c2h", False, False),
        ("MATCHSTATE:1:7:rc/c:|AhKd/Ts4c2h", True, False),
        ("MATCHSTATE:1:7:rc/crf:|AhKd/Ts4c2h", False, True),
        ("MATCHSTATE:0:0:c:2c2d|", True, False),
        ("MATCHSTATE:0:4294967295:rrrc/cc/cc/cc:2c2d|AhAd/Ts4c2h/9s/9d", False, True),
    ],
)
def test_whose_turn_it_is(text: str, ours: bool, over: bool) -> None:
    """The big blind is position 0, and acts first after the flop; the dealer acts first before."""
    state = MatchState.read(text)
    table = table_of(state, LIMIT)
    assert state.text == text
    assert (table.actor == state.position, table.over) == (ours, over)


def test_three_players_and_whole_amounts() -> None:
    assert [at(THREE, moves).actor for moves in ("", "c", "cc", "ccc/", "ccc/c")] == [2, 0, 1, 0, 1]
    state = MatchState.read("MATCHSTATE:1:3:cr300c/r900c/:|AhKd/Ts4c2h/2d")
    table = table_of(state, NO_LIMIT)
    assert table.tables.paid[0, :2].tolist() == [900, 900]
    assert [amount for *_, kind, amount in table.tables.history(0) if kind == RAISE] == [300, 600]
    assert betting_of(table) == "cr300c/r900c/"


def test_what_each_is_told() -> None:
    """Own cards, and at a showdown those of all who are in; the log's example from above."""
    table = Table(LIMIT.game, LIMIT.stacks, "Ah2d Kc9c", "8h8d3s Qd 2c", LIMIT.posts)
    for move in "rccrc":
        table.play(move)
    told = [state.text for state in states_of(table, 12)]
    assert told == [
        "MATCHSTATE:0:12:rc/crc/:Ah2d|/8h8d3s/Qd",
        "MATCHSTATE:1:12:rc/crc/:|Kc9c/8h8d3s/Qd",
    ]
    for move in "cccc":
        table.play(move)
    assert {state.text.partition("cc:")[2] for state in states_of(table, 12)} == {
        "Ah2d|Kc9c/8h8d3s/Qd/2c"
    }
    three = Table(THREE.game, THREE.stacks, "Ah2d Kc9c 3s3d", "8h8d4s Qd 2c", THREE.posts)
    for move in ("f", "r", "c"):
        three.play(move, 20_000 if move == "r" else None)
    assert states_of(three, 0)[2].text == ("MATCHSTATE:2:0:fr20000c///:Ah2d|Kc9c|3s3d/8h8d4s/Qd/2c")
    assert states_of(three, 0)[0].holes == ("Ah2d", "Kc9c", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "MATCHSTATE",
        "MATCHSTATE:1:7::|AhKd:c",
        "MATCHSTATE:-1:7::|AhKd",
        "MATCHSTATE:1:x::|AhKd",
        "MATCHSTATE:1:7:k:|AhKd",
        "MATCHSTATE:1:7::|AhK",
        "MATCHSTATE:1:7::|AhKdQs",
        "MATCHSTATE:1:7:rc/:|AhKd/Ts4c",
        "MATCHSTATE:1:7:rc/:|AhKd/Ts4c2h/",
        "MATCHSTATE:1:7:rc/:|AhKd/Ts4c2h/2d/2s/3s",
        "MATCHSTATE:1:7::|AhKd\n",
        "matchstate:1:7::|AhKd",
        "STATE:1:7::|AhKd",
        "MATCHSTATE:1:99999999999::|AhKd",
        "MATCHSTATE:1:7::|\xc5hKd",
    ],
)
def test_what_is_no_state(text: str) -> None:
    with pytest.raises(BadValue, match="is not a match state"):
        MatchState.read(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("MATCHSTATE:1:7::", "a game for 2"),
        ("MATCHSTATE:1:7::|AhKd|", "a game for 2"),
        ("MATCHSTATE:2:7::|AhKd", "a game for 2"),
        ("MATCHSTATE:0:7::|AhKd", "own cards"),
        ("MATCHSTATE:1:7::|AhZz", "is not a card"),
        ("MATCHSTATE:1:7::AhKs|AhKd", "Ah is twice"),
        ("MATCHSTATE:1:7:rc/:|AhKd/Ah4c2h", "Ah is twice"),
        ("MATCHSTATE:1:7:rc:|AhKd", "do not fit"),
        ("MATCHSTATE:1:7:rc/:|AhKd", "do not fit"),
        ("MATCHSTATE:1:7:r/c:|AhKd/Ts4c2h", "do not fit"),
        ("MATCHSTATE:1:7:rrrr:|AhKd", "raise is not legal"),
        ("MATCHSTATE:1:7:r20:|AhKd", "without an amount"),
        ("MATCHSTATE:1:7:fc:|AhKd", "the hand is over"),
        ("MATCHSTATE:1:7:cc/cc/cc/cc:|AhKd/Ts4c2h/2d/2s", "does not show all hands"),
        ("MATCHSTATE:1:7:3:|AhKd", "is not f, c, r"),
    ],
)
def test_what_is_no_state_of_the_game(text: str, says: str) -> None:
    with pytest.raises(BadValue, match=says) as error:
        table_of(MatchState.read(text), LIMIT)
    assert "\n" not in str(error.value)


def test_amounts_of_no_limit_states() -> None:
    for betting, says in (("r", "with an amount"), ("r150", "not legal"), ("r20001", "not legal")):
        with pytest.raises(BadValue, match=says):
            table_of(MatchState(1, 0, betting, ("", "AhKd"), ""), NO_LIMIT)


@pytest.mark.parametrize(
    ("line", "good"),
    [
        ("VERSION:2.0.0", True),
        ("VERSION:2.0.17", True),
        ("VERSION:2.1.0", False),
        ("VERSION:1.0.0", False),
        ("VERSION:2.0", False),
        ("version:2.0.0", False),
        ("", False),
    ],
)
def test_versions(line: str, good: bool) -> None:
    assert speaks_ours(line) is good


# --- what a dealer makes of an answer -----------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "betting", "answer", "played", "says"),
    [
        (LIMIT, "", "c", "c", ""),
        (LIMIT, "", "f", "f", ""),
        (LIMIT, "", "r", "r", ""),
        (LIMIT, "", "call", "c", ""),
        (LIMIT, "", "r20", "r", ""),
        (LIMIT, "c", "f", "c", "a fold for nothing"),
        (LIMIT, "rc/", "f", "c", "a fold for nothing"),
        (LIMIT, "rrr", "r", "c", "none is legal"),
        (LIMIT, "rc/rrrr", "r", "c", "none is legal"),
        (LIMIT, "", "", "c", "no action"),
        (LIMIT, "", "x", "c", "no action"),
        (LIMIT, "", " c", "c", "no action"),
        (LIMIT, "", "R", "c", "no action"),
        (NO_LIMIT, "", "r200", "r200", ""),
        (NO_LIMIT, "", "r100", "r200", "nearest"),
        (NO_LIMIT, "", "r0", "r200", "nearest"),
        (NO_LIMIT, "", "r20000", "r20000", ""),
        (NO_LIMIT, "", "r20001", "r20000", "nearest"),
        (NO_LIMIT, "", "r999999999999999", "r20000", "nearest"),
        (NO_LIMIT, "", "r9999999999999999", "c", "no action"),
        (NO_LIMIT, "", "r", "c", "no action"),
        (NO_LIMIT, "", "r-5", "c", "no action"),
        (NO_LIMIT, "cr300", "r450", "r500", "nearest"),
        (NO_LIMIT, "cr300c/", "r350", "r400", "nearest"),
        (NO_LIMIT, "cr300c/", "r900", "r900", ""),
        (NO_LIMIT, "cr300c/", "f", "c", "a fold for nothing"),
        (NO_LIMIT, "cr300c/r900", "r1400", "r1500", "nearest"),
        (NO_LIMIT, "r20000", "r20000", "c", "none is legal"),
        (NO_LIMIT, "r20000", "f", "f", ""),
    ],
)
def test_an_answer_becomes_legal(
    game: GameDef, betting: str, answer: str, played: str, says: str
) -> None:
    table = at(game, betting)
    kind, to, changed = settled(table, answer)
    assert action_text(table, kind, to) == played
    assert says in changed
    assert bool(changed) is bool(says)
    act(table.rows[0], table.terms, kind, to)


def test_a_street_has_room_for_sixty_four_actions() -> None:
    """Programs of the competition can hold no more: the last raise leaves room for all to call."""
    deep = GameDef(Game("nolimit", 1, 2, rules="acpc"), (2, 1), (10**6, 10**6))
    table = dealt(deep, 0, 0)
    played = 0
    for _ in range(80):
        kind, to, changed = settled(table, f"r{1 + 2 * played}")
        if kind == CALL:
            break
        act(table.rows[0], table.terms, kind, to)
        played += 1
    assert (played, changed) == (63, "a raise where none is legal, changed to a call")


# --- any hand, any text -------------------------------------------------------------------------


@st.composite
def games(draw: st.DrawFn) -> GameDef:
    seats = draw(st.integers(2, 10))
    betting = draw(st.sampled_from(["limit", "nolimit"]))
    stacks = tuple(draw(st.lists(st.integers(1, 400), min_size=seats, max_size=seats)))
    posts = (10, 5) if seats == 2 else (5, 10, *(0,) * (seats - 2))
    sizes = (10, 10, 20, 20) if betting == "limit" else None
    return GameDef(Game(betting, 5, 10, bet_sizes=sizes, rules="acpc"), posts, stacks)


def seen(table: Table, position: int) -> list[Any]:
    """A table apart from its cards, and what it tells a position."""
    row = table.rows[0].copy()
    row[HOLE : HOLE + 20] = row[BOARD : BOARD + 5] = row[STRENGTH : STRENGTH + 10] = 0
    return [row.tolist(), states_of(table, 3)[position]]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(game=games(), deal=st.integers(0, 1000), data=st.data())
def test_states_stand_for_tables(game: GameDef, deal: int, data: st.DataObject) -> None:
    """Every state of a hand is read back, and gives the table again, at once or followed."""
    assert read_gamedef(gamedef_text(game)) == game
    table = dealt(game, deal, 1)
    position = data.draw(st.integers(0, table.seats - 1))
    last, mine = None, None
    for _ in range(200):
        state = states_of(table, 3)[position]
        assert MatchState.read(state.text) == state
        found = table_of(state, game)
        if last is None or mine is None:
            mine = found
        else:
            follow(mine, last, state)
        last = state
        # Payoffs too: the end is told with the cards of all who showed them.
        assert seen(found, position) == seen(mine, position) == seen(table, position)
        if table.over:
            break
        legal = table.legal()
        answers = ["c", "f"] + [f"r{data.draw(st.integers(0, 900))}"] * bool(legal.raise_to)
        kind, to, _ = settled(table, data.draw(st.sampled_from(answers)))
        assert kind != FOLD or legal.fold
        assert kind != RAISE or legal.raise_from <= to <= legal.raise_to
        act(table.rows[0], table.terms, kind, to)
    assert table.over


@settings(max_examples=150, deadline=None)
@given(text=st.text() | st.text("MATCHSE:|/0123456789fcrAhKdTs", max_size=60))
def test_any_text_is_a_state_or_refused(text: str) -> None:
    for line in (text, f"MATCHSTATE:1:0:{text}", f"MATCHSTATE:1:0:{text}:|AhKd"):
        try:
            table_of(MatchState.read(line), NO_LIMIT)
        except BadValue as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 2_000
    for game in (LIMIT, NO_LIMIT):
        table = at(game, "c")
        kind, to, _ = settled(table, text)
        act(table.rows[0], table.terms, kind, to)
    speaks_ours(text)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_state_that_is_damaged(data: st.DataObject) -> None:
    text = "MATCHSTATE:1:7:cr300c/r900c/cc/r1900c:AcAd|AhKd/Ts4c2h/2d/2s"
    place = data.draw(st.integers(11, len(text)))
    length = data.draw(st.integers(0, 3))
    added = data.draw(st.text("fcr/:|0123456789AhKdQs", max_size=3))
    try:
        table = table_of(MatchState.read(text[:place] + added + text[place + length :]), NO_LIMIT)
    except BadValue:
        return
    assert abs(sum(table.payoffs)) < 1e-6


# --- game definitions ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_games_are_for_the_original_dealer_too(name: str) -> None:
    """More than four seats need a stack line there, and every game needs its first players."""
    text = SHIPPED_TEXTS[name]
    definition = load_game(name.removesuffix(".game"))
    assert definition == SHIPPED[name] == load_game(name)
    assert f".{len(definition.posts)}p" in name
    assert definition.game.betting in name
    assert "firstPlayer" in text
    assert "stack = " in text or len(definition.posts) <= 4
    deepest = max(definition.stacks) * len(definition.stacks)
    assert deepest < 2**31


def test_all_numbers_of_seats_ship() -> None:
    seats = {(one.game.betting, len(one.posts)) for one in SHIPPED.values()}
    assert seats == {(betting, n) for betting in ("limit", "nolimit") for n in (2, 3, 6, 9)}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("maxRaises = 3 4 4 4", "maxRaises = 2 4 4 4", "maxRaises is 2 4 4 4"),
        ("firstPlayer = 2 1 1 1\n", "", "firstplayer of the game is"),
        ("blind = 10 5", "blind = 10 5\nstack = 0 100", "a stack is 0"),
        ("blind = 10 5", "blind = 10 5\nstack = 100", "1 stacks for 2"),
        ("END", "\udcff", "not a game definition"),
    ],
)
def test_a_definition_that_cannot_be_played(tmp_path: Any, old: str, new: str, says: str) -> None:
    path = tmp_path / "own.game"
    text = SHIPPED_TEXTS["holdem.limit.2p.reverse_blinds.game"].replace(old, new)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadValue, match=says):
        load_game(str(path))


def test_a_definition_with_more_in_its_file(tmp_path: Any) -> None:
    path = tmp_path / "own.game"
    text = SHIPPED_TEXTS["holdem.limit.2p.reverse_blinds.game"]
    path.write_text(
        "# mine\n\n" + text.replace("3 4 4 4", "255 255 255 255") + "and what follows\n"
    )
    assert load_game(str(path)).game.cap is None
    with pytest.raises(NoSuchName, match=r"holdem.limit.2p.reverse_blinds.game, holdem.limit.3p"):
        load_game("holdem.limit.5p.game")


# --- lines --------------------------------------------------------------------------------------


@pytest.fixture
def wire() -> Any:
    """A connection, and the bare socket at its other end."""
    near, far = socket.socketpair()
    lines = Lines(near)
    yield lines, far
    far.close()
    lines.close()


def soon(seconds: float = 300.0) -> float:
    return time.monotonic() + seconds


def test_lines_end_in_either_way(wire: Any) -> None:
    lines, far = wire
    far.sendall(b"one\r\ntwo\nthr\xffee\r\n\r\nfour")
    assert [lines.read(soon()) for _ in range(4)] == ["one", "two", "thr\xffee", ""]
    with pytest.raises(Silent):
        lines.read(soon(0.05))
    far.sendall(b"teen\n")
    assert lines.read(soon()) == "fourteen"
    far.close()
    with pytest.raises(Gone):
        lines.read(soon())
    with pytest.raises(Gone):
        for _ in range(10):
            lines.send("x" * 1000, soon())


def test_a_long_line_is_told_once_for_each_piece_and_dropped(wire: Any) -> None:
    lines, far = wire
    sent = b"a" * (5 * LONGEST) + b"\nnext\n"
    writer = threading.Thread(target=far.sendall, args=(sent,), daemon=True)
    writer.start()
    found = []
    while not found or found[-1] is None:
        found.append(lines.read(soon()))
        assert len(found) < 10
    writer.join(300)
    assert found[-1] == "next"
    assert 2 <= len(found) <= 6


def test_nobody_waits_for_who_does_not_read(wire: Any) -> None:
    lines, _ = wire
    deadline = soon(0.2)
    with pytest.raises(Silent):
        for _ in range(10_000):
            lines.send("x" * 10_000, deadline)
