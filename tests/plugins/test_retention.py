"""Learning while playing: what a bot keeps of the hands it sees, and what comes of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from made_logs import made

from cbr.building.pipeline import build
from cbr.errors import BadValue, CbrError, NoSuchName
from cbr.plugging.plugins import default_plugins
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check
from cbr_arena import (
    Chance,
    Match,
    Played,
    lines_of,
    pieces_played,
    play,
    players_of,
    sittings,
    write_log,
)
from cbr_arena import build as build_bot
from cbr_arena.showing import as_seen
from cbr_casper.bot import CaseBot
from cbr_casper.retention.casebase_writer import CasebaseWriter
from cbr_casper.retention.combined_retrieval import RetainingStreet
from cbr_casper.retention.observed_hands import merge_views, observed_text
from cbr_casper.retention.session_cases import SessionCases, similar_cases
from cbr_casper.streets import codes_of
from cbr_casper.values.labels import label, unlabelled
from cbr_casper.values.table_models import TableModels
from cbr_holdem.cards import UNKNOWN
from cbr_holdem.situation import Pending
from cbr_holdem.table import BOARD, FOLDED, HOLE, PLAYERS, STREETS, Game, Hand, Tables

NO_LIMIT = Game("nolimit", 50, 100)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("retention"), "limit", ["miniloki*3", "lag*2"], 500)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = made(tmp_path_factory.mktemp("labelled"), "limit", ["miniloki*3", "lag*2"], 300)
    with Casebase.open(out, write=True) as opened:
        models = TableModels.learn(opened, rounds=1, hands=2_000)
        label(opened, unlabelled(opened, 40), models, deals=10)
        with opened.transaction():
            models.save(opened)
            opened.put_learned("worlds.hands", np.array([4_000]))  # as if there were enough
    return out


def kept_by(bot: CaseBot, specs: list[str], hands: int, game: Game | None = None) -> list[Any]:
    """Tables as the bot saw them at the end, its seats, and the sessions it kept them in."""
    given = {"game": game} if game else {}
    match = Match(players_of(["random", *specs]), hands=hands, duplicate=False, **given)
    room = match.room()
    room.bots = [bot, *room.bots[1:]]
    seen = []
    for sitting in sittings(match, range(match.deals), room):
        rows = room.play(sitting)
        table, seat = np.nonzero(sitting.player == 0)
        seen.append((as_seen(rows, table, seat), seat, rows))
    assert not room.faults
    assert bot.retention is not None
    return [seen, list(bot.retention._sessions.values())]


class TestSession:
    @pytest.mark.long
    @pytest.mark.parametrize(
        ("spec", "specs", "game"),
        [
            ("retain=session", ["lag*2", "call"], None),
            ("game=nolimit", ["lag?size=1", "call"], NO_LIMIT),
        ],
    )
    def test_it_keeps_what_a_build_makes_of_the_same_hands(
        self, base: Path, tmp_path: Path, spec: str, specs: list[str], game: Game | None
    ) -> None:
        file = base if "retain" in spec else "empty"
        bot = build_bot(f"cbr:{file}?{spec}", game.betting if game else "limit")
        seen, [session] = kept_by(bot, specs, 120, game)
        bodies = [
            observed_text(t, game or Game(), f"n/{n}")
            for n, (ts, _, _) in enumerate(seen)
            for t in ts
        ]
        log, out = tmp_path / "seen.phhs", tmp_path / "seen.db"
        write_log(bodies, log)
        build([log], out, plugins=default_plugins())
        compared = 0
        with Casebase.open(out) as opened:
            for street, stage in enumerate(STREETS):
                cases = opened.read_cases(stage)
                mine = session.streets[street]
                assert np.array_equal(cases.values, mine.codes)
                assert np.array_equal(cases.solution, mine.solution)
                assert np.allclose(cases.outcome, mine.outcome)
                compared += len(cases)
        assert compared > 300
        own = sum(int(kept.own.sum()) for kept in session.streets)
        assert 0 < own < compared

    @pytest.mark.long
    def test_no_card_that_was_not_seen(self, base: Path) -> None:
        bot = CaseBot(str(base), retain="session")
        seen, _ = kept_by(bot, ["lag*3"], 150)
        hidden = 0
        for tables, seats, rows in seen:
            for table, seat, row in zip(tables, seats, rows, strict=True):
                hand = Hand.read(observed_text(table, Game()))
                for other, hole in enumerate(hand.holes):
                    shown = row[PLAYERS] > 1 and not row[FOLDED] >> other & 1
                    assert bool(hole) == bool(other == seat or shown)
                    hidden += not hole
        assert hidden > 100

    @pytest.mark.long
    def test_own_decisions_are_known_from_others(self, base: Path) -> None:
        bot = CaseBot(str(base), retain="session")
        seen, [session] = kept_by(bot, ["call*2", "lag"], 100)
        mine = np.zeros(len(STREETS), int)
        for tables, [seat], _ in seen:
            for street, who, _, _ in Tables(tables).history(0):
                mine[street] += who == seat
        assert [int(kept.own.sum()) for kept in session.streets] == mine.tolist()
        assert all(len(kept) > kept.own.sum() > 0 for kept in session.streets)

    @pytest.mark.long
    def test_sessions_are_forgotten(self, base: Path) -> None:
        spec = f"cbr:{base}?retain=session"
        match = Match(players_of([spec, "lag"]), hands=840, session=70)
        room = match.room()
        [bot] = [one for one in room.bots if isinstance(one, CaseBot)]
        for first in (0, 140, 280):
            for sitting in sittings(match, range(first, first + 140), room):
                room.play(sitting)
            assert bot.retention is not None
            going = list(bot.retention._sessions.values())
            assert len(going) == 4
            assert {session.hands for session in going} == {70}

    @pytest.mark.long
    def test_the_same_decisions_before_anything_was_kept(self, labelled: Path) -> None:
        """Sums that are kept say what retrieval says, for imitation and for values."""
        for reuse in ("", "proportional", "similarity-weighted", "worth?temperature=0.3"):
            plain, learns = (
                CaseBot(str(labelled), reuse=reuse, retain=retain) for retain in ("", "session")
            )
            plain.table_models = learns.table_models = None
            asked = list(_compared(plain, learns))
            for one, other in asked:
                assert np.allclose(one, other, atol=1e-12)
            assert len(asked) > 15

    def test_nothing_changes_without_retain(self, labelled: Path) -> None:
        bot = CaseBot(str(labelled))
        assert bot.retention is None
        assert not any(isinstance(street, RetainingStreet) for street in bot.streets)
        assert bot.memory is not None
        assert bot.memory.names == ("log_likelihood",)

    def test_what_was_kept_counts(self, base: Path) -> None:
        """Own cases that did one thing make it likelier, the more they count."""
        shares = {}
        for own in (0.0, 3.0, 1_000.0):
            bot = CaseBot(str(base), retain="session", own=own)
            shares[own] = _after_raises(bot)
        assert shares[0.0] < shares[3.0] < shares[1_000.0]
        assert shares[1_000.0] > 0.9

    @pytest.mark.long
    def test_the_same_for_any_number_of_workers(
        self, base: Path, pool: Executor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cbr_arena.match._SESSIONS", 2)
        for spec in (f"cbr:{base}?retain=session", "cbr:empty"):
            match = Match(players_of([spec, "lag"]), hands=240, session=20)
            assert match.deals > 2 * match.piece
            alone, together = play(match), play(match, pool)
            assert np.array_equal(alone.won, together.won)
            assert lines_of(match, alone)[0].faults == {}
            assert alone.session is not None

    def test_near_is_the_similarity_of_retrieval(self, base: Path) -> None:
        bot = CaseBot(str(base), retain="session")
        street = bot.streets[1]
        vectors = street.retriever.vectors
        kept = SessionCases(vectors.values.shape[1])
        some = vectors.values[:200]
        kept.add(some, np.zeros(200, np.int64), np.zeros(200), np.ones(200, bool))
        target = vectors.values[5:6]
        found = similar_cases(
            target, [kept], street.retriever.measures, street.retriever.weights, 0.9
        )
        expected = street.retriever.score(target[0], street.retriever.weights, np.arange(200))
        assert len(found.target) == (expected > 0.9 - 1e-6).sum() > 1
        assert np.allclose(np.sort(found.similarity), np.sort(expected[expected > 0.9 - 1e-6]))

    @pytest.mark.long
    def test_explanation(self, base: Path) -> None:
        for spec in (f"cbr:{base}?retain=session", "cbr:empty"):
            bot = build_bot(spec, "limit")
            kept_by(bot, ["lag"], 60)
            memory = np.zeros(1, bot.memory)
            memory["ticket"] = 1
            [(situations, _), *_] = _asked(1)
            told = bot.explain(situations, memory, None).why
            assert "own decisions" in told
            assert max(map(len, told.splitlines())) <= 76


class TestFile:
    @pytest.mark.long
    def test_hands_are_written_as_a_build_would(self, base: Path, tmp_path: Path) -> None:
        out = tmp_path / "seen.db"
        bot = CaseBot(str(base), retain=str(out))
        seen, _ = kept_by(bot, ["lag*2", "call"], 120)
        log, again = tmp_path / "seen.phhs", tmp_path / "again.db"
        write_log(
            [observed_text(t, Game(), f"n/{n}") for n, (ts, _, _) in enumerate(seen) for t in ts],
            log,
        )
        build([log], again, plugins=default_plugins())
        with Casebase.open(out) as kept, Casebase.open(again) as built:
            for stage in STREETS:
                assert kept.digest(stage) == built.digest(stage)
                assert kept.count(stage) == built.count(stage) > 10
            assert kept.hidden() == built.hidden()
        assert check(out) == []

    @pytest.mark.long
    def test_they_can_be_labelled_and_played(self, tmp_path: Path) -> None:
        out = tmp_path / "seen.db"
        match = Match(players_of([f"cbr:empty?retain={out}", "call", "lag"]), hands=300)
        assert lines_of(match, play(match))[0].faults == {}
        with Casebase.open(out, write=True) as opened:
            models = TableModels.learn(opened, rounds=1, hands=1_000)
            found = label(opened, unlabelled(opened, 5), models, deals=4)
        assert all(one.now == 5 for one in found)
        match = Match(players_of([f"cbr:{out}", "call"]), hands=40)
        assert lines_of(match, play(match))[0].faults == {}

    @pytest.mark.long
    def test_the_same_match_again_adds_nothing(self, base: Path, tmp_path: Path) -> None:
        out = tmp_path / "seen.db"
        for _ in range(2):
            match = Match(players_of([f"cbr:{base}?retain={out}", "lag"]), hands=200, session=50)
            assert lines_of(match, play(match))[0].faults == {}
            with Casebase.open(out) as opened:
                hands = opened.db.execute(f"SELECT COUNT(*) FROM {opened.records_table}").fetchone()
            assert hands == (200,)
            match_room_forgotten()
        assert check(out) == []

    @pytest.mark.long
    def test_into_the_casebase_that_it_plays_from(self, tmp_path: Path) -> None:
        out = made(tmp_path, "own", ["miniloki", "lag"], 200)
        with Casebase.open(out) as opened:
            before = {stage: opened.count(stage) for stage in STREETS}
        match = Match(players_of([f"cbr:{out}?retain={out}", "lag"]), hands=100)
        assert lines_of(match, play(match))[0].faults == {}
        with Casebase.open(out) as opened:
            assert all(opened.count(stage) > before[stage] for stage in STREETS)
        assert check(out) == []

    @pytest.mark.long
    def test_several_processes_write_one_file(
        self, base: Path, tmp_path: Path, pool: Executor
    ) -> None:
        out = tmp_path / "shared.db"
        specs = [f"cbr:empty?retain={out}", f"cbr:{base}?retain={out}", "lag"]
        match = Match(players_of(specs), hands=480, session=10)
        played = play(match, pool)
        assert not played.faults
        assert check(out) == []
        with Casebase.open(out) as opened:
            [records] = opened.db.execute(f"SELECT COUNT(*) FROM {opened.records_table}").fetchone()
        assert 480 <= records <= 960

    @pytest.mark.long
    def test_many_writers_of_the_same_hands(self, tmp_path: Path, pool: Executor) -> None:
        """Each hand is there once, whoever wrote it first."""
        out = tmp_path / "raced.db"
        counts = list(pool.map(_written, [str(out)] * 4))
        assert sum(counts) == 60
        assert check(out) == []

    @pytest.mark.long
    def test_what_several_seats_saw_is_one_hand(self, tmp_path: Path) -> None:
        out = tmp_path / "self.db"
        match = Match(players_of([f"cbr:empty?retain={out}*3"]), hands=90)
        assert not play(match).faults
        with Casebase.open(out) as opened:
            bodies = [b for _, some in opened.read_records(100) for b in some]
        boards = [Hand.read(body) for body in bodies if Hand.read(body).board]
        assert len({(hand.board, hand.actions) for hand in boards}) == len(boards)
        assert all(all(hand.holes) for hand in boards)

    def test_together_keeps_apart_what_only_looks_alike(self) -> None:
        table = np.zeros(200, np.int64)
        table[HOLE : HOLE + 20] = table[BOARD : BOARD + 5] = UNKNOWN
        one, other = table.copy(), table.copy()
        one[HOLE], other[HOLE + 2] = 3, 4
        assert len(merge_views(np.array([one, other]), ["a", "b"])[0]) == 2
        one[BOARD : BOARD + 3] = other[BOARD : BOARD + 3] = [7, 8, 9]
        [joined], numbers = merge_views(np.array([one, other]), ["a", "b"])
        assert (joined[HOLE], joined[HOLE + 2], numbers) == (3, 4, ["a"])

    @pytest.mark.long
    def test_a_file_that_cannot_be_written(self, base: Path, tmp_path: Path) -> None:
        for name, why in (
            ("nowhere/seen.db", "no folder"),
            ("seen", "session, or a casebase FILE.db"),
        ):
            with pytest.raises(BadValue, match=why):
                CaseBot(str(base), retain=str(tmp_path / name))
        other = tmp_path / "other.db"
        other.write_text("not a casebase")
        with pytest.raises(CbrError, match="not a casebase"):
            CaseBot(str(base), retain=str(other))
        bets = made(tmp_path, "bets", ["call", "lag?size=1"], 60, NO_LIMIT)
        with pytest.raises(BadValue, match="holdem-nolimit"):
            CaseBot(str(base), retain=str(bets))

    def test_one_sentence_on_the_command_line(self, cbr, base: Path, tmp_path: Path) -> None:
        answer = cbr("match", f"cbr:{base}?retain={tmp_path}/no/seen.db", "call", "--hands", 10)
        assert answer.code == 2
        assert "no folder" in answer.err

    @pytest.mark.long
    def test_a_failure_later_is_a_fault(
        self, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "seen.db"
        match = Match(players_of([f"cbr:{base}?retain={out}", "lag"]), hands=60, seed=9)
        written = CasebaseWriter._write

        def full(self: CasebaseWriter, bodies: Any) -> int:
            if self.path.exists():
                raise OSError(28, "No space left on device")
            return written(self, bodies)

        monkeypatch.setattr(CasebaseWriter, "_write", full)
        played = play(match)
        faults = lines_of(match, played)[0].faults
        assert len(faults) == 1
        assert "No space left" in next(iter(faults))
        assert np.isfinite(played.won).all()

    @pytest.mark.long
    def test_a_kill_leaves_a_sound_file(self, tmp_path: Path) -> None:
        out = tmp_path / "killed.db"
        code = (
            "from cbr.cli import main; main(['match', "
            f"'cbr:empty?retain={out}', 'call', '--hands', '20000'])"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL
        )
        try:
            end = time.monotonic() + 600
            while time.monotonic() < end and not _records(out):
                time.sleep(0.2)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert _records(out)
        assert check(out) == []


class TestEmpty:
    @pytest.mark.long
    def test_it_learns(self) -> None:
        """Its last hands against one that calls are better than its first."""
        sessions, length = 16, 480
        match = Match(
            players_of(["cbr:empty", "call"]),
            hands=sessions * length,
            session=length,
            duplicate=False,
            adjust="aivat",
            seed=7,
        )
        played = Played.together(list(pieces_played(match, piece=sessions * length)))
        assert not played.faults
        by_time = played.judged[:, 0].reshape(sessions, 4, -1).mean(axis=2)
        gain = by_time[:, 2:].mean(axis=1) - by_time[:, 0]
        assert gain.mean() > 2.0 * gain.std(ddof=1) / np.sqrt(sessions)
        assert by_time[:, 2:].mean() > 0.3

    @pytest.mark.long
    def test_it_takes_what_those_who_fold_leave(self) -> None:
        match = Match(players_of(["cbr:empty", "fold"]), hands=2_000, session=500)
        assert play(match).won[:, 0].mean() > 0.3

    @pytest.mark.long
    def test_no_limit(self) -> None:
        specs = ["cbr:empty?game=nolimit", "call", "lag?size=1"]
        match = Match(players_of(specs), hands=240, game=NO_LIMIT)
        line = lines_of(match, play(match))[0]
        assert line.faults == {}
        assert line.pfr > 0

    def test_what_it_refuses(self) -> None:
        with pytest.raises(NoSuchName, match="game of cbr"):
            CaseBot("empty", game="stud")
        with pytest.raises(BadValue, match="no style"):
            CaseBot("empty", reuse="majority")
        with pytest.raises(BadValue, match="below 1"):
            CaseBot("empty", threshold=1.0)
        with pytest.raises(BadValue, match="plays limit"):
            build_bot("cbr:empty", "nolimit")

    def test_what_a_file_refuses(self, base: Path) -> None:
        with pytest.raises(BadValue, match="game=limit is for cbr:empty"):
            CaseBot(str(base), game="limit")
        with pytest.raises(BadValue, match="own=-1"):
            CaseBot(str(base), retain="session", own=-1.0)


def _asked(hands: int) -> list[tuple[Pending, Chance]]:
    """Decisions of players who call, among two who do not."""
    found = []

    class Spy:
        memory = None

        def act(self, situations: Pending, memory: Any, chance: Chance) -> Any:
            rows = situations._rows.copy()
            found.append((Pending(rows, situations.game, situations.which.copy()), chance))
            return np.ones(situations.count, np.int64)

    match = Match(players_of(["random", "lag*2"]), hands=hands, duplicate=False)
    room = match.room()
    room.bots = [Spy(), *room.bots[1:]]
    for sitting in sittings(match, range(match.deals), room):
        room.play(sitting)
    assert not room.faults
    return found


def _compared(plain: CaseBot, learns: CaseBot) -> Iterator[tuple[Any, Any]]:
    """Shares of two bots, one of which has memory, but nothing in mind."""
    for situations, chance in _asked(60):
        blank = np.zeros(situations.count, learns.memory)
        yield (
            plain.act(situations, None, chance).shares,
            learns.act(situations, blank, chance).shares,
        )


def _after_raises(bot: CaseBot) -> float:
    """How often it raises in the first decision, having done so four times."""
    [(situations, chance), *_] = _asked(1)
    memory = np.zeros(1, bot.memory)
    assert bot.retention is not None
    [session] = bot.retention.sessions(memory, situations.game)
    street = bot.streets[0]
    codes = np.repeat(codes_of(street.case_type, situations), 4, axis=0)
    raises = np.full(4, street.solutions.index("r"))
    session.streets[0].add(codes, raises, np.ones(4), np.ones(4, bool))
    return float(bot.act(situations, memory, chance).shares[0, 2])


def match_room_forgotten() -> None:
    """The next match builds its bots anew."""
    from cbr_arena import match

    match._room.cache_clear()


def _records(path: Path) -> int:
    """Hands in a casebase that somebody may be writing."""
    if not path.exists():
        return 0
    with Casebase.open(path) as opened:
        query = f"SELECT COUNT(*) FROM {opened.records_table}"
        return int(opened.db.execute(query).fetchone()[0])


def _written(out: str) -> int:
    """How many of 60 hands this process was the first to write."""
    bot = CaseBot("empty", retain=out)
    assert bot.retention is not None
    assert bot.retention.writer is not None
    match = Match(players_of(["call*3"]), hands=60, duplicate=False, keep_hands=True)
    write_hands = bot.retention.writer.write
    hands = play(match).hands
    return sum(write_hands(hands[at : at + 4]) for at in range(0, 60, 4))
