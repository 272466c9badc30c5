"""Bots that ask other bots: `switch` and `honest-river`, in matches and everywhere bots play."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cbr import CbrError
from cbr.plugging import default_plugins
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.spec import Spec
from cbr_arena import (
    CALL,
    FOLD,
    RAISE,
    Chance,
    Match,
    Sitting,
    build,
    pieces_played,
    play,
    players_of,
    write_log,
)
from cbr_arena.acpc.mind import Mind
from cbr_arena.match import Played
from cbr_arena.players import is_guest, specs_inside
from cbr_bots.loki import Loki
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, HISTORY, HOLE, MOVES, STREET, Game, Table, unpacked

GAME = Game()


def hands_of(specs: list[str], hands: int, **options: Any) -> list[np.ndarray]:
    """The tables at the end of each hand of one session, one hand after the other."""
    match = Match(players_of(specs), seed=options.pop("seed", 0), **options)
    room = match.room()
    room.begin(1)
    rows = []
    for deal in range(hands):
        deals, way = np.array([deal]), np.zeros(1, np.int64)
        rows.append(room.play(Sitting(deals, match.seating(deals, way), np.zeros(1, np.int64)))[0])
    assert not room.faults
    return rows


def moves_of(row: np.ndarray, seat: int) -> list[int]:
    """The kinds of the moves of a seat."""
    moves = [unpacked(int(move)) for move in row[HISTORY : HISTORY + row[MOVES]]]
    return [kind for _, who, kind, _ in moves if who == seat]


# Switch


def test_switch_plays_as_each_bot_in_turn() -> None:
    rows = hands_of(["switch:call,raise,fold?every=3", "call"], 20)
    for deal, row in enumerate(rows):
        mine = moves_of(row, deal % 2)
        expected = [CALL, RAISE, FOLD][deal // 3 % 3]
        assert mine, deal
        if expected == CALL:
            assert set(mine) == {CALL}
        elif expected == RAISE:
            assert RAISE in mine
        else:  # a fold, or checks where they are free
            assert RAISE not in mine


def test_switch_decides_as_the_bot_alone_in_each_phase() -> None:
    switched = hands_of(["switch:lag,loki?every=4", "call", "random"], 24, seed=3)
    alone = {name: hands_of([name, "call", "random"], 24, seed=3) for name in ("lag", "loki")}
    differ = 0
    for deal, row in enumerate(switched):
        now, other = ("lag", "loki")[:: 1 if deal // 4 % 2 == 0 else -1]
        np.testing.assert_array_equal(row, alone[now][deal])
        differ += not np.array_equal(row, alone[other][deal])
    assert differ > 8


def test_hands_are_counted_in_the_session() -> None:
    match = Match(players_of(["switch:call,raise?every=2", "fold"]), hands=12, session=5)
    room = match.room()
    room.begin(2)
    for deal in range(3):
        deals = np.array([deal, 5 + deal])
        sitting = Sitting(deals, match.seating(deals, np.zeros(2, np.int64)), np.array([0, 1]))
        room.play(sitting)
    [memory, nothing] = room.memory
    assert nothing is None
    assert memory is not None
    assert memory["hands"].tolist() == [3, 3]
    assert room.bots[0].turn(memory, 2).tolist() == [1, 1]
    room.begin(2)
    assert room.memory[0]["hands"].tolist() == [0, 0]  # type: ignore[index]


def test_the_result_does_not_depend_on_pieces_or_company() -> None:
    match = Match(
        players_of(["switch:loki,waterman?every=3", "lag", "switch:call,raise?every=4"]),
        hands=72,
        session=8,
        seed=2,
        keep_hands=True,
    )
    whole = play(match)
    by_session = Played.together(list(pieces_played(match, piece=8)))
    np.testing.assert_array_equal(whole.won, by_session.won)
    assert sorted(whole.hands) == sorted(by_session.hands)


def test_only_the_bot_that_played_a_hand_remembers_it() -> None:
    every, hands = 4, 16
    match = Match(players_of([f"switch:waterman,call?every={every}", "lag"]), seed=7)
    alone = Match(players_of(["waterman", "lag"]), seed=7)
    rooms = match.room(), alone.room()
    for room in rooms:
        room.begin(1)
    session = np.zeros(1, np.int64)
    for deal in range(hands):
        deals = np.array([deal])
        sitting = Sitting(deals, match.seating(deals, session), session)
        rows = rooms[0].play(sitting)
        if deal // every % 2 == 0:
            np.testing.assert_array_equal(rows, rooms[1].play(sitting))
    kept, expected = rooms[0].memory[0], rooms[1].memory[0]
    assert kept is not None
    assert expected is not None
    assert kept["bot0"].tobytes() == expected.tobytes()
    assert expected.tobytes().strip(b"\0")
    assert "bot1" not in kept.dtype.names


def test_blocks_are_dependent_only_if_a_bot_inside_remembers() -> None:
    for inside, remembers in (("call,raise", False), ("waterman,call", True)):
        match = Match(players_of([f"switch:{inside}?every=2", "lag"]), hands=40, session=10)
        assert (play(match).session is not None) == remembers


# Honest river


def tables(street: int, faced: bool) -> tuple[np.ndarray, np.ndarray]:
    """Tables on a street where one player has every kind of hand, and whether it is one of the
    worse half; `faced`: after a bet."""
    rows, weak = [], []
    board = "2s 7d 9h Jc 3d"
    holes = ["AhAs", "7h7s", "KdQd", "5h4c", "JhTs", "4c5d", "9c8c", "AdKc", "2h4h", "Th8h"]
    for hole in holes:
        table = Table(GAME, [1000] * 2, f"{hole} 6h6c", board)
        while table.rows[0, STREET] < street:
            table.play("c")
        if faced:
            while table.rows[0, ACTOR] == 0:
                table.play("c")
            table.play("r")
        assert table.rows[0, STREET] == street
        while table.rows[0, ACTOR] != 0:
            table.play("c")
        assert table.rows[0, STREET] == street
        rows.append(table.rows[0].copy())
    situations = Pending(np.array(rows), GAME, np.arange(len(rows)))
    weak = situations.standing() < 0.5
    assert 2 < weak.sum() < len(rows) - 2
    return np.array(rows), weak


@pytest.mark.parametrize("faced", [False, True])
def test_only_the_better_half_bets_the_river(faced: bool) -> None:
    bot = build("honest-river:(triple:0.1,0.3,0.6)", "limit")
    rows, weak = tables(3, faced)
    situations = Pending(rows, GAME, np.arange(len(rows)))
    chance = Chance(0, np.arange(len(rows)), rows[:, ACTOR], rows[:, MOVES])
    found = bot.act(situations, None, chance).shares
    own = build("triple:0.1,0.3,0.6", "limit").act(situations, None, chance).shares
    assert (own[:, RAISE] > 0.5).all()
    np.testing.assert_array_equal(found[~weak], own[~weak])
    assert (found[weak, RAISE] == 0).all()
    np.testing.assert_allclose(found[weak, CALL], own[weak, CALL] + own[weak, RAISE])
    np.testing.assert_array_equal(found[weak, FOLD], own[weak, FOLD])


def test_before_the_river_it_is_the_bot_itself() -> None:
    bot, own = build("honest-river:raise", "limit"), build("raise", "limit")
    rows, _ = tables(2, faced=False)
    situations = Pending(rows, GAME, np.arange(len(rows)))
    chance = Chance(0, np.arange(len(rows)), rows[:, ACTOR], rows[:, MOVES])
    assert (own.act(situations, None, chance).kind == RAISE).all()
    assert (bot.act(situations, None, chance).shares == [0, 0, 1]).all()


def test_the_better_half_includes_one_half() -> None:
    # The board is the best hand for everybody: all tie, and strength is exactly 0.5.
    table = Table(GAME, [1000] * 2, "2h3d 4h5d", "As Ks Qs Js Ts")
    while table.rows[0, STREET] < 3:
        table.play("c")
    situations = Pending(table.rows, GAME, np.zeros(1, np.int64))
    assert situations.standing().tolist() == [0.5]
    chance = Chance(0, np.zeros(1, np.int64), table.rows[:, ACTOR], table.rows[:, MOVES])
    found = build("honest-river:raise", "limit").act(situations, None, chance)
    assert found.shares.tolist() == [[0, 0, 1]]


def test_no_weak_hand_bets_the_river_of_a_match() -> None:
    seen = {"honest": 0, "bluffs": 0}
    for name, spec in (("honest", "honest-river:lag"), ("bluffs", "lag")):
        for deal, row in enumerate(hands_of([spec, "call"], 300, seed=5)):
            seat = deal % 2
            row = row.copy()
            row[ACTOR], row[STREET] = seat, 3
            moves = [unpacked(int(move)) for move in row[HISTORY : HISTORY + row[MOVES]]]
            if any(who == seat and kind == RAISE and s == 3 for s, who, kind, _ in moves):
                strength = Pending(row[None], GAME, np.zeros(1, np.int64)).standing()[0]
                seen[name] += strength < 0.5
    assert seen["honest"] == 0
    assert seen["bluffs"] > 3


# Specs


def test_options_of_a_bot_inside() -> None:
    for spec in (
        "switch:(loki?style=tight&model=frequencies),(triple:0.2,0.5,0.3)?every=7",
        "switch?bots=loki?style=tight;model=frequencies,(triple:0.2,0.5,0.3)&every=7",
    ):
        bot = build(spec, "limit")
        assert [one.spec for one in bot.inner] == [
            "loki?style=tight&model=frequencies",
            "triple:0.2,0.5,0.3",
        ]
        assert bot.every == 7
        assert isinstance(bot.inner[0].bot, Loki)
    deep = "switch:(honest-river:(loki?style=tight)),(switch:call,raise?every=3)?every=50"
    assert specs_inside(deep) == ["honest-river:(loki?style=tight)", "switch:call,raise?every=3"]
    assert build(deep, "limit").inner[1].bot.every == 3
    names = [player.name for player in players_of([f"{deep}*2", "(switch:call,fold)*2"])]
    assert names == [deep, f"{deep} #2", "switch:call,fold", "switch:call,fold #2"]


def test_games_are_those_that_all_bots_inside_play(plugin_file: Any) -> None:
    assert build("switch:lag,call", "nolimit").games == ("limit", "nolimit")
    assert build("honest-river:loki", "limit").games == ("limit",)
    with pytest.raises(CbrError, match=r"'switch:loki,call' plays limit, not nolimit"):
        build("switch:loki,call", "nolimit")
    use_plugins(Plugins().load([plugin_file(DEEP)]))
    with pytest.raises(CbrError, match=r"no game that all bots inside play: 'loki' limit, 'deep'"):
        build("switch:loki,deep", "limit")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("switch", "'switch' needs its bots: write switch:BOTS"),
        ("switch:loki", "switch:loki needs 2 bots or more: switch:BOT1,BOT2"),
        ("switch:loki,", "switch:loki, needs 2 bots or more"),
        ("switch:loki,nobody", "no bot 'nobody'"),
        ("switch:call,raise?every=0", "switch?every=0 must be 1 to 1,000,000,000 hands"),
        ("switch:call,raise?every=-3", "switch?every=-3 must be 1 to"),
        ("switch:call,raise?every=1.5", "every of 'switch' is 1.5; it must be a whole number"),
        ("switch:call,raise?hands=3", "no parameter of 'switch' named 'hands'"),
        ("switch:call,(loki?style=wild)", "no style of loki 'wild'"),
        ("switch:switch,call", "'switch' needs its bots"),
        ("switch:call,their.py:shy", "'their.py:shy' is in a file and inside of 'switch'"),
        ("honest-river", "'honest-river' needs its bot"),
        ("honest-river:nobody", "no bot 'nobody'"),
        ("honest-river:call,raise", "names 2 bots; it plays as one"),
        ("honest-river:" * 50 + "call", "has bots inside of bots, more than 3 deep"),
        ("honest-river:" * 5000 + "call", "has bots inside of bots, more than 3 deep"),
        ("(" * 5000 + "switch", "no bot"),
    ],
)
def test_bad_input_is_one_sentence(spec: str, says: str, cbr: Any) -> None:
    answer = cbr("match", spec, "call", "--hands", 2)
    assert answer.code == 2
    assert says in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    with pytest.raises(CbrError):
        build(spec, "limit")


# Bots that fail, and bots of others

DEEP = """
import os
import numpy as np
from cbr_arena import RAISE, Triples, bot

@bot("deep", games=("nolimit",))
class Deep:
    def act(self, view):
        return "c"

@bot("broken")
class Broken:
    memory = None
    def act(self, situations, memory, chance):
        raise ValueError("no idea")

@bot("wild")
class Wild:
    memory = None
    def act(self, situations, memory, chance):
        return np.full(situations.count, RAISE)

@bot("unlikely")
class Unlikely:
    memory = None
    def act(self, situations, memory, chance):
        return Triples(np.full((situations.count, 3), np.nan))

@bot("short")
class Short:
    def __init__(self):
        self.hands = 0
    def act(self, view):
        self.hands += 1
        open(os.environ["NOTE"], "a").write(f"{os.getpid()} {type(view).__name__} {self.hands}\\n")
        return "c"
"""


def test_a_bot_that_fails_inside_spoils_no_other(plugin_file: Any) -> None:
    use_plugins(Plugins().load([plugin_file(DEEP)]))
    for inside, reason in (
        ("broken", "ValueError: no idea"),
        ("unlikely", "shares of fold, call and raise must be 0 or more"),
        ("wild", "an action that is not legal"),
    ):
        match = Match(players_of([f"switch:call,{inside}?every=1", "raise"]), hands=8, session=4)
        room = match.room()
        room.begin(2)
        deals, session = np.array([0, 1]), np.array([0, 1])
        seating = match.seating(deals, np.zeros(2, np.int64))
        room.play(Sitting(deals[:1], seating[:1], session[:1]))
        assert not room.faults
        # Now the first session plays as the bot that fails, the second as the one that calls.
        rows = room.play(Sitting(deals, seating, session))
        assert all(player == 0 and reason in why for player, why in room.faults), room.faults
        assert room.faults
        assert set(moves_of(rows[1], 1)) == {CALL}


def test_bots_of_others_inside_are_guests(
    plugin_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    monkeypatch.setenv("NOTE", str(note))
    use_plugins(Plugins().load([plugin_file(DEEP)]))
    assert is_guest("switch:call,short")
    assert is_guest("honest-river:honest-river:short")
    assert not is_guest("switch:call,honest-river:lag")
    found = play(Match(players_of(["switch:call,short?every=1", "call"]), hands=8, session=4))
    assert not found.faults
    lines = [line.split() for line in note.read_text().splitlines()]
    assert {pid for pid, _, _ in lines} == {str(os.getpid())}
    # An instance for each session.
    assert {int(hands) for _, _, hands in lines} > {1, 2}


@pytest.mark.long
def test_isolated_bots_inside_play_in_a_process_of_their_own(
    plugin_file: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "note"
    monkeypatch.setenv("NOTE", str(note))
    use_plugins(Plugins().load([plugin_file(DEEP)]))
    match = Match(players_of(["switch:call,short?every=1", "lag"]), hands=8, session=4)
    apart = Match(match.players, hands=8, session=4, isolate=True)
    expected, found = play(match), play(apart)
    np.testing.assert_array_equal(found.won, expected.won)
    assert not found.faults
    pids = [line.split()[0] for line in note.read_text().splitlines()]
    assert str(os.getpid()) in pids
    assert len(set(pids)) > 1


# Wherever bots play


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from cbr.building import build as build_casebase

    folder = tmp_path_factory.mktemp("nested")
    log, out = folder / "log.phhs", folder / "limit.db"
    match = Match(players_of(["miniloki*2", "lag"]), 150, seed=5, duplicate=False, keep_hands=True)
    write_log(play(match).hands, log)
    build_casebase([log], out, plugins=default_plugins())
    return out


def test_as_opponents_in_evolution(base: Path) -> None:
    from cbr_casper.evolution_arena import ARENA

    spec = "holdem?against=(switch:call,raise?every=2),honest-river:lag&block=6"
    contest = ARENA.contest(base, Spec.parse(spec), 1, False)
    changed = ARENA.contest(base, Spec.parse(spec.replace("every=2", "every=9")), 1, False)
    from cbr.evolve import Genome
    from cbr.store import Casebase

    with Casebase.open(base) as opened:
        weights = np.array([Genome.of(opened).row(opened)])
    scores = contest.play(weights, 3, 1)
    np.testing.assert_array_equal(scores, contest.play(weights, 3, 1))
    np.testing.assert_array_equal(scores[:, :2], contest.play(weights, 2, 1))
    assert not np.array_equal(scores, changed.play(weights, 3, 1))


def test_with_a_casebase_inside(base: Path, tmp_path: Path) -> None:
    from cbr_play.saving import Log
    from cbr_play.session import Session

    spec = f"switch:(cbr:{base}?style=casper),call?every=1"
    match = Match(players_of([spec, "lag", "lag"]), hands=18, session=6)
    found = play(match)
    assert not found.faults
    names = {name for _, name in found.figures}
    assert f"cbr:{base}?style=casper preflop similarity" in names
    session = Session(match, lambda _, view: (1, 0), Log(tmp_path / "s.phhs"))
    assert not session.explains
    session = Session(
        Match(players_of(["lag", spec, "lag"]), seed=3),
        lambda _, view: (1, 0),
        Log(tmp_path / "t.phhs"),
    )
    assert session.explains
    assert not session.play().faults
    first = [decision.advice.why for decision in session.decisions]
    assert first
    assert all(text.startswith(f"as cbr:{base}"[:20]) and "\n" in text for text in first)
    session.play()
    assert [decision.advice.why for decision in session.decisions] == ["as call"] * len(
        session.decisions
    )


def test_at_a_dealer_it_decides_as_in_a_match() -> None:
    spec = "switch:call,lag?every=2"
    mind = Mind(spec, GAME, 4)
    for hand, row in enumerate(hands_of([spec, "raise"], 8, seed=4)):
        seat, table = hand % 2, replayed(row)
        for move in row[HISTORY : HISTORY + row[MOVES]]:
            _street, who, kind, amount = unpacked(int(move))
            if who == seat:
                assert mind.act(table, hand)[0] == kind
            table.play("fcr"[kind], amount if kind == RAISE else None)
        mind.remember(table, seat)
    assert not mind.faults


def replayed(row: np.ndarray) -> Table:
    """The beginning of the hand of a finished table."""
    from cbr_holdem.cards import name
    from cbr_holdem.table import BOARD

    stack = 1_000 * GAME.big_blind
    holes = ["".join(name(int(c)) for c in row[HOLE + 2 * s : HOLE + 2 * s + 2]) for s in range(2)]
    board = " ".join(name(int(card)) for card in row[BOARD : BOARD + 5])
    return Table(GAME, [stack] * 2, " ".join(holes), board)
