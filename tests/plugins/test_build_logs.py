"""`cbr build` on logs of every format: cases, hidden decisions, options, identity, soundness."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

import pytest
from made_logs import PHH, STARS, acpc_log, irc_month, random_hands

from cbr.building.pipeline import BuildReport, build
from cbr.building.recomputation import rebuild
from cbr.cli.output import show_reasons
from cbr.errors import BadValue, CbrError
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check
from cbr.workers import executor
from cbr_holdem.situation import replay_texts
from cbr_holdem.table import STREETS, Hand

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
CASPER = {
    "preflop": "players position players_in yet_to_act committed to_call pot_odds hand_rank",
    "flop": "players position previous_bets players_in yet_to_act committed to_call pot pot_odds "
    "ihs ppot npot",
    "river": "players position previous_bets players_in yet_to_act committed to_call pot pot_odds "
    "ihs",
}
CASPER["turn"] = CASPER["flop"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return acpc_log(tmp_path / "match.log", 60, 4)


class TestCases:
    def test_every_decision_is_a_case_of_its_street(self, log: Path, tmp_path: Path) -> None:
        report = build([log], tmp_path / "m.db")
        found = replay_texts(random_hands(60, 4))
        streets = found.situations.place[:, 0].tolist()
        assert report.records == 60
        assert dict(report.cases) == {s: streets.count(i) for i, s in enumerate(STREETS)}
        with Casebase.open(tmp_path / "m.db") as base:
            assert base.domain == "holdem"
            for stage, features in CASPER.items():
                assert [f.name for f in base.case_type(stage).indexed] == features.split()
            outcomes = [c.outcome for stage in STREETS for c in base.cases(stage)]
            assert sorted(outcomes) == pytest.approx(sorted(found.outcome.tolist()))
            folds = [c.outcome for s in STREETS for c in base.cases(s) if c.solution == "f"]
            assert set(folds) == {0.0}
        assert check(tmp_path / "m.db") == []

    def test_a_case_points_to_its_hand_and_decision(self, log: Path, tmp_path: Path) -> None:
        build([log], tmp_path / "m.db")
        database = sqlite3.connect(tmp_path / "m.db")
        rows = database.execute(
            "SELECT body, step, player, hole, board, solution FROM cases_turn "
            "JOIN hands ON hands.id = record"
        ).fetchall()
        assert rows
        for body, step, player, hole, board, solution in rows:
            hand, found = Hand.read(body), replay_texts([body])
            seat = int(found.situations.place[step, 1])
            assert (hand.players[seat], hand.holes[seat]) == (player, hole)
            assert (hand.board[:8], "fkcbr"[found.action[step]]) == (board, solution)

    def test_a_worked_hand(self, tmp_path: Path) -> None:
        """The example of the PHH format: Bo's bet on the turn with a set of queens."""
        (tmp_path / "one.phhs").write_text(PHH)
        build([tmp_path / "one.phhs"], tmp_path / "one.db")
        with Casebase.open(tmp_path / "one.db") as base:
            first, *_ = base.cases("turn")
            assert first.values["player"] == "Bo"
            assert (first.solution, first.values["pot"], first.values["to_call"]) == ("b", 8.5, 0)
            assert first.values["previous_bets"] == 1
            # He has put in 8 of his 16 by then, and loses 8 more: four small bets.
            assert first.outcome == -4
            assert sum(base.hidden()["preflop"].values()) == 1

    def test_no_limit_has_cases_of_its_own(self, tmp_path: Path) -> None:
        log = acpc_log(tmp_path / "nl.log", 40, 3, "nolimit")
        build([log], tmp_path / "nl.db")
        with Casebase.open(tmp_path / "nl.db") as base:
            assert base.domain == "holdem-nolimit"
            taken = {c.solution for s in STREETS for c in base.cases(s)}
            assert taken & {"bmin", "rmin", "r1/2"}
            for case in base.cases("flop"):
                assert 0 <= case.values["call_share"] <= 1
                assert 0 <= case.values["pot_share"] <= 1
        with pytest.raises(BadValue, match=r"nl\.db holds holdem-nolimit cases"):
            build([log], tmp_path / "nl.db", "holdem")

    def test_hands_of_the_other_betting_are_skipped_or_left_out(self, tmp_path: Path) -> None:
        logs = tmp_path / "logs"
        logs.mkdir()
        acpc_log(logs / "a.log", 20, 3)
        acpc_log(logs / "b.log", 30, 3, "nolimit")
        report = build([logs], tmp_path / "a.db")
        assert report.records == 20
        assert list(report.skipped) == [
            "a hand of nolimit betting, not limit; build those with --type holdem-nolimit"
        ]
        report = build([logs], tmp_path / "b.db", options={"variant": "nolimit"})
        assert (report.records, report.skipped.total(), report.left_out.total()) == (30, 0, 20)


class TestHidden:
    def test_decisions_whose_cards_nobody_saw(self, tmp_path: Path) -> None:
        (tmp_path / "stars.txt").write_text(STARS)
        report = build([tmp_path / "stars.txt"], tmp_path / "s.db")
        # Ann folded unseen; Bob showed and Cy's cards are in the summary.
        assert dict(report.cases) == {"preflop": 2, "flop": 3, "turn": 2, "river": 2}
        assert dict(report.hidden) == {"preflop": 1}
        [note] = report.notes
        assert note.startswith(
            "no case of preflop, flop, turn, river has solution 'f' (hidden decisions have)"
        )
        assert "never folds" in note
        with Casebase.open(tmp_path / "s.db") as base:
            columns = [c.name for c in base.db.table("hidden").columns]
            assert {"hand_rank", "ihs", "ppot", "npot", "hole"}.isdisjoint(columns)
            assert {"stage", "record", "step", "players", "pot_odds", "player"} <= set(columns)
            [row] = base.db.table("hidden").rows
            assert (row["player"], row["solution"], row["to_call"]) == ("ann", "f", 1.5)
        assert check(tmp_path / "s.db") == []

    def test_known_only(self, tmp_path: Path) -> None:
        (tmp_path / "stars.txt").write_text(STARS)
        report = build([tmp_path / "stars.txt"], tmp_path / "s.db", known_only=True)
        assert not report.hidden
        assert sum(report.cases.values()) == 9

    def test_a_query_of_a_decision_nobody_showed(self, tmp_path: Path, cbr) -> None:
        again = STARS.replace("#101", "#102").replace("[Tc 8c]", "[Jc Jd]")
        (tmp_path / "stars.txt").write_text(STARS + "\n\n" + again.replace("two pair, Tens", "x"))
        build([tmp_path / "stars.txt"], tmp_path / "s.db")
        words = ["query", tmp_path / "s.db", "--hand", 2, "--decision", 1]
        answer = cbr(*words, "--json").json
        assert (answer["stage"], answer["unknown"]) == ("preflop", ["hand_rank"])
        assert answer["decision"]["values"]["player"] == "ann"
        assert answer["lacking"] == {"f": 1.0}
        assert sum(answer["probabilities"].values()) == pytest.approx(1)
        refused = cbr(*words, "--missing", "refuse")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "has solution 'f', which hidden decisions have" in refused.err
        listed = cbr("query", tmp_path / "s.db", "--hand", 2)
        assert "hand 2 has 10 decisions; choose by --decision: 0 (preflop r)" in listed.err

    @pytest.mark.long
    def test_info_tells_both(self, tmp_path: Path, cbr) -> None:
        irc_month(tmp_path / "db")
        assert cbr("build", tmp_path / "db", "--out", tmp_path / "i.db").code == 0
        found = cbr("info", tmp_path / "i.db", "--json").json
        assert found["hands"] == 1
        assert found["cases"] == {"preflop": 2, "flop": 3, "turn": 2, "river": 3}
        assert found["hidden"]["preflop"] == 1
        assert found["players"] == {"ann": 1, "bob": 1, "cyd": 1}
        assert found["actions"]["known"]["preflop"]["r"] == 1
        assert found["actions"]["hidden"]["preflop"]["f"] == 1
        assert found["digest"].keys() == found["cases"].keys()
        shown = cbr("info", tmp_path / "i.db").out
        assert "Hidden decisions" in shown
        assert "cyd" in shown


class TestReadersAreFound:
    def test_every_format_in_one_folder(self, tmp_path: Path) -> None:
        logs = irc_month(tmp_path / "logs")
        acpc_log(logs / "match.log", 10, 3)
        (logs / "stars.txt").write_text(STARS.replace("\n", "\r\n"))
        (logs / "hands.phhs.gz").write_bytes(gzip.compress(PHH.encode()))
        (logs / "notes.md").write_text("# nothing to read\n")
        report = build([logs], tmp_path / "all.db")
        assert report.records == 13
        assert [Path(p).name for p in report.unreadable] == ["notes.md"]
        with Casebase.open(tmp_path / "all.db") as base:
            sources = {row["name"]: row["reader"] for row in base.db.table("sources").rows}
        assert sources == {
            "match.log": "acpc",
            "stars.txt": "pokerstars",
            "hands.phhs": "phh",
            "holdem1/199909/hdb": "irc",
        }

    @pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.zst"])
    def test_archives(self, tmp_path: Path, log: Path, suffix: str) -> None:
        """A log in an archive has its game definition there."""
        definition = log.with_suffix(".game").read_text().replace("= 10 10 20 20", "= 10 10 20 20")
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as archive:
            for name, text in (
                ("in/match.log", log.read_bytes()),
                ("in/match.game", definition.encode()),
            ):
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
        data = raw.getvalue()
        if suffix.endswith(("gz",)):
            data = gzip.compress(data)
        elif suffix.endswith("xz"):
            data = lzma.compress(data)
        elif suffix.endswith("zst"):
            import zstandard

            data = zstandard.compress(data)
        path = tmp_path / f"logs{suffix}"
        path.write_bytes(data)
        report = build([path], tmp_path / "m.db")
        assert (report.records, report.unreadable) == (60, [])
        with Casebase.open(tmp_path / "m.db") as base:
            [source] = base.db.table("sources").rows
            assert source["name"] == "logs.tar/in/match.log"

    def test_an_archive_that_breaks_off(self, tmp_path: Path, log: Path) -> None:
        with tarfile.open(tmp_path / "logs.tar", "w") as archive:
            archive.add(log.with_suffix(".game"), "match.game")
            archive.add(log, "match.log")
        data = (tmp_path / "logs.tar").read_bytes()
        cut = tmp_path / "cut.tar"
        cut.write_bytes(data[: data.index(b"STATE:30:") + 20])
        report = build([cut], tmp_path / "m.db")
        assert report.records == 30
        assert [r.partition(":")[0] for r in report.skipped] == [
            "a STATE line has 6 parts between colons, not 3",
            "the archive breaks off",
        ]


class TestHostileArchives:
    """What cannot be had is said; the rest is read."""

    def build(self, folder: Path, *members: tuple[str, bytes, dict]) -> BuildReport:
        path = folder / "odd.tar"
        with tarfile.open(path, "w") as archive:
            for name, content, fields in members:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                for field, value in fields.items():
                    setattr(member, field, value)
                archive.addfile(member, io.BytesIO(content))
        return build([path], folder / "odd.db", "holdem")

    @pytest.mark.parametrize(
        ("name", "fields", "says"),
        [
            ("/abs.phhs", {}, "leads out of the archive"),
            ("../up.phhs", {}, "leads out of the archive"),
            ("ok.phhs", {}, "an earlier member has the same name"),
            (
                "link.phhs",
                {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0},
                "a link",
            ),
            ("n" * 300, {}, "cannot be unpacked"),
            ("ok.phhs/inside", {}, "cannot be unpacked"),
        ],
    )
    def test_odd_members(self, tmp_path: Path, name: str, fields: dict, says: str) -> None:
        report = self.build(tmp_path, ("ok.phhs", PHH.encode(), {}), (name, PHH.encode(), fields))
        assert report.records == 1
        assert says in next(iter(report.skipped))

    def test_a_hard_link_is_read(self, tmp_path: Path) -> None:
        link = {"type": tarfile.LNKTYPE, "linkname": "ok.phhs", "size": 0}
        report = self.build(tmp_path, ("ok.phhs", PHH.encode(), {}), ("b.phhs", b"", link))
        assert report.records == 2

    def test_an_archive_in_an_archive(self, tmp_path: Path) -> None:
        inner = io.BytesIO()
        with tarfile.open(fileobj=inner, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("x"), io.BytesIO())
        report = self.build(
            tmp_path, ("ok.phhs", PHH.encode(), {}), ("in.tar", inner.getvalue(), {})
        )
        assert list(report.skipped) == ["an archive in an archive; unpack it first"]

    @pytest.mark.parametrize("name", ["huge.phhs", "/huge.phhs"])
    def test_a_member_that_claims_to_be_huge(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "huge.tar"
        with path.open("wb") as file:
            for member, size in (("ok.phhs", len(PHH)), (name, 1 << 50)):
                head = tarfile.TarInfo(member)
                head.size = size
                file.write(head.tobuf(tarfile.GNU_FORMAT))
                text = PHH.encode()
                file.write(text + bytes(-len(text) % 512) if size < 1 << 20 else text)
        report = build([path], tmp_path / "huge.db", "holdem")
        assert report.records == (2 if name == "huge.phhs" else 1)
        assert any("breaks off" in reason for reason in report.skipped)

    @pytest.mark.long
    def test_a_bomb_costs_no_memory(self, tmp_path: Path) -> None:
        import tracemalloc

        import zstandard

        path = tmp_path / "bomb.phhs.zst"
        path.write_bytes(zstandard.compress(bytes(200_000_000)))
        tracemalloc.start()
        with pytest.raises(CbrError, match="nothing to build"):
            build([path], tmp_path / "bomb.db", "holdem")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 150_000_000


class TestInterrupted:
    @pytest.mark.long
    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
    @pytest.mark.parametrize("blow", ["SIGINT", "SIGTERM", "SIGKILL"])
    def test_workers_end_with_the_build(self, tmp_path: Path, blow: str) -> None:
        log = acpc_log(tmp_path / "match.log", 30, 3)
        states = [s for s in log.read_text().splitlines() if s.startswith("STATE")]
        log.write_text(HEADER + "\n".join(states * 700))
        command = [str(Path(sys.executable).with_name("cbr")), "build", str(log)]
        out = tmp_path / "m.db"
        process = subprocess.Popen(
            [*command, "--out", str(out), "--workers", "2"], stderr=subprocess.PIPE
        )
        until(lambda: out.exists() or process.poll() is not None)
        workers = children_of(process.pid)
        assert len(workers) >= 2
        process.send_signal(getattr(signal, blow))
        _, said = process.communicate(timeout=600)
        assert b"Traceback" not in said
        assert blow == "SIGKILL" or b"Interrupted; everything written so far is complete" in said
        until(lambda: not any(is_running(worker) for worker in workers))
        assert build([log], out, limit=3_000).records <= 3_000
        assert check(out) == []


HEADER = "# name/game/hands/seed match match.game 1 0\n"


def until(what: Callable[[], bool], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children_of(process: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(process).children(recursive=True)]


def is_running(process: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class TestIdentity:
    def test_again_moved_and_compressed_adds_nothing(self, tmp_path: Path, log: Path) -> None:
        out = tmp_path / "m.db"
        build([log], out)
        with Casebase.open(out) as base:
            before = [base.digest(stage) for stage in STREETS]
        elsewhere = tmp_path / "moved"
        elsewhere.mkdir()
        (elsewhere / "match.log.xz").write_bytes(lzma.compress(log.read_bytes()))
        (elsewhere / "match.game").write_text(log.with_suffix(".game").read_text())
        report = build([elsewhere], out)
        assert (report.records, report.known, report.cases.total()) == (0, 60, 0)
        with Casebase.open(out) as base:
            assert [base.digest(stage) for stage in STREETS] == before

    def test_a_longer_log_adds_what_is_new(self, tmp_path: Path, log: Path) -> None:
        out, text = tmp_path / "m.db", log.read_text()
        log.write_text(text[: text.index("STATE:40:")])
        assert build([log], out).records == 40
        log.write_text(text)
        report = build([log], out)
        assert (report.records, report.known) == (20, 40)
        assert check(out) == []

    def test_other_content_in_the_same_place_is_an_error(self, tmp_path: Path, log: Path) -> None:
        out = tmp_path / "m.db"
        build([log], out)
        log.write_text(log.read_text().replace("bot0", "bot9"))
        with pytest.raises(
            CbrError, match=r"match\.log line 2 was built before with other content"
        ):
            build([log], out)

    def test_an_edited_log_replaces_the_old_one(self, tmp_path: Path, log: Path) -> None:
        """Cases, hidden decisions and skipped hands of the old content go; other logs stay."""
        stars, out = tmp_path / "stars.txt", tmp_path / "m.db"
        broken = STARS.replace("#101", "#103").replace("bob: calls $2", "bob: calls $7", 1)
        stars.write_text(STARS + "\n\n" + broken)
        build([log, stars], out)
        stars.write_text(STARS.replace("ann: folds", "ann: folds [2c 2d]"))
        with pytest.raises(CbrError, match="--replace takes the new content"):
            build([stars], out)
        report = build([stars], out, replace=True)
        assert (report.replaced, report.records) == (1, 1)
        build([log, stars], tmp_path / "fresh.db")
        with Casebase.open(out) as base, Casebase.open(tmp_path / "fresh.db") as fresh:
            for stage in STREETS:
                assert base.digest(stage) == fresh.digest(stage)
            assert sum(sum(found.values()) for found in base.hidden().values()) == 0
            assert base.db.execute("SELECT COUNT(*) FROM skipped").fetchone()[0] == 0
        assert check(out) == []


class TestOptions:
    def test_players(self, tmp_path: Path, log: Path) -> None:
        build([log], tmp_path / "m.db", options={"players": "bot1,bot2"})
        with Casebase.open(tmp_path / "m.db") as base:
            assert {c.values["player"] for c in base.cases("preflop")} == {"bot1", "bot2"}
        with pytest.raises(CbrError, match="none of --players"):
            build([log], tmp_path / "n.db", options={"players": "nobody"})

    def test_another_selection_of_the_same_hands_is_refused(
        self, tmp_path: Path, log: Path
    ) -> None:
        build([log], tmp_path / "m.db", options={"players": "bot1"})
        for options in ({}, {"players": "bot2"}, {"players": "bot1", "seats": "4"}):
            with pytest.raises(BadValue, match="built with --players bot1"):
                build([log], tmp_path / "m.db", options=options)
        assert build([log], tmp_path / "m.db", options={"players": "bot1"}).known == 60

    def test_rake(self, tmp_path: Path, cbr) -> None:
        """What was skipped for its rake comes in when more is allowed, and stays sound."""
        path, out = tmp_path / "raked.phhs", tmp_path / "raked.db"
        raked = PHH.replace("[99, 84, 117]", "[99, 84, 112]").replace("[1]", "[2]")
        path.write_text(PHH + raked)
        report = build([path], out)
        assert report.records == 1
        [reason] = report.skipped
        assert "a result of -1, -16, 12, the rules -1, -16, 17: a rake of 5 from" in reason
        assert build([path], out, options={"rake": "0.16"}).records == 1
        assert check(out) == []
        rebuild(out)
        assert build([path], out).known == 2
        wrong = cbr("build", path, "--out", tmp_path / "x.db", "--rake", "2")
        assert (wrong.code, (tmp_path / "x.db").exists()) == (2, False)
        assert "--rake is '2'; it must be a share of the pot from 0 to 1" in wrong.err

    def test_no_rake_in_match_logs(self, tmp_path: Path, log: Path) -> None:
        lines = log.read_text().splitlines(keepends=True)
        state = next(at for at, line in enumerate(lines) if line.startswith("STATE:"))
        head, result, names = lines[state].rsplit(":", 2)
        won = [float(part) for part in result.split("|")]
        won[won.index(max(won))] -= 1
        lines[state] = f"{head}:{'|'.join(map(str, won))}:{names}"
        log.write_text("".join(lines))
        report = build([log], tmp_path / "m.db", options={"rake": "1"})
        assert report.records == 59
        assert "in a game without rake" in next(iter(report.skipped))

    @pytest.mark.parametrize(
        "options", [{"players": ""}, {"players": ",,"}, {"min_hands": -1}, {"variant": ""}]
    )
    def test_values_that_select_nothing(self, tmp_path: Path, log: Path, options: dict) -> None:
        with pytest.raises(CbrError, match="--"):
            build([log], tmp_path / "m.db", options=options)

    def test_min_hands_reads_twice(self, tmp_path: Path) -> None:
        logs = tmp_path / "logs"
        logs.mkdir()
        acpc_log(logs / "a.log", 30, 3)
        acpc_log(logs / "b.log", 20, 5)
        report = build([logs], tmp_path / "m.db", options={"min_hands": 50})
        with Casebase.open(tmp_path / "m.db") as base:
            assert {c.values["player"] for c in base.cases("preflop")} == {"bot0", "bot1", "bot2"}
        assert report.records == 50

    def test_seats(self, tmp_path: Path) -> None:
        logs = tmp_path / "logs"
        logs.mkdir()
        for seats in (2, 3, 6):
            acpc_log(logs / f"{seats}.log", 10, seats)
        assert build([logs], tmp_path / "a.db", options={"seats": "2-3"}).records == 20
        assert build([logs], tmp_path / "b.db", options={"seats": "6"}).records == 10
        for wrong in ("six", "3-2", "-", "2-", "", "99", "0"):
            with pytest.raises(CbrError, match="--seats"):
                build([logs], tmp_path / "c.db", options={"seats": wrong})

    def test_limit_and_strict(self, tmp_path: Path, log: Path) -> None:
        assert build([log], tmp_path / "a.db", limit=25).records == 25
        log.write_text(log.read_text().replace("STATE:30:", "STATE:30:x"))
        assert build([log], tmp_path / "b.db").skipped.total() == 1
        with pytest.raises(BadValue, match=r"match\.log line 32: betting"):
            build([log], tmp_path / "c.db", strict=True)

    @pytest.mark.long
    def test_workers_do_not_change_anything(
        self, tmp_path: Path, log: Path, pool: Executor
    ) -> None:
        build([log], tmp_path / "one.db", batch=7)
        build([log], tmp_path / "two.db", batch=7, executor=pool)
        one, two = (
            [sqlite3.connect(tmp_path / name).execute(f"SELECT * FROM {table}").fetchall()
             for table in ("hands", "cases_preflop", "cases_river", "skipped")]
            for name in ("one.db", "two.db")
        )  # fmt: skip
        assert one == two

    @pytest.mark.long
    def test_a_dask_cluster(self, tmp_path: Path, log: Path, dask_cluster: str) -> None:
        build([log], tmp_path / "one.db", batch=7)
        with executor(dask=dask_cluster) as pool:
            build([log], tmp_path / "two.db", batch=7, executor=pool)
        one, two = (Casebase.open(tmp_path / name) for name in ("one.db", "two.db"))
        assert [one.digest(s) for s in STREETS] == [two.digest(s) for s in STREETS]

    @pytest.mark.long
    def test_nobody_answers_at_a_dask_address(
        self, tmp_path: Path, log: Path, cbr, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cbr.workers._PATIENCE", 0.5)
        answer = cbr("build", log, "--out", tmp_path / "m.db", "--dask", "tcp://127.0.0.1:9")
        assert answer.code == 2
        assert "no Dask scheduler answers at tcp://127.0.0.1:9" in answer.err


class TestRebuild:
    def test_features_anew_without_the_log(self, tmp_path: Path, plugin_file) -> None:
        """A feature that needs the cards and one that does not, for known and hidden decisions."""
        (tmp_path / "stars.txt").write_text(STARS)
        path = plugin_file(
            "import cbr\n"
            "@cbr.feature('callers', case_type='holdem', range=(0, 9))\n"
            "def callers(s): return s['callers']\n"
            "@cbr.feature('ehs', case_type='holdem/river', range=(0, 1), private=True)\n"
            "def ehs(s): return s['ehs']\n"
        )
        from cbr.plugging.plugins import Plugins

        plugins = Plugins().load([path])
        out = tmp_path / "s.db"
        build([tmp_path / "stars.txt"], out)
        (tmp_path / "stars.txt").unlink()
        rebuild(out, "+callers,+ehs", plugins=plugins)
        with Casebase.open(out) as base:
            assert all(0 <= c.values["ehs"] <= 1 for c in base.cases("river"))
            [row] = base.db.table("hidden").rows
            assert row["callers"] == 0
        assert check(out, plugins=plugins) == []


class TestCheck:
    def test_a_hand_that_no_longer_replays(self, tmp_path: Path, log: Path, cbr) -> None:
        build([log], tmp_path / "m.db")
        database = sqlite3.connect(tmp_path / "m.db")
        body = database.execute("SELECT body FROM hands WHERE id = 5").fetchone()[0]
        fields = body.split("\t")
        fields[7] = "ffffff"
        database.execute("UPDATE hands SET body = ? WHERE id = 5", ["\t".join(fields)])
        database.commit()
        answer = cbr("check", tmp_path / "m.db")
        assert answer.code == 1
        assert "hand 5: action 4 is one too many" in answer.out


class TestExport:
    def test_phh_goes_round(self, tmp_path: Path, log: Path, cbr) -> None:
        build([log], tmp_path / "m.db")
        out = tmp_path / "again.phhs"
        answer = cbr("export", tmp_path / "m.db", "--to", "phh", "--out", out, "--json")
        assert answer.json["files"] == {str(out): 60}
        build([out], tmp_path / "n.db")
        one, two = (Casebase.open(tmp_path / name) for name in ("m.db", "n.db"))
        assert [one.digest(s) for s in STREETS] == [two.digest(s) for s in STREETS]

    def test_acpc_goes_round(self, tmp_path: Path, log: Path, cbr) -> None:
        build([log], tmp_path / "m.db")
        out = tmp_path / "again.log"
        assert cbr("export", tmp_path / "m.db", "--to", "acpc", "--out", out).code == 0
        states = [line for line in log.read_text().splitlines() if line.startswith("STATE")]
        assert [line for line in out.read_text().splitlines() if line.startswith("STATE")] == states

    def test_tables(self, tmp_path: Path, log: Path, cbr) -> None:
        import csv

        import pyarrow.parquet

        build([log], tmp_path / "m.db")
        for to in ("csv", "parquet"):
            answer = cbr("export", tmp_path / "m.db", "--to", to, "--json")
            assert len(answer.json["files"]) == 5
        with (tmp_path / "m-csv" / "flop.csv").open() as file:
            rows = list(csv.DictReader(file))
        table = pyarrow.parquet.read_table(tmp_path / "m-parquet" / "flop.parquet").to_pylist()
        assert len(rows) == len(table)
        assert float(rows[3]["ihs"]) == table[3]["ihs"]
        assert rows[3]["player"] == table[3]["player"]

    def test_an_unknown_format_is_named(self, tmp_path: Path, log: Path, cbr) -> None:
        build([log], tmp_path / "m.db")
        answer = cbr("export", tmp_path / "m.db", "--to", "xml")
        assert answer.code == 2
        assert "'xml'" in answer.err
        assert "parquet" in answer.err


class TestBadInput:
    def test_a_folder_with_nothing_to_read(self, tmp_path: Path, cbr) -> None:
        logs = tmp_path / "logs"
        logs.mkdir()
        answer = cbr("build", logs, "--out", tmp_path / "x.db")
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        (logs / "a.bin").write_bytes(bytes(range(256)) * 10)
        answer = cbr("build", logs, "--out", tmp_path / "x.db", "--type", "holdem")
        assert answer.code == 2
        assert "a.bin" in answer.err
        assert not (tmp_path / "x.db").exists()

    def test_a_line_of_two_hundred_megabytes_costs_no_memory(self, tmp_path: Path) -> None:
        """A line that would be all of the memory is passed over in pieces (here: 30 MB)."""
        import tracemalloc

        log = acpc_log(tmp_path / "match.log", 5, 3)
        text = log.read_bytes()
        log.write_bytes(text + b"STATE:" + b"c" * 30_000_000 + b"\n" + text.split(b"\n")[1] + b"\n")
        build([log], tmp_path / "warm.db", limit=2)
        tracemalloc.start()
        report = build([log], tmp_path / "m.db")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert report.records == 6
        assert peak < 15_000_000
        assert list(report.skipped) == ["a line of more than a million bytes"]

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        log = acpc_log(tmp_path / "match.log", 8, 3)
        text = log.read_bytes().replace(b"bot2", b"bot\xff", 1)
        log.write_bytes(text)
        report = build([log], tmp_path / "m.db")
        assert (report.records, list(report.skipped)) == (7, ["bytes that are not UTF-8"])

    def test_all_reasons_are_kept_with_their_place(self, tmp_path: Path) -> None:
        log = acpc_log(tmp_path / "match.log", 6, 3)
        lines = log.read_text().splitlines()
        lines[3] = lines[3].replace("|", "|2c", 1)
        log.write_text("\n".join(lines))
        build([log], tmp_path / "m.db")
        with Casebase.open(tmp_path / "m.db") as base:
            [row] = base.db.table("skipped").rows
        assert (row["line"], row["ordinal"]) == (4, 2)
        assert "not two cards" in row["reason"]

    def test_a_file_that_may_not_be_read_does_not_stop_the_rest(
        self, tmp_path: Path, log: Path, monkeypatch
    ) -> None:
        closed = tmp_path / "closed.log"
        closed.write_text(log.read_text("utf-8"), "utf-8")
        opened = Path.open

        def refuse(path: Path, *args: object, **options: object) -> object:
            if path == closed:
                raise PermissionError(13, "Permission denied")
            return opened(path, *args, **options)  # type: ignore[call-overload]

        monkeypatch.setattr(Path, "open", refuse)
        report = build([closed, log], tmp_path / "m.db")
        assert report.records == 60
        assert dict(report.skipped) == {"the file cannot be read: Permission denied": 1}

    def test_a_name_that_is_not_utf_8(self, tmp_path: Path, log: Path) -> None:
        odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xfftch.log"))
        log.rename(odd)
        build([odd], tmp_path / "m.db")
        assert check(tmp_path / "m.db") == []
        with Casebase.open(tmp_path / "m.db") as base:
            assert [row["name"] for row in base.db.table("sources").rows] == ["m\\xfftch.log"]

    def test_two_files_of_one_name_are_found_before_anything_is_built(
        self, tmp_path: Path, log: Path
    ) -> None:
        other = tmp_path / "other" / "match.log"
        other.parent.mkdir()
        acpc_log(other, 5, 4)
        with pytest.raises(BadValue, match="have one name"):
            build([log, other], tmp_path / "m.db")
        assert not (tmp_path / "m.db").exists()

    def test_an_option_that_nobody_takes_is_said(self, tmp_path: Path, log: Path) -> None:
        report = build([log], tmp_path / "m.db", options={"delimiter": ";"})
        assert "--delimiter is for the reader table, which read no file here" in report.notes

    def test_a_bad_place_to_write_is_found_at_once(self, tmp_path: Path, log: Path) -> None:
        with pytest.raises(BadValue, match="is no folder"):
            build([log], tmp_path / "nowhere" / "m.db", "holdem")

    def test_reasons_that_differ_in_numbers_are_shown_as_one(self, capsys) -> None:
        show_reasons({"action 3 is out of turn": 2, "action 12 is out of turn": 1, "7 cards": 1})
        shown = capsys.readouterr().out
        assert "action N is out of turn" in shown
        assert "7 cards" in shown
