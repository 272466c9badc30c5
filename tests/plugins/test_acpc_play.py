"""Matches by the ACPC protocol: our bots at our dealer, over sockets, as they play without."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from acpc_peers import (
    HOST,
    PATIENCE,
    Peer,
    deal,
    finish,
    nothing_is_left,
    ours,
    program,
    says,
    warm,
)
from conftest import ROOT

from cbr.plugging.plugins import Plugins, use_plugins
from cbr_arena import Match, play, players_of
from cbr_arena.acpc import door
from cbr_arena.acpc.client import Visit
from cbr_arena.acpc.games import load_game
from cbr_holdem.table import Hand, Table
from cbr_logs import SHIPPED, GameDef, gamedef_text
from cbr_logs.acpc import parse, read

LIMIT = "holdem.limit.2p.reverse_blinds.game"
NO_LIMIT = "holdem.nolimit.3p.game"

#: Bots that remember, draw, size their raises, and fail.
BOTS = '''
from cbr_arena import bot

@bot("moody")
class Moody:
    """Bolder with every decision that it has made in the match."""

    def __init__(self):
        self.made = 0

    def act(self, view):
        self.made += 1
        if view.raise_to and view.rng.random() < 0.01 * (self.made % 40):
            return "r", min(view.raise_to, view.raise_from * (1 + self.made % 3)) if (
                view.raise_from != view.raise_to) else view.raise_from
        return "c" if view.rng.random() < 0.9 else "f"

@bot("clumsy")
class Clumsy:
    """Fails now and then, and bets what is not legal."""

    def act(self, view):
        if view.rng.random() < 0.3:
            raise ValueError("it slipped")
        return ("r", 7) if view.rng.random() < 0.2 else "c"
'''


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    with nothing_is_left():
        yield


@pytest.fixture
def bots(plugin_file: Any) -> Path:
    path: Path = plugin_file(BOTS, "moods.py")
    use_plugins(Plugins().load([path]))
    warm("moody", "lag", "random")
    return path


def in_process(
    game: GameDef, specs: Sequence[str], hands: int, seed: int, names: Sequence[str]
) -> list[Hand]:
    """The hands that bots play at the same deals without a dealer."""
    match = Match(
        [type(one)(name, one.spec) for one, name in zip(players_of(specs), names, strict=True)],
        hands=hands,
        game=game.game,
        stack=game.stacks[0],
        seed=seed,
        session=hands,
        duplicate=False,
        keep_hands=True,
    )
    return [Hand.read(text) for text in play(match).hands]


def logged(path: Path) -> list[Hand]:
    return [Hand.read(parse(raw.data)) for raw in read(path)]


def story(hand: Hand) -> tuple[Any, ...]:
    """All that a hand was, whatever its text."""
    moves = Table.of(hand).tables.history(0)
    return (hand.number, hand.players, hand.holes, hand.board, moves, hand.result)


# --- real processes -----------------------------------------------------------------------------


def started(*words: object) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", "from cbr.cli import main; main()", *map(str, words)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    """What processes said, all of which must end well and in time."""
    try:
        said = [process.communicate(timeout=600) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "specs"), [(LIMIT, ["lag", "moody"]), (NO_LIMIT, ["random", "moody", "clumsy"])]
)
def test_processes_play_as_bots_do_without_a_dealer(
    name: str, specs: list[str], bots: Path, tmp_path: Path, cbr: Any
) -> None:
    hands, seed, log = 25, 5, tmp_path / "match.log"
    words = [name, "--hands", hands, "--seed", seed, "--names", ",".join(specs), "--log", log]
    dealer = started("dealer", *words, "--start-timeout", 120, "--response-limit", 60)
    assert dealer.stdout is not None
    ports = dealer.stdout.readline().split()
    joined = [
        started(
            *("acpc", "--bot", spec, "--port", port, "--game", name, "--seed", seed, "--json"),
            *("--plugin", bots),
        )
        for spec, port in zip(specs, ports, strict=True)
    ]
    (score, _), *visits = ended([dealer, *joined])

    expected = in_process(SHIPPED[name], specs, hands, seed, specs)
    assert list(map(story, logged(log))) == list(map(story, expected))
    totals = [
        sum(hand.result[hand.players.index(spec)] for hand in expected if hand.result)
        for spec in specs
    ]
    won = "|".join(f"{total:.6f}".rstrip("0").rstrip(".") for total in totals)
    assert score == f"SCORE:{won}:{'|'.join(specs)}\n"
    assert log.read_text().endswith(score)
    for (out, err), total, spec in zip(visits, totals, specs, strict=True):
        said = json.loads(out)
        assert (said["hands"], said["won"], said["whole"]) == (hands, pytest.approx(total), True)
        assert bool(said["faults"]) is (spec == "clumsy")
        used = said["seconds"]
        assert 0 < used["mean"] <= used["most"]
        assert used["p99"] <= used["most"]
        assert said["decisions"] >= hands // 2
        assert ("it slipped" in err) is (spec == "clumsy")

    built = cbr("build", log, "--out", tmp_path / "match.db", "--json")
    assert (built.json["records"], built.json["skipped"]) == (hands, {})
    assert (tmp_path / "match.game").is_file()


# --- every number of seats ----------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 6, 9, 10])
@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_games_of_all_sizes(betting: str, seats: int, bots: Path, tmp_path: Path) -> None:
    """Programs and bots of the house, at the same deals as without a dealer."""
    if seats == 10:
        nine = SHIPPED[f"holdem.{betting}.9p.game"]
        own = GameDef(nine.game, (*nine.posts, 0), (*nine.stacks, nine.stacks[0]))
        (tmp_path / "own.game").write_text(gamedef_text(own))
        game = load_game(str(tmp_path / "own.game"))
    else:
        game = load_game(f"holdem.{betting}.{seats}p" + ".reverse_blinds" * (seats == 2))
    specs = (["moody", "random", "lag", "call", "clumsy"] * 2)[:seats]
    away, hands = 2, 4
    scripts = [ours(spec, game, 9) for spec in specs[:away]]
    outcome, log, visits = deal(game, scripts, specs[away:], hands=hands, seed=9)
    assert (outcome.hands, outcome.ended, outcome.warnings) == (hands, "", {})
    names = [f"p{place + 1}" for place in range(seats)]
    expected = in_process(game, specs, hands, 9, names)
    found = [
        Hand.read(parse((game, line.encode())))
        for line in log.splitlines()
        if line.startswith("STATE")
    ]
    assert list(map(story, found)) == list(map(story, expected))
    assert [visit.won for visit in visits] == pytest.approx(outcome.totals[:away])
    assert abs(sum(outcome.totals)) < 1e-6


def test_what_a_program_hears() -> None:
    """Every state of every hand, its own cards only, with CR LF; positions move on."""
    game = SHIPPED[LIMIT]
    outcome, log, [heard] = deal(game, [program(game, says("c"))], ["call"], hands=2)
    assert [line.split(":")[1:4] for line in heard] == [
        *(["0", "0", betting] for betting in WALK),
        *(["1", "1", betting] for betting in WALK),
    ]
    assert all(line.count("|") == 1 for line in heard)
    hole = heard[0].split(":")[4].strip("|")
    assert all(line.split(":")[4].startswith(f"{hole}|/") for line in heard[2:8])
    assert log.splitlines()[0].startswith(f"STATE:0:cc/cc/cc/cc:{hole}|")
    assert outcome.hands == 2


WALK = ["", "c", "cc/", "cc/c", "cc/cc/", "cc/cc/c", "cc/cc/cc/", "cc/cc/cc/c", "cc/cc/cc/cc"]


# --- the commands -------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["dealer", "holdem.limit.4p"], "no game definition 'holdem.limit.4p'; did you mean"),
        (["dealer", LIMIT, "--bot", "call*3"], "3 bots are named, and the game has 2 seats"),
        (["dealer", LIMIT, "--bot", "nobody"], "no bot 'nobody'"),
        (["dealer", LIMIT, "--names", "a"], "1 names, and the game has 2 seats"),
        (["dealer", LIMIT, "--names", "a,a"], "twice"),
        (["dealer", LIMIT, "--names", "a,b:c"], "cannot be a name in a match log"),
        (["dealer", LIMIT, "--hands", "0"], "--hands"),
        (["dealer", LIMIT, "--response-limit", "nan"], "response-limit"),
        (["dealer", LIMIT, "--average-limit", "1e9"], "at most 1,000,000 s"),
        (["dealer", LIMIT, "--port", "65535"], "no 2 ports from 65535"),
        (["dealer", LIMIT, "--host", "a" * 70], "cannot listen"),
        (["dealer", LIMIT, "--log", "match.txt"], "FILE.log"),
        (["dealer", LIMIT, "--log", "no/where.log"], "no is no folder"),
        (["acpc", "--bot", "call", "--port", "1", "--game", "x.game"], "no game definition"),
        (["acpc", "--bot", "loki", "--port", "1", "--game", NO_LIMIT], "plays limit, not nolimit"),
    ],
)
def test_a_wrong_command_is_one_sentence(
    words: list[str], says: str, cbr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cbr(*words, *(["--start-timeout", 0.2] if words[0] == "dealer" else []))
    assert answer.code == 2
    assert says in answer.err
    assert answer.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_spares_the_log(cbr: Any, tmp_path: Path) -> None:
    log = tmp_path / "old.log"
    log.write_text("an earlier match\n")
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        answer = cbr("dealer", LIMIT, "--port", port, "--log", log)
    assert answer.code == 2
    assert f"cannot listen at 127.0.0.1 port {port}" in answer.err
    assert log.read_text() == "an earlier match\n"


def test_programs_can_connect_while_bots_are_loaded(
    cbr: Any, plugin_file: Any, tmp_path: Path
) -> None:
    """The bot is complete only when somebody has connected; an earlier log survives if it fails."""
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
    file = plugin_file(
        "import socket\n"
        "from cbr_arena import bot\n"
        '@bot("patient")\n'
        "class Patient:\n"
        "    def __init__(self):\n"
        f"        socket.create_connection(({HOST!r}, {port})).close()\n"
        "        raise ValueError('it was let in')\n"
        "    def act(self, view):\n"
        "        return 'c'\n",
        "patient.py",
    )
    log = tmp_path / "old.log"
    log.write_text("an earlier match\n")
    words = ("dealer", LIMIT, "--port", port, "--bot", "patient", "--log", log, "--plugin", file)
    answer = cbr(*words)
    assert answer.code == 2
    assert answer.out == f"{port}\n"
    assert "it was let in" in answer.err
    assert log.read_text() == "an earlier match\n"


def test_how_long_decisions_took() -> None:
    used = Visit(seconds=array("d", [0.004] + [0.001] * 98 + [0.002])).seconds_used
    assert used == {"mean": pytest.approx(0.00104), "p99": 0.002, "most": 0.004}
    assert Visit().seconds_used is None


def test_a_definition_can_be_had(cbr: Any, tmp_path: Path) -> None:
    answer = cbr("dealer", "holdem.limit.9p", "--show")
    path = tmp_path / "copy.game"
    path.write_text(answer.out)
    assert load_game(str(path)) == SHIPPED["holdem.limit.9p.game"]


def test_a_copy_under_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`cbr dealer NAME --show > NAME`: the shell has made the file before it is looked for."""
    monkeypatch.chdir(tmp_path)
    Path(LIMIT).touch()
    assert load_game(LIMIT) == SHIPPED[LIMIT]


@pytest.mark.long
def test_the_commands_of_the_page_work(
    cbr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "how-to" / "join-a-competition.md").read_text("utf-8")
    for name in re.findall(r"`(holdem\S+?\.game)`", page):
        assert name in SHIPPED
    found = re.findall(r"```(?:console|sh)\n(cbr .*?)```", page, re.S)[:3]
    blocks = [block.replace("\\\n", " ") for block in found]
    first, second, third = (shlex.split(block)[1:] for block in blocks)
    assert cbr(*third[: third.index(">")]).code == 0
    monkeypatch.chdir(tmp_path)
    with socket.create_server((HOST, 0)) as server:
        port = str(server.getsockname()[1])
    here = {"20001": port, "3000": "20"}
    dealer = started(*(here.get(word, word) for word in first))
    answer = cbr(*(here.get(word, word) for word in second), "--connect-timeout", 60)
    [(out, _)] = ended([dealer])
    assert answer.code == 0, answer.err
    assert "20 hands" in answer.out
    assert out.startswith(f"{port}\nSCORE:")
    assert len(logged(tmp_path / "match.log")) == 20


def test_a_match_of_the_house(cbr: Any, tmp_path: Path) -> None:
    """Without programs there is nothing to wait for; the log names bots so that it can be read."""
    log = tmp_path / "my match.log"
    words = ["dealer", "holdem.limit.6p", "--hands", 20, "--bot", "triple:0.1,0.6,0.3*3"]
    words += ["--bot", "call*3", "--log", log]
    answer = cbr(*words)
    assert answer.code == 0
    names = ["triple=0.1,0.6,0.3", "triple=0.1,0.6,0.3#2", "triple=0.1,0.6,0.3#3"]
    assert answer.out.endswith(f":{'|'.join([*names, 'call', 'call#2', 'call#3'])}\n")
    head = log.read_text().splitlines()[:4]
    assert head == [
        "# name/game/hands/seed my_match my_match.game 20 0",
        "#--t_response 600000",
        "#--t_hand 600000",
        "#--t_per_hand 7000",
    ]
    assert len(logged(log)) == 20
    assert cbr(*words).out == answer.out
    other = [LIMIT if word == "holdem.limit.6p" else word for word in words]
    taken = cbr(*other[:4], "--bot", "call*2", "--log", log)
    assert (taken.code, "is another game" in taken.err) == (2, True)
    assert len(logged(log)) == 20


def test_the_score_as_json(cbr: Any) -> None:
    said = cbr("dealer", LIMIT, "--hands", 10, "--bot", "call*2", "--json").json
    assert (said["hands"], said["ended"]) == (10, None)
    assert [player["name"] for player in said["players"]] == ["call", "call#2"]
    assert sum(player["won"] for player in said["players"]) == 0


def test_a_bot_that_fails_plays_on(cbr: Any, bots: Path) -> None:
    """At a dealer as in a match: a check or fold is sent, and the faults are told."""
    game = SHIPPED[NO_LIMIT]
    listening = door.listen(HOST, 0, 3)
    ports = [server.getsockname()[1] for server in listening]
    others = [Peer(program(game, says("c")), port) for port in ports[1:]]
    table = threading.Thread(target=_deal_at, args=(listening, game), daemon=True)
    table.start()
    answer = cbr(
        *("acpc", "--bot", "clumsy", "--port", ports[0], "--game", NO_LIMIT, "--timeout", 10),
        *("--plugin", bots),
    )
    table.join(PATIENCE)
    finish(others)
    assert answer.code == 0, answer.err
    assert f"clumsy at 127.0.0.1 port {ports[0]}: 20 hands, " in answer.out
    assert "faults: " in answer.err
    assert "it slipped" in answer.err


def _deal_at(listening: Sequence[socket.socket], game: GameDef) -> None:
    import io

    from cbr_arena.acpc.dealer import play_match
    from cbr_arena.acpc.log import MatchLog
    from cbr_arena.acpc.seats import Limits, Remote

    names = ["a", "b", "c"]
    seats = [Remote(one, Limits(), 20) for one in door.welcome(listening, names, PATIENCE)]
    play_match(game, seats, names, 20, 1, MatchLog(io.StringIO()))
