"""A person at the table, through a pseudo-terminal: keys, screens, what is saved, and every end."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from cbr.building.pipeline import build
from cbr.cli import main
from cbr.errors import AlreadyThere, BadValue
from cbr.plugging.plugins import default_plugins
from cbr_arena import Match, Player, play, players_of
from cbr_holdem.situation import View
from cbr_holdem.table import Game, Hand
from cbr_play.cards import hand_name, painted
from cbr_play.saving import Log, fresh_path
from cbr_play.session import Ended, Session
from cbr_play.words import short_names

fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")

#: Seconds that anything may take: the first run on a machine compiles.
PATIENCE = 300.0
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COMMAND = [sys.executable, "-c", "from cbr.cli import main; main()"]
BROKEN = """
from cbr_arena import bot

@bot("broken")
class Broken:
    "Falls over."

    def act(self, view):
        raise ZeroDivisionError("no idea")
"""


class Forked:
    """`cbr` in a fork of this process, with stdin, stdout and stderr in a terminal. A program that
    is started would load numba and the compiled code again, which takes a second or two."""

    def __init__(
        self, words: Sequence[str], terminal: int, folder: Path, env: Mapping[str, str]
    ) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _own_terminal(terminal)
                for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
                    os.dup2(terminal, number)
                    mode = "w" if number else "r"
                    setattr(sys, name, os.fdopen(number, mode, encoding=env["PYTHONIOENCODING"]))
                os.chdir(folder)
                os.environ.clear()
                os.environ.update(env)
                # Polars, which other tests load, has reads of a terminal continue after Ctrl-C.
                signal.signal(signal.SIGINT, signal.default_int_handler)
                sys.argv = ["cbr", *words]
                main()
            except SystemExit as stop:
                sys.stdout.flush()
                os._exit(int(stop.code or 0))
            finally:
                os._exit(99)

    def poll(self) -> int | None:
        if self.returncode is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            self.returncode = os.waitstatus_to_exitcode(ended[1])
        return self.returncode

    def wait(self, seconds: float) -> int:
        end = time.monotonic() + seconds
        while (code := self.poll()) is None:
            assert time.monotonic() < end, "it does not end"
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)


def _own_terminal(terminal: int) -> None:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


class Terminal:
    """`cbr play` in a terminal of its own; as a program that was started if `started`, else in a
    fork of this process."""

    def __init__(
        self, folder: Path, *words: object, columns: int = 80, started: bool = False, **env: str
    ) -> None:
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.text, self.seen = "", 0
        clean = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS"}}
        env = {**clean, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **env}
        line = ["play", *map(str, words)]
        self.process: subprocess.Popen[bytes] | Forked
        if started:
            self.process = subprocess.Popen(
                [*COMMAND, *line],
                stdin=self.slave,
                stdout=self.slave,
                stderr=self.slave,
                cwd=folder,
                env=env,
                preexec_fn=lambda: _own_terminal(0),
            )
        else:
            self.process = Forked(line, self.slave, folder, env)

    def _read(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, f"nothing more after:\n{self.screen}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 65536).decode("utf-8", "replace")
            elif self.process.poll() is not None:
                return

    @property
    def screen(self) -> str:
        """What was written since the last key, without colours."""
        return ANSI.sub("", self.text[self.seen :]).replace("\r\n", "\n")

    def asked(self) -> str:
        """What is on the screen when a key is waited for."""
        self._read(lambda: self.screen.endswith("\n > "))
        assert self.process.poll() is None, self.screen
        return self.screen

    def press(self, keys: str) -> None:
        self.seen = len(self.text)
        os.write(self.master, keys.encode())

    def shows(self, words: str) -> None:
        """Wait for some words."""
        self._read(lambda: words in self.screen)
        assert words in self.screen

    def after(self, keys: str) -> str:
        self.press(keys)
        return self.asked()

    def ended(self, keys: str = "") -> tuple[int, str]:
        """Exit code and last words."""
        if keys:
            self.press(keys)
        self._read(lambda: False)
        code = self.process.wait(PATIENCE)
        assert termios.tcgetattr(self.slave) == self.before
        return code, self.screen

    def hand(self, keys: str = "c") -> str:
        """Play a hand to its end, pressing one key all the time; the last screen."""
        screen = self.asked()
        for _ in range(60):
            if "Enter" in screen:
                return screen
            screen = self.after(keys)
        raise AssertionError("the hand does not end")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(PATIENCE)
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: object, **options: object) -> Terminal:
        opened.append(Terminal(tmp_path, *words, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def casebase(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("play") / "sample.db"
    build([ROOT / "casebases" / "sample.phhs"], out, plugins=default_plugins())
    return out


def hands_in(path: Path) -> list[Hand]:
    out = path.with_suffix(".db")
    found = build([path], out, plugins=default_plugins())
    assert not found.skipped
    from cbr.store.casebase import Casebase

    with Casebase.open(out) as base:
        return [Hand.read(body) for _, bodies in base.read_records(100) for body in bodies]


@pytest.mark.long
class TestTable:
    def test_hands_by_single_keys_until_it_is_quit(self, terminal, tmp_path: Path, cbr) -> None:
        log = tmp_path / "mine.phhs"
        game = terminal("call", "loki", "--seed", 3, "--out", log, started=True)
        screen = game.asked()
        assert "Hand 1   limit 50/100" in screen
        assert re.search(r"> +you +SB +\S+[♠♥♦♣] \S+[♠♥♦♣] +99,950 +50", screen)
        assert re.search(r"call +BB +-- -- +99,900 +100", screen)
        assert re.search(r"loki +D +folded", screen)
        assert "pot 150" in screen
        assert "f fold   c call 50   r raise to 200" in screen
        screen = game.after("c")
        assert re.search(r"Flop +\S+[♠♥♦♣] \S+[♠♥♦♣] \S+[♠♥♦♣] +pot", screen)
        assert "c check   r bet 100" in screen
        screen = game.after("h")
        assert re.search(r"preflop +loki folds, you call 50, call checks", screen)
        screen = game.hand("c")
        assert "Showdown" in screen
        assert re.search(r"(you win|call wins|loki wins) [\d,]+ with ", screen)
        assert game.after("\n").count("Hand 2") == 1
        game.hand("c")
        code, last = game.ended("q")
        assert code == 0
        assert "won in 2 hands" in last
        assert f"cbr build {log}" in last
        built = cbr("build", log, "--out", tmp_path / "mine.db", "--json")
        assert built.code == 0
        assert built.json["records"] == 2
        first, second = hands_in(log)
        assert set(first.players) == {"you", "call", "loki"}
        assert first.players[0] == "you"  # the button moves on
        assert second.players[0] == "call"
        assert all(len(hole) == 4 for hole in first.holes)
        assert sum(first.result or ()) == 0

    def test_what_was_typed_before_it_was_asked_does_not_count(self, terminal) -> None:
        game = terminal("call", "--seed", 1, "--hands", 1)
        game.asked()
        game.press("cccccccccccc")
        time.sleep(0.3)
        screen = game.asked()
        assert "Flop" in screen
        assert "Turn" not in screen

    def test_keys_that_do_nothing(self, terminal) -> None:
        game = terminal("call", "--seed", 1)
        screen = game.asked()
        for key, what in (
            ("x", "x"),
            ("\x1b[A", "That"),
            ("\n", "Enter"),
            ("ü", "ü"),
            ("\x01", ""),
        ):
            screen = game.after(key)
            assert f"{what} does nothing here" in screen, key
            assert "Hand" not in screen
        assert re.search(r"q +quit; .*c check   r raise to 200", game.after("?"), re.S)
        while "c check" not in screen:
            screen = game.after("c")
        assert "nothing to call, so c checks" in game.after("f")
        assert "f" not in re.findall(r"^ (\w) ", game.after("x"), re.M)

    def test_folding(self, terminal, tmp_path: Path) -> None:
        game = terminal("raise", "--seed", 2, "--hands", 1, "--out", "f.phhs")
        game.asked()
        screen = game.after("f")
        assert re.search(r"^ raise wins [\d,]+\.", screen, re.M)
        assert re.search(r"raise +\S.*-- --", screen)  # who is left shows nothing
        assert "Enter finish" in screen
        code, last = game.ended("\n")
        assert code == 0
        assert "won in 1 hand " in last
        assert len(hands_in(tmp_path / "f.phhs")) == 1

    def test_ten_seats_in_eighty_columns(self, terminal) -> None:
        game = terminal("miniloki?size=3/4*5", "lag?size=1/2*4", "--game", "nolimit", "--seed", 6)
        screen = game.hand("c")
        assert "miniloki #5" in screen
        for line in ANSI.sub("", game.text).replace("\r", "").splitlines():
            assert len(line) <= 80, line
        screen = ANSI.sub("", game.text)
        assert "…" not in screen

    def test_without_colours(self, terminal) -> None:
        plain = terminal("call", "--seed", 1, NO_COLOR="1")
        assert re.search(r"[♠♥♦♣]", plain.asked())
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]", plain.text)
        letters = terminal("call", "--seed", 1, PYTHONIOENCODING="latin-1")
        assert re.search(r"you +BB? .*[2-9TJQKA10][shdc] ", letters.asked())

    def test_a_default_table_needs_no_file(self, terminal) -> None:
        game = terminal("--seed", 1)
        screen = game.asked()
        assert all(name in screen for name in ("loki #2", "lag #2", "miniloki"))
        code, last = game.ended("q")
        assert code == 0
        assert "nothing is saved" in last

    def test_names(self, terminal, tmp_path: Path, cbr) -> None:
        game = terminal("loki", "--name", "Ann B.", "--seed", 1, "--hands", 1, "--out", "n.phhs")
        game.hand("f") if "f fold" in game.asked() else game.hand("c")
        game.ended("\n")
        [hand] = hands_in(tmp_path / "n.phhs")
        assert set(hand.players) == {"AnnB.", "loki"}
        assert "twice" in cbr("play", "loki", "--name", "loki").err


@pytest.mark.long
class TestNoLimit:
    def test_amounts(self, terminal, tmp_path: Path) -> None:
        game = terminal(
            "call", "--game", "nolimit", "--seed", 1, "--hands", 1, "--out", "n.phhs", "--stack", 50
        )
        assert "c check   r raise   h" in game.asked()  # the big blind, heads-up
        screen = game.after("r")
        assert "Raise to 200 to 5,000: an amount, then Enter." in screen
        assert "m least 200   h half pot 200   p pot 300   a all-in 5,000   Esc back" in screen
        screen = game.after("\x1b")
        assert "c check   r raise" in screen
        game.after("r")
        screen = game.after("99\n")
        assert "99 is not from 200 to 5,000." in screen
        game.press("1x2\x7f50\n")  # 150 is too little as well
        game.shows("150 is not from 200")
        screen = game.after("p\x7f\x7f50\n")  # the pot, and then changed by hand: 350
        assert re.search(r"Flop .*pot 700", screen)
        assert "r bet" in screen
        game.after("r")
        screen = game.after("h\n")
        assert re.search(r"Turn .*pot 1,400", screen)
        game.after("r")
        screen = game.after("a\n")
        assert "Showdown" in screen
        assert "pot 10,000" in screen
        game.ended("\n")
        [hand] = hands_in(tmp_path / "n.phhs")
        assert re.sub(r"[^r\d/]", "", hand.actions) == "r350/r350/r4300"

    def test_a_call_that_takes_everything(self, terminal) -> None:
        game = terminal("raise?size=all-in", "--game", "nolimit", "--seed", 1)
        assert "c call 9,900 (all-in)" in game.asked()
        assert "No bet or raise is possible here." in game.after("r")
        screen = game.after("c")
        assert "pot 20,000" in screen


@pytest.mark.long
class TestEnds:
    def test_ctrl_c(self, terminal, tmp_path: Path) -> None:
        game = terminal("call", "--seed", 1, "--out", "c.phhs")
        game.hand("c")
        game.after("\n")
        code, last = game.ended("\x03")
        assert code == 130
        assert "does not count" in last
        assert "Interrupted" in last
        assert len(hands_in(tmp_path / "c.phhs")) == 1

    def test_ctrl_c_before_anything(self, terminal, tmp_path: Path) -> None:
        game = terminal("call", "--out", "c.phhs")
        game.asked()
        code, _ = game.ended("\x03")
        assert code == 130
        assert not (tmp_path / "c.phhs").exists()

    def test_the_end_of_input(self, terminal, tmp_path: Path) -> None:
        game = terminal("call", "--seed", 1, "--out", "d.phhs")
        game.hand("c")
        code, last = game.ended("\x04")
        assert code == 0
        assert "Saved in d.phhs" in last

    def test_while_an_amount_is_typed(self, terminal) -> None:
        game = terminal("call", "--game", "nolimit", "--seed", 1)
        game.asked()
        game.after("r")
        game.press("12\x7f")  # each key replaces the amount that is shown
        game.shows("1\b \b12\b \b\b \b1")
        code, last = game.ended("\x04")
        assert code == 0
        assert "nothing is saved" in last

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
    def test_a_kill_loses_the_hand_that_is_on(self, terminal, tmp_path: Path, name: str) -> None:
        game = terminal("call", "--seed", 1, "--out", "k.phhs")
        for _ in range(2):
            game.hand("c")
            game.after("\n")
        game.process.send_signal(getattr(signal, name))
        game.process.wait(PATIENCE)
        if name == "SIGTERM":
            assert termios.tcgetattr(game.slave) == game.before
        assert len(hands_in(tmp_path / "k.phhs")) == 2

    def test_keys_come_at_once_again_after_a_stop(self, terminal) -> None:
        game = terminal("call", "--seed", 1)
        game.asked()
        termios.tcsetattr(game.slave, termios.TCSANOW, game.before)  # as a shell does
        game.process.send_signal(signal.SIGCONT)
        game._read(lambda: termios.tcgetattr(game.slave) != game.before)
        assert "Flop" in game.after("c")

    def test_a_bug_of_ours_ends_it_and_the_terminal_is_as_it_was(
        self, terminal, plugin_file
    ) -> None:
        path = plugin_file("import cbr_play.talk\ncbr_play.talk._offers = lambda view: 1 / 0\n")
        code, last = terminal("call", "--plugin", path).ended()
        assert code == 1
        assert "ZeroDivisionError" in last

    def test_a_broken_bot_goes_on(self, terminal, plugin_file, tmp_path: Path) -> None:
        game = terminal(
            "broken", "call", "--plugin", plugin_file(BROKEN), "--seed", 1, "--out", "b.phhs"
        )
        screen = game.hand("c")
        assert "broken failed (ZeroDivisionError: no idea)" in screen.replace("\n ", " ")
        game.after("\n")
        game.hand("c")
        assert game.ended("q")[0] == 0
        assert len(hands_in(tmp_path / "b.phhs")) == 2


def piped(folder: Path, text: str | None, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "play", *map(str, words)],
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        timeout=PATIENCE,
        cwd=folder,
    )


@pytest.mark.long
class TestLines:
    def test_keys_are_lines(self, tmp_path: Path) -> None:
        text = "call\nc\nc\nc\n\n" + "raise 400\nc\nc\n"
        words = ("call", "--game", "nolimit", "--seed", 1, "--out", "l.phhs")
        done = piped(tmp_path, text, *words)
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout
        assert "won in 1 hand" in done.stdout
        assert "does not count" in done.stdout
        assert "pot 800" in done.stdout
        assert len(hands_in(tmp_path / "l.phhs")) == 1

    def test_nothing_to_read(self, tmp_path: Path) -> None:
        done = piped(tmp_path, None, "call", "--out", "l.phhs")
        assert done.returncode == 2
        assert done.stderr.strip() == ("Error: nothing can be read from stdin; play in a terminal")
        assert not (tmp_path / "l.phhs").exists()

    def test_json(self, tmp_path: Path) -> None:
        import json

        done = piped(tmp_path, "f\nf\n\n", "raise", "--seed", 4, "--json", "--hands", 1)
        found = json.loads(done.stdout)
        assert found["hands"] == 1
        assert found["seed"] == 4
        assert [player["name"] for player in found["players"]] == ["you", "raise"]
        assert sum(player["won"] for player in found["players"]) == 0
        assert (tmp_path / found["file"]).exists()

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["nobody"], "no bot 'nobody'"),
            (["call*10"], "11 players with you; a table has 2 to 10 seats"),
            (["call", "--game", "omaha"], "no game 'omaha'"),
            (["loki", "--game", "nolimit"], "plays limit, not nolimit"),
            (["call", "--out", "x.log"], "FILE.phhs"),
            (["call", "--out", "none/x.phhs"], "no folder"),
            (["call", "--name", ""], "empty"),
            (["call", "--hands", "-1"], "--hands"),
        ],
    )
    def test_bad_input(self, cbr, words: list[str], sentence: str) -> None:
        answer = cbr("play", *words)
        assert answer.code == 2
        assert sentence in answer.err


def counted(explanation: str) -> float:
    """Cases by action, added up."""
    rows = r"^(?:(?:fold|check|call|bet|raise) +\d+%|not legal) +([\d.]+)"
    return sum(float(cases) for cases in re.findall(rows, explanation, re.M))


class TestExplain:
    @pytest.mark.long
    def test_not_while_the_hand_is_on(self, terminal, casebase: Path) -> None:
        game = terminal(f"cbr:{casebase}", "--seed", 1)
        game.asked()
        screen = game.after("e")
        assert "after the hand, or now with --explain" in screen
        assert "Retrieved" not in screen
        screen = game.hand("c")
        assert "Retrieved" not in screen
        assert "e explain" in screen
        screen = game.after("e")
        assert screen.count("Retrieved") >= 1
        assert re.search(r"cbr:sample.db (check|call|bet|raise|fold)s.* preflop ", screen)

    @pytest.mark.long
    def test_at_once_and_after_the_hand(self, terminal, casebase: Path) -> None:
        game = terminal(f"cbr:{casebase}", "call", "--explain", "--seed", 5)
        game.asked()
        while "Flop" not in (screen := game.after("c")):
            pass
        screen = game.after("e")
        assert re.search(r"Retrieved [\d.]+ cases? of similarity 0\.\d{3}|1\.000", screen)
        assert "Asked for players " in screen
        assert re.search(r"check +\d+%", screen)
        assert re.search(r"case  similar  did", screen)
        screen = game.hand("c")
        assert screen.index("Retrieved") < screen.index("Showdown")
        assert screen.count("Retrieved") > 1

    @pytest.mark.long
    def test_it_tells_what_the_bot_did(self, casebase: Path, tmp_path: Path) -> None:
        """The chances that are told are those that were drawn by, on every street."""
        from cbr_casper.bot import CaseBot

        shares: list[list[float]] = []
        act = CaseBot.act

        class Spy(CaseBot):
            def act(self, *given):  # type: ignore[no-untyped-def]
                found = act(self, *given)
                shares.extend(found.shares.tolist())
                return found

        match = Match([Player("you", ""), Player("case", f"cbr:{casebase}")], seed=2)
        session = Session(match, lambda _, view: (1, 0), Log(tmp_path / "s.phhs"))
        session.room.bots[1]._bot.__class__ = Spy
        streets = set()
        for _ in range(12):
            shares.clear()
            session.play()
            assert len(session.decisions) == len(shares)
            for decision, share in zip(session.decisions, shares, strict=True):
                text = decision.advice.why
                assert max(map(len, text.splitlines())) <= 76
                told = dict(re.findall(r"^(fold|check|call|bet|raise) +(\d+)%", text, re.M))
                by_kind = [
                    sum(int(told.get(word, 0)) for word in words)
                    for words in (("fold",), ("check", "call"), ("bet", "raise"))
                ]
                assert by_kind == pytest.approx(np.array(share) * 100, abs=0.6)
                assert re.search(r"Retrieved ([\d.]+) case", text)[1] == f"{counted(text):.4g}"
                streets.add(decision.view.street)
        assert streets == {"preflop", "flop", "turn", "river"}

    @pytest.mark.long
    def test_values_of_actions(self, casebase: Path, tmp_path: Path) -> None:
        import shutil

        from cbr.store.casebase import Casebase

        valued = Path(shutil.copy(casebase, tmp_path / "valued.db"))
        with Casebase.open(valued, write=True) as base, base.transaction():
            for stage in base.stages:
                cases = base.places(stage)[:, 0].tolist()
                for solution, worth in (("c", 0.25), ("k", 0.25), ("r", -1.5)):
                    values = [worth] * len(cases)
                    base.put_values(stage, cases, solution, values, [0.1] * len(cases))
        match = Match([Player("you", ""), Player("case", f"cbr:{valued}?reuse=worth")], seed=2)
        session = Session(match, lambda _, view: (1, 0), Log(tmp_path / "s.phhs"))
        session.play()
        text = session.decisions[0].advice.why
        assert "earned    worth   in small bets" in text
        assert re.search(r"^(call|check) .* \+0\.25$", text, re.M)
        assert re.search(r"^raise .* -1\.50$", text, re.M)

    def test_an_explanation_that_fails_is_a_sentence(self, casebase: Path, tmp_path: Path) -> None:
        match = Match([Player("you", ""), Player("case", f"cbr:{casebase}")], seed=2)
        session = Session(match, lambda _, view: (1, 0), Log(tmp_path / "s.phhs"))
        session.room.bots[1]._bot.explain = lambda *_: 1 / 0
        session.play()
        assert session.decisions[0].advice.why.startswith(
            "no explanation: explaining failed: ZeroDivision"
        )


class TestSession:
    @pytest.mark.parametrize("others", [["loki"], ["waterman", "lag", "random"]])
    def test_it_is_a_match_with_the_same_luck_and_memory(
        self, tmp_path: Path, others: list[str]
    ) -> None:
        log = Log(tmp_path / "s.phhs")
        players = [Player("call", ""), *players_of(others)]
        session = Session(Match(players, seed=9), lambda _, view: (1, 0), log)
        ended = [session.play() for _ in range(30)]
        match = Match(
            players_of(["call", *others]), hands=30, seed=9, duplicate=False, keep_hands=True
        )
        played = play(match)
        assert [one.hand.text for one in ended] == [Hand.read(t).text for t in played.hands]
        assert session.totals == pytest.approx(played.won.sum(axis=0) * 10, abs=1e-6)
        assert sum(session.totals) == 0
        assert len(hands_in(log.path)) == 30

    def test_a_person_sees_nothing_hidden(self, tmp_path: Path) -> None:
        seen: list[View] = []

        def ask(_: Session, view: View) -> tuple[int, int]:
            seen.append(view)
            return 1, 0

        session = Session(
            Match([Player("you", ""), *players_of(["call*2"])]), ask, Log(tmp_path / "s.phhs")
        )
        session.play()
        for view in seen:
            assert sum(1 for card in view._seen[0, 85:105] if card < 52) == 2

    def test_what_nobody_called_is_not_in_the_pot(self) -> None:
        game = Game("nolimit", 50, 100)
        hand = Hand(
            game=game,
            stacks=(1000, 1000, 1000),
            posts=(50, 100, 0),
            antes=(0, 0, 0),
            holes=("AhAs", "KhKs", "2c7d"),
            board="",
            actions="r1000ff",
            players=("a", "b", "c"),
        )
        ended = Ended(hand, [0, 1, 2], [])
        assert ended.pot == 250
        assert ended.taken == {2: 250}
        assert ended.won == [-50, -100, 150]

    def test_split_and_side_pots(self) -> None:
        hand = Hand(
            game=Game("nolimit", 50, 100),
            stacks=(300, 1000, 1000),
            posts=(50, 100, 0),
            antes=(0, 0, 0),
            holes=("AhAs", "KhKs", "KcKd"),
            board="2c3c4d5d9h",
            actions="r1000cc",
            players=("a", "b", "c"),
        )
        ended = Ended(hand, [2, 0, 1], [])
        assert ended.pot == 2300
        assert sum(ended.taken.values()) == 2300
        assert ended.taken == {0: 900, 1: 700, 2: 700}


class TestFiles:
    def test_a_file_that_is_there_is_not_written_over(self, tmp_path: Path, cbr) -> None:
        path = tmp_path / "old.phhs"
        path.write_text("mine")
        answer = cbr("play", "call", "--out", path)
        assert answer.code == 2
        assert "is there already; give another name to --out" in answer.err
        assert path.read_text() == "mine"
        log = Log(tmp_path / "new.phhs")
        (tmp_path / "new.phhs").write_text("other")  # since
        with pytest.raises((AlreadyThere, BadValue)):
            log.add(HAND)
        assert (tmp_path / "new.phhs").read_text() == "other"

    def test_names_are_fresh(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from datetime import datetime

        now = datetime(2031, 5, 6, 7, 8, 9)
        monkeypatch.chdir(tmp_path)
        assert fresh_path(now) == Path("play-20310506-070809.phhs")
        Path("casebases").mkdir()
        assert fresh_path(now) == Path("casebases/play-20310506-070809.phhs")
        fresh_path(now).touch()
        assert fresh_path(now) == Path("casebases/play-20310506-070809-2.phhs")

    def test_it_is_written_as_the_arena_writes_it(self, tmp_path: Path) -> None:
        from cbr_arena import write_log

        log = Log(tmp_path / "a.phhs")
        for _ in range(3):
            log.add(HAND)
        write_log([HAND] * 3, tmp_path / "b.phhs")
        assert log.path.read_bytes() == (tmp_path / "b.phhs").read_bytes()


HAND = "7\tlimit 50/100\t900,900\t100,50\t\tAhKs,2c3c\t\tr200f\t100,-100\tann\tbob"


def test_cards_and_names() -> None:
    assert painted("Th 2c").plain == "10♥ 2♣"
    assert painted("Th 2c", signs=False).plain == "10h 2c"
    assert hand_name("As Ks Qs Js Ts 2c 3d") == "royal flush"
    assert hand_name("9s Ks Qs Js Ts 2c 3d") == "straight flush to the king"
    assert hand_name("2s 2d 2h 2c Ts 3c 3d") == "four deuces"
    assert hand_name("2s 4s 7s 9s Ts 3c 3d") == "flush, ten high"
    assert hand_name("2s 4d 7s 9s Ts Jc Kd") == "king high"
    names = short_names(["you", *(f"cbr:{'x' * n}/long-name-of-a-file.db #2" for n in range(9))])
    assert len(set(names)) == 10
