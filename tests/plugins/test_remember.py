"""`--remember`: files of opponents, several processes at once, and matches that use them."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from cbr import BadValue
from cbr_arena import Match, play, players_of
from cbr_opponents.profiles import S_HANDS, SEEN
from cbr_opponents.remembering import MemoryFile, Opponent, OpponentMemory, open_memory
from cbr_opponents.remembering.counting import decay_of


def seen_once(forget: float = 1.0, name: str = "ann") -> OpponentMemory:
    memory = OpponentMemory("limit", forget)
    memory.opponents[name] = Opponent(np.ones(SEEN), 1, 1, {7: 1.0, 90: 2.0})
    return memory


ADD = """
import sys
sys.path[:0] = {paths!r}
from test_remember import seen_once
from cbr_opponents.remembering import open_memory
file = open_memory(sys.argv[1])
for number in range(int(sys.argv[2])):
    file.add(seen_once(file.forget))
    print(number + 1, flush=True)
"""
PATHS = [str(ROOT / part) for part in ("", "features", "similarity", "plugins", "tests")]
PATHS.append(str(ROOT / "tests" / "plugins"))


def adding(path: Path, times: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", ADD.format(paths=PATHS), str(path), str(times)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


class TestFile:
    def test_what_is_added_is_there(self, tmp_path: Path) -> None:
        path = tmp_path / "o.db"
        file = open_memory(str(path))
        file.add(seen_once())
        file.add(seen_once())
        file.add(seen_once(name="bob"))
        found = MemoryFile(path).recall("limit")
        assert sorted(found.opponents) == ["ann", "bob"]
        ann = found.of("ann")
        assert (ann.hands, ann.showdowns, ann.shown) == (2, 2, {7: 2.0, 90: 4.0})
        np.testing.assert_allclose(ann.seen, 1.0 + decay_of(1.0))
        assert not MemoryFile(path).recall("nolimit").opponents
        assert list(MemoryFile(path).recall("limit", ["bob", "cy"]).opponents) == ["bob"]
        np.testing.assert_array_equal(found.counts_of(["cy"]), np.zeros((1, SEEN)))

    def test_old_hands_fade(self, tmp_path: Path) -> None:
        file = open_memory(f"{tmp_path / 'o.db'}?forget=0.5")
        for _ in range(3):
            file.add(seen_once(0.5))
        found = file.recall("limit").of("ann")
        assert found.seen[S_HANDS] == 1.75
        assert found.shown[7] == 1.75
        assert found.hands == 3
        with pytest.raises(BadValue, match=r"forgets by 0\.5 in a hand, not by 0\.9"):
            open_memory(f"{tmp_path / 'o.db'}?forget=0.9")
        assert open_memory(str(tmp_path / "o.db")).forget == 0.5

    def test_nobody_who_did_not_act_is_added(self, tmp_path: Path) -> None:
        file = open_memory(str(tmp_path / "o.db"))
        memory = OpponentMemory("limit")
        memory.opponents["ann"] = Opponent()
        file.add(memory)
        assert not file.recall("limit").opponents

    @pytest.mark.long
    @pytest.mark.parametrize("forget", [1.0, 0.9])
    def test_several_processes_lose_and_double_nothing(self, tmp_path: Path, forget: float) -> None:
        path, each, count = tmp_path / "o.db", 12, 4
        with ThreadPoolExecutor(count) as pool:  # all of them may be the one that makes the file
            running = [adding(Path(f"{path}?forget={forget}"), each) for _ in range(count)]
            list(pool.map(lambda one: one.communicate(timeout=240), running))
        assert [one.returncode for one in running] == [0] * count
        found = MemoryFile(path).recall("limit").of("ann")
        all_ = each * count
        assert (found.hands, found.showdowns) == (all_, all_)
        expected = sum(decay_of(forget) ** n for n in range(all_))
        np.testing.assert_allclose(found.seen, expected, rtol=1e-12)
        assert found.shown[90] == pytest.approx(2 * sum(forget**n for n in range(all_)))

    @pytest.mark.long
    def test_a_kill_leaves_it_sound(self, tmp_path: Path) -> None:
        path = tmp_path / "o.db"
        done = 0
        for turn in range(3):
            process = adding(path, 100_000)
            assert process.stdout is not None
            last = [process.stdout.readline() for _ in range(5 + 7 * turn)][-1]
            time.sleep(0.003 * turn)
            process.send_signal(signal.SIGKILL)
            told = [last, *process.stdout.read().split()]
            process.wait()
            found = MemoryFile(path).recall("limit").of("ann").hands
            assert found - done in (int(told[-1]), int(told[-1]) + 1)
            done = found
            assert found == MemoryFile(path).recall("limit").of("ann").showdowns


def change(path: Path, *queries: str) -> None:
    with sqlite3.connect(path) as db:
        for query in queries:
            db.execute(query)
    db.close()


BAD = [
    ("PRAGMA application_id = 5", "is no file of opponents"),
    ("UPDATE settings SET value = 99 WHERE name = 'version'", "another version"),
    ("UPDATE settings SET value = 3 WHERE name = 'counts'", "another version"),
    ("DELETE FROM settings WHERE name = 'classes'", "another version"),
    ("UPDATE settings SET value = 1.5 WHERE name = 'forget'", "forget is 1.5"),
    ("UPDATE settings SET value = 9e999 WHERE name = 'forget'", "forget is inf"),
    ("UPDATE opponents SET seen = x'00'", "1 bytes of counts"),
    ("UPDATE opponents SET seen = zeroblob(100000000)", "damaged"),
    ("UPDATE opponents SET seen = CAST(replace(hex(seen), '0', 'F') AS BLOB)", "bytes of counts"),
    ("UPDATE opponents SET hands = -1", "not possible"),
    ("UPDATE opponents SET hands = 'x'", "are not integer"),
    ("UPDATE opponents SET showdowns = 1 << 40", "not possible"),
    ("UPDATE opponents SET name = ''", "is called ''"),
    ("UPDATE opponents SET name = 'a' || char(27)", "is called 'a"),
    ("UPDATE shown SET cell = 1 << 50 WHERE cell = 7", "not possible"),
    ("UPDATE shown SET cell = -1 WHERE cell = 7", "not possible"),
    ("UPDATE shown SET count = -1.0", "not possible"),
    ("UPDATE shown SET count = 9e999", "not possible"),
    ("DROP TABLE shown", "no table 'shown'"),
    ("ALTER TABLE opponents DROP COLUMN showdowns", "no column 'showdowns'"),
    ("CREATE TRIGGER t AFTER INSERT ON shown BEGIN DELETE FROM shown; END", "has the trigger"),
    ("CREATE VIEW v AS SELECT 1", "has the view"),
]


class TestRefused:
    @pytest.mark.parametrize(("query", "says"), BAD)
    def test_a_file_that_is_not_as_it_should_be(
        self, tmp_path: Path, query: str, says: str
    ) -> None:
        path = tmp_path / "o.db"
        open_memory(str(path)).add(seen_once())
        change(path, query)
        uses = [lambda: MemoryFile(path).recall("limit"), lambda: _add(path)]
        for use in uses[:1] if "SET name" in query else uses:  # what is added has another name
            with pytest.raises(BadValue) as error:
                use()
            assert says in str(error.value)
            assert str(path) in str(error.value)
            assert "\n" not in str(error.value)

    def test_counts_that_are_no_numbers(self, tmp_path: Path) -> None:
        path = tmp_path / "o.db"
        open_memory(str(path)).add(seen_once())
        for odd in (np.nan, np.inf, -1.0):
            with sqlite3.connect(path) as db:
                db.execute("UPDATE opponents SET seen = ?", [np.full(SEEN, odd).tobytes()])
            db.close()
            with pytest.raises(BadValue, match="not possible"):
                MemoryFile(path).recall("limit")

    def test_other_files(self, tmp_path: Path, cars_db: Path) -> None:
        (tmp_path / "text.db").write_text("hello " * 100)
        (tmp_path / "empty.db").write_text("")
        for path in (tmp_path / "text.db", tmp_path / "empty.db", tmp_path, cars_db):
            with pytest.raises(BadValue, match=str(path)) as error:
                open_memory(str(path))
            assert "\n" not in str(error.value)
        with pytest.raises(BadValue, match="no folder"):
            open_memory(str(tmp_path / "none" / "o.db"))
        with pytest.raises(BadValue, match="no file of opponents"):
            MemoryFile(tmp_path / "none.db")

    def test_names_that_cannot_be_kept(self, tmp_path: Path) -> None:
        file = open_memory(str(tmp_path / "o.db"))
        for name in ("a\nb", "x" * 1_000):
            with pytest.raises(BadValue, match="is called"):
                file.recall("limit", [name])
            with pytest.raises(BadValue, match="is called"):
                file.add(seen_once(name=name))


def _add(path: Path) -> None:
    file = MemoryFile.__new__(MemoryFile)
    file.path, file.forget = path, 1.0
    file.add(seen_once())


# --- matches --------------------------------------------------------------------------------------


class Pupil:
    """Calls; its memory has what it was told of the others, and each hand's opponents."""

    games = ("limit", "nolimit")
    memory = np.dtype([("told", np.float64), ("hands", np.int64)])

    def __init__(self) -> None:
        self.names: list[list[str]] = []

    def recall(self, opponents, names, memory) -> None:
        self.names.append(names)
        memory["told"] = opponents.counts_of(names[1:])[:, S_HANDS].sum()
        opponents.opponents.clear()  # a copy: nobody else is hurt

    def act(self, situations, memory, chance):
        self.told = memory["told"].copy()
        return np.ones(situations.count, np.int64)

    def remember(self, tables, seats, memory) -> None:
        memory["hands"] += 1


@pytest.mark.long
class TestMatches:
    def test_what_is_seen_does_not_depend_on_workers(self, tmp_path: Path, cbr) -> None:
        words = ["match", "lag", "call*2", "--hands", "6000", "--seed", "3", "--json"]
        plain = cbr(*words)
        found = []
        for workers in (1, 2):
            path = tmp_path / f"{workers}.db"
            answer = cbr(*words, "--workers", workers, "--remember", f"{path}?forget=0.999")
            assert answer.code == 0, answer.err
            assert answer.json == plain.json  # it changes nothing of the match
            found.append(MemoryFile(path).recall("limit"))
        for name in ("lag", "call"):
            np.testing.assert_array_equal(found[0].of(name).seen, found[1].of(name).seen)
            assert found[0].of(name).shown == found[1].of(name).shown
        assert found[0].of("lag").hands <= 6000 < found[0].of("call").hands <= 12000

    def test_the_command_shows_them(self, tmp_path: Path, cbr) -> None:
        path = tmp_path / "o.db"
        for game in ("limit", "nolimit"):
            words = ["match", "lag", "call", "--hands", "400", "--game", game]
            answer = cbr(*words, "--remember", path)
            assert answer.code == 0, answer.err
            assert f"remembered in {path}" in answer.out
        shown = cbr("opponents", path)
        assert shown.code == 0, shown.err
        assert "4 opponents" in shown.out
        rows = {
            (row["player"], row["game"]): row
            for row in cbr("opponents", path, "--json").json["opponents"]
        }
        assert len(rows) == 4
        caller = rows["call", "limit"]
        assert (caller["folds_to_bets"], caller["raises"], caller["bets"]) == (0.0, 0.0, 0.0)
        assert 0 < caller["shown"] <= caller["hands"] <= 400
        bad = cbr("opponents", tmp_path / "none.db")
        assert bad.code != 0
        assert len(bad.err.strip().splitlines()) == 1

    def test_bots_are_told_what_was_known_before(self, tmp_path: Path) -> None:
        from cbr.plugging import default_plugins
        from cbr_arena import BotKind
        from cbr_arena import match as matches

        pupil = Pupil()
        memory = OpponentMemory("limit")
        memory.opponents["lag"] = Opponent(np.full(SEEN, 5.0), 5)
        match = Match(players_of(["call", "lag", "call"]), hands=60, session=10)
        room = match.room()
        room.bots = [pupil, *room.bots[1:]]
        room.opponents = memory
        room.names = ["call", "lag", "call"]
        played = matches._played(match, range(20), room)
        assert pupil.names[:2] == [["call", "lag", "call"], ["call", "call", "lag"]]
        assert (pupil.told == 5.0).all()
        assert memory.of("lag").hands == 5  # nobody adds to it while the match is played
        assert played.seen.of("lag").hands <= 60
        assert not played.faults
        assert BotKind is not None
        assert default_plugins().named("watcher").keys() == {"opponents"}

    def test_without_it_nothing_is_seen(self, tmp_path: Path) -> None:
        match = Match(players_of(["call", "lag"]), hands=20)
        assert play(match).seen is None
        assert play(match, opponents=OpponentMemory("limit")).seen.of("lag").hands > 0

    def test_a_match_that_cannot_keep_it_does_not_begin(self, tmp_path: Path, cbr) -> None:
        answer = cbr("match", "lag", "call", "--remember", tmp_path / "no" / "o.db")
        assert answer.code != 0
        assert "no folder" in answer.err
        assert len(answer.err.strip().splitlines()) == 1
