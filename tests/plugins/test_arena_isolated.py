"""Bots in processes of their own: honest ones play as they do elsewhere, and hostile ones lose."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cbr import BadValue
from cbr.errors import PluginFailure
from cbr.plugging.plugins import Plugins, use_plugins
from cbr_arena import Figure, Match, Played, lines_of, play, players_of
from cbr_arena.apart import outside, wire
from cbr_arena.apart.wire import Answer, Unreadable, Wire

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)


def played(*specs: str, hands: int = 40, **options: Any) -> Played:
    return play(Match(players_of(specs), hands=hands, isolate=True, **options))


def load(plugin_file: Any, text: str) -> Path:
    path: Path = plugin_file(text, "theirs.py")
    use_plugins(Plugins().load([path]))
    return path


def same(one: Played, other: Played) -> bool:
    names = ("won", "squares", "counts", "pots", "faults", "hands", "figures", "session", "luck")
    return all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in ((getattr(one, name), getattr(other, name)) for name in names)
    )


HONEST = """
import numpy as np
from cbr_arena import Actions, Figure, Triples, bot
from cbr_holdem.table import PAYOFF

@bot("fast")
class Fast:
    memory = None
    def act(self, situations, memory, chance):
        u = chance.random()
        return Actions(np.where(u < 0.1, 0, np.where(u < 0.7, 1, 2)), situations.raise_from)

class Figures:
    n = 0
    def take(self):
        n, self.n = self.n, 0
        return {"asked": Figure(float(n), 2.0 * n)}

@bot("learner")
class Learner:
    memory = np.dtype([("n", np.int64), ("won", np.int64)])
    def __init__(self):
        self.figures = Figures()
    def act(self, situations, memory, chance):
        self.figures.n += situations.count
        memory["n"] += 1
        p = 0.2 + 0.1 * (memory["n"] % 5) + 0.1 * (memory["won"] > 0)
        return Triples(np.stack([0 * p + 0.1, 0.9 - p, p], axis=1))
    def remember(self, tables, seats, memory):
        memory["won"] += tables[np.arange(len(seats)), PAYOFF + seats]

@bot("viewer")
class Viewer:
    def __init__(self, every=7):
        self.n, self.every = 0, every
    def act(self, view):
        self.n += 1
        if self.n % self.every == 0:
            raise ValueError("tired")
        return "r" if view.rng.random() < 0.2 and view.raise_to else {"c": 0.8, "f": 0.2}
"""


class TestHonestBots:
    @pytest.mark.long
    @pytest.mark.parametrize(
        ("specs", "options"),
        [
            (["fast", "lag"], {"adjust": "aivat", "keep_hands": True}),
            (["fast*2", "learner", "call"], {"session": 7, "hands": 48}),
            (["viewer?every=5", "learner"], {"session": 9, "hands": 60, "adjust": "aivat"}),
        ],
    )
    def test_the_result_is_the_same(self, plugin_file, specs, options) -> None:
        load(plugin_file, HONEST)
        alone = played(*specs, **options)
        together = play(Match(players_of(specs), **{"hands": 40, **options}))
        assert same(alone, together)
        assert (alone.session is None) is ("session" not in options)

    @pytest.mark.long
    def test_the_command_with_workers_and_a_file(self, cbr, plugin_file) -> None:
        """Named by its file, a bot is loaded in its own process only."""
        path = plugin_file(HONEST, "theirs.py")
        words = ["lag", "--hands", 40, "--session", 5, "--json"]
        expected = cbr("match", "learner", *words, "--plugin", path).json
        for more in (["--isolate"], ["--bot-timeout", 300, "--workers", 2]):
            found = cbr("match", "learner", *words, *more, "--plugin", path).json
            assert found == expected
        named = cbr("match", f"{path}:learner", *words, "--isolate").json
        assert named["bots"][1] == expected["bots"][1]

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["theirs.py:x"], "add --isolate"),
            (["theirs.py:x", "--isolate"], "there is no file"),
            (["lag", "--bot-timeout", 0], "give more than 0"),
            (["lag", "--bot-timeout", "nan"], "give more than 0"),
            (["lag", "--isolate", "--dask", "tcp://127.0.0.1:1"], "leave out --dask"),
        ],
    )
    def test_bad_input(self, cbr, words: list[object], says: str) -> None:
        answer = cbr("match", "call", *words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert says in answer.err

    def test_one_that_cannot_be_made(self, plugin_file) -> None:
        text = """
import os
from cbr_arena import bot
@bot("one")
class One:
    def __init__(self): raise ValueError("no")
    def act(self, view): return "c"
@bot("two")
class Two:
    def __init__(self): os._exit(4)
    def act(self, view): return "c"
"""
        load(plugin_file, text)
        with pytest.raises(PluginFailure, match="ValueError: no"):
            played("one", "call")
        with pytest.raises(PluginFailure, match="its process ended with code 4"):
            played("two", "call")
        with pytest.raises(BadValue, match="plays limit, not nolimit"):
            from cbr_holdem.table import Game

            played("sim", "call", game=Game("nolimit", 50, 100))


SPY = """
import numpy as np
from cbr_arena import CALL, Actions, bot
from cbr_holdem.cards import names

MET = {}

def look(board, hole):
    if MET.setdefault(board, hole) != hole:
        raise LookupError("this deal again")

@bot("spy")
class Spy:
    memory = None
    def act(self, situations, memory, chance):
        for board, hole in zip(situations.board.tolist(), situations.hole.tolist()):
            if board[4] < 52:
                look(tuple(board), tuple(hole))
        return np.full(situations.count, CALL)

@bot("viewing_spy")
class ViewingSpy:
    def act(self, view):
        if view.street == "river":
            look(view.board, view.hole)
        return "c"
"""

#: On the river it knows the other's cards if it met the deal in the other seat.
CHEAT = """
import numpy as np
from cbr_arena import CALL, FOLD, RAISE, bot
from cbr_holdem.cards import strength

MET = {}

@bot("cheat")
class Cheat:
    memory = None
    def act(self, situations, memory, chance):
        kind = np.full(situations.count, CALL)
        cards = zip(situations.board.tolist(), situations.hole.tolist(), situations.raise_to)
        for at, (board, hole, raise_to) in enumerate(cards):
            other = MET.setdefault(tuple(board), hole) if board[4] < 52 else hole
            if other != hole:
                better = strength(hole + board) > strength(other + board)
                kind[at] = (RAISE if raise_to else CALL) if better else FOLD
        return kind
"""


class TestNoDealTwice:
    @pytest.mark.long
    @pytest.mark.parametrize("specs", [["spy", "call"], ["spy*2", "call"], ["viewing_spy", "call"]])
    def test_a_global_never_meets_a_deal_again(self, plugin_file, specs: list[str]) -> None:
        """Neither in another seat, nor in the next seat at the same table, nor in a second match
        on the same deals."""
        load(plugin_file, SPY)
        options = {"hands": 12, "session": 3}
        assert "LookupError: this deal again" in {
            why for _, why in play(Match(players_of(specs), **options)).faults
        }
        for _ in range(2):
            assert not played(*specs, **options).faults

    @pytest.mark.long
    def test_a_file_remembers_unless_each_deal_comes_once(self, plugin_file, tmp_path) -> None:
        """No process keeps a bot from the file system; --independent leaves nothing to find."""
        text = SPY.replace(
            "    if MET",
            "    import shelve\n    with shelve.open({!r}) as MET:\n     board = str(board)\n"
            "     if MET".format(str(tmp_path / "deals")),
        )
        load(plugin_file, text)
        assert played("spy", "call", hands=12).faults
        for file in tmp_path.glob("deals*"):
            file.unlink()
        assert not played("spy", "call", hands=12, duplicate=False).faults

    def test_one_that_remembers_deals_gains_nothing(self, plugin_file) -> None:
        load(plugin_file, CHEAT)
        one = Match(players_of(["cheat", "call"]), hands=120)
        assert lines_of(one, play(one))[0].rate > 0.3
        assert np.array_equal(
            played("cheat", "call", hands=120).won,
            play(Match(players_of(["call", "call"]), hands=120)).won,
        )


HOSTILE = """
import ctypes, gc, os, signal, socket, sys, threading, time
from collections import deque
from itertools import repeat
import numpy as np
from cbr_arena import bot

def fds():
    return [int(name) for name in os.listdir("/proc/self/fd")] if os.path.isdir("/proc/self/fd") \\
        else range(64)

def scribble(what):
    for fd in fds():
        if fd > 2:
            try:
                os.write(fd, what)
            except OSError:
                pass

def close_all():
    os.closerange(3, 256)

def wires():
    from cbr_arena.apart.wire import Wire
    return [one for one in gc.get_objects() if isinstance(one, Wire)]

def forge(**given):
    from cbr_arena.apart.wire import Answer
    for one in wires():
        one.answer(given.pop("number", 2), Answer(**given))

@bot("bad")
class Bad:
    memory = np.dtype([("n", np.int64)])
    def act(self, situations, memory, chance):
        {act}
        return np.ones(situations.count, np.int64)
    def remember(self, tables, seats, memory):
        {remember}
"""

#: What a bot does, and what is told of it.
ATTACKS = {
    "os._exit(3)": "its process ended with code 3",
    "os._exit(0)": "its process ended with code 0",
    "ctypes.string_at(0)": "its process was ended by SIGSEGV",
    "os.abort()": "its process was ended by SIGABRT",
    "os.kill(os.getpid(), 9)": "its process was ended by SIGKILL",
    "os.kill(0, 9)": "its process was ended by SIGKILL",
    "raise SystemExit(0)": "SystemExit: 0",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise MemoryError": "MemoryError",
    "raise RecursionError": "RecursionError",
    "sys.exit('x' * 10**6 + chr(27))": "SystemExit: xxx",
    "close_all()": "its process ended with code",
    "scribble(b'x' * 1000)": "what is no answer",
    "forge(which=77)": "what is no answer",
    "forge(which=2)": "what is no answer",
    "forge(which=0, number=99)": "what is no answer",
    "forge(which=3, faults=[(10**6, 'no')])": "what is no answer",
    "forge(which=3, text=chr(27) + ' mine')": "? mine",
    "return np.ones(3)": "must be whole numbers",
    "return np.ones(10**6, int)": "need as many answers",
    "return None": "must be whole numbers",
    "return iter([])": "must be whole numbers",
    "del situations._own": "AttributeError",
}
#: What changes nothing: it plays as if it had done nothing, that is, calls.
HARMLESS = [
    "print('hello' * 1000); os.write(1, b'hello')",
    "situations._own._rows[:] = 0",
    "situations.game.__dict__['big_blind'] = 7",
    "chance.state[:] = 0; chance._begin = None",
    "sys.modules.pop('cbr_arena', 0); sys.modules.pop('numpy', 0)",
    "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "os.environ.clear(); os.chdir('/')",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "os.fork() or time.sleep(1000)",
    "sys.stdout = None; os.dup2(os.open(os.devnull, os.O_RDONLY), 1)",
    "gc.disable(); sys.setrecursionlimit(50_000)",
]


class TestHostileBots:
    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch) -> None:
        monkeypatch.setattr(outside, "RESTARTS", 1)

    def losses(self, plugin_file, act: str, remember: str = "pass", **options: Any) -> Any:
        text = HOSTILE.replace("{act}", act).replace("{remember}", remember)
        load(plugin_file, text)
        one = Match(players_of(["bad", "call"]), hands=4, session=2, isolate=True, **options)
        return lines_of(one, play(one))[0]

    @pytest.mark.long
    @pytest.mark.parametrize("act", ATTACKS)
    def test_whatever_it_does_it_folds_and_is_told(self, plugin_file, act: str) -> None:
        line = self.losses(plugin_file, act)
        assert any(ATTACKS[act] in why for why in line.faults), line.faults
        assert all(len(why) <= 420 and why.isprintable() for why in line.faults)
        assert line.vpip == 0
        assert line.rate < 0

    @pytest.mark.long
    @pytest.mark.parametrize("act", HARMLESS)
    def test_what_has_no_effect(self, plugin_file, act: str) -> None:
        line = self.losses(plugin_file, act)
        assert (line.faults, line.vpip, line.showdown) == ({}, 0.5, 1.0)

    @pytest.mark.long
    @pytest.mark.parametrize("what", ["os._exit(5)", "scribble(b'y' * 99)", "raise ValueError"])
    def test_in_the_end_of_a_hand(self, plugin_file, what: str) -> None:
        line = self.losses(plugin_file, "pass", what)
        assert line.faults

    @pytest.mark.parametrize(
        "hang", ["ctypes.CDLL(None).pause()", "deque(repeat(1), 0)", "time.sleep(1000)"]
    )
    def test_one_that_never_returns(self, plugin_file, monkeypatch, hang: str) -> None:
        """Also in compiled code, where no signal of Python reaches it."""
        monkeypatch.setattr(outside, "RESTARTS", 0)
        monkeypatch.setattr(outside, "_GRACE", 0.1)
        line = self.losses(plugin_file, hang, bot_timeout=0.1)
        assert any(why.startswith("no answer within 0.1 s") for why in line.faults)

    def test_a_view_that_never_returns(self, plugin_file, monkeypatch) -> None:
        monkeypatch.setattr(outside, "RESTARTS", 0)
        monkeypatch.setattr(outside, "_GRACE", 0.1)
        text = """
from collections import deque
from itertools import repeat
from cbr_arena import bot
@bot("stuck")
class Stuck:
    def act(self, view):
        while True:
            try:
                deque(repeat(1), 0)  # a loop in C, which looks at no signal
            except BaseException:
                pass
"""
        load(plugin_file, text)
        faults = played("stuck", "call", hands=2, bot_timeout=0.1).faults
        assert "no answer within 0.1 s, so its process was ended" in {why for _, why in faults}

    @pytest.mark.long
    def test_the_process_is_started_again_so_often(self, plugin_file, tmp_path) -> None:
        """Once in place of the first, and then no more in these sessions."""
        text = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); os._exit(1)"
        self.losses(plugin_file, text)
        assert (tmp_path / "starts").read_text() == "x" * 4  # twice in each of two seatings

    @pytest.mark.long
    def test_nothing_is_left(self, plugin_file, tmp_path) -> None:
        """Neither its process nor those that it started."""
        if not Path("/proc/self").is_dir():
            pytest.skip("needs /proc")
        mark = tmp_path / "pids"
        before = {child.pid for child in multiprocessing.active_children()}  # shared by tests
        self.losses(
            plugin_file,
            f"open({str(mark)!r}, 'a').write(f'{{os.getpid()}} '); "
            f"os.fork() or (open({str(mark)!r}, 'a').write(f'{{os.getpid()}} '), time.sleep(1000))",
        )
        pids = {int(pid) for pid in mark.read_text().split()}
        assert len(pids) > 2
        assert {child.pid for child in multiprocessing.active_children()} <= before
        deadline = time.monotonic() + 60  # whoever is killed may take a while to be gone
        while any(map(_is_there, pids)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(map(_is_there, pids))

    @pytest.mark.long
    def test_one_that_ends_where_processes_come_from(self, plugin_file, monkeypatch) -> None:
        monkeypatch.setattr(outside, "RESTARTS", 0)
        ends = "os.kill(os.getppid(), 9); time.sleep(1000)"
        assert self.losses(plugin_file, ends, duplicate=False).faults
        assert not self.losses(plugin_file, "pass", duplicate=False).faults


def _is_there(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


class TestWire:
    """What comes from the other side is read as what was asked for, or not at all."""

    def pair(self) -> tuple[Wire, Wire]:
        import socket

        one, other = socket.socketpair()
        return Wire(one), Wire(other)

    def test_random_bytes(self) -> None:
        rng = np.random.default_rng(0)
        refused = 0
        for _ in range(2_000):
            ours, theirs = self.pair()
            with ours.link, theirs.link:
                bytes_ = rng.integers(0, 256, int(rng.integers(0, 200)), np.uint8)
                if rng.random() < 0.7:  # a header that is nearly right
                    head = np.array(
                        [rng.integers(0, 6), 1, rng.integers(0, 9), rng.integers(0, 4), 9]
                    )
                    bytes_ = np.concatenate([head.astype("<u4").view(np.uint8), bytes_])
                theirs.send(bytes_.tobytes())
                theirs.link.close()
                try:
                    answer = ours.answered(1, 2, 5.0)
                except (wire.Gone, Unreadable):
                    refused += 1
                else:
                    assert answer.which in range(5)
                    assert all(at < 2 and why.isprintable() for at, why in answer.faults)
                    assert answer.given is None or len(answer.given[0]) == 2
        assert 500 < refused < 2_000

    def test_figures(self) -> None:
        figures = {"a b": Figure(0.1, 3.0), "c": Figure(-1e300, 0.0)}
        assert wire.figures_of(wire.figures_text(figures)) == figures
        text = "nan 0x1p0 x\n1 2\n0x1p0 inf y\n0x1p99999 0 z\n\n0x1p0 0x1p1 \x1bq"
        assert wire.figures_of(text) == {"?q": Figure(1.0, 2.0)}

    def test_who_is_always_busy_is_not_waited_for(self) -> None:
        ours, theirs = self.pair()
        with ours.link, theirs.link:
            for _ in range(4):
                theirs.answer(1, Answer(wire.BUSY))
            with pytest.raises(Unreadable):
                ours.answered(1, 3, 5.0)
