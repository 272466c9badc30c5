"""Values of actions: opponent models, roll-outs, and `cbr label`."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base, with_folds_hidden

from cbr.store.casebase import Casebase
from cbr_arena import Match, lines_of, play, players_of
from cbr_arena import build as build_bot
from cbr_casper.bot import CaseBot
from cbr_casper.solutions import legal
from cbr_casper.streets import Street
from cbr_casper.values.labels import label, unlabelled
from cbr_casper.values.rollouts import rollout_values
from cbr_casper.values.table_models import TableModels
from cbr_holdem.situation import Pending, legal_solutions
from cbr_holdem.table import ACTOR, CALL, FOLD, HOLE, RAISE, SEATS, STREET, Game, to_call
from cbr_opponents import (
    CLASSES,
    COLUMNS,
    CONTEXTS,
    RAISE_SIZES,
    OpponentModel,
    Strategies,
    logged_moves,
    replay_decisions,
)
from cbr_opponents.learning import alike, counted, counted_by_context, fit_trees, observe


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("casper"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("casper-nl"))


@pytest.fixture(scope="module")
def model(base: Path) -> OpponentModel:
    """How the players of the limit casebase act, which no test changes."""
    with Casebase.open(base) as opened:
        return fit_trees(observe(opened), profiles=False, public=False)


class TestLabels:
    def played(self, base: Path, model: OpponentModel, hands: int = 60):
        with Casebase.open(base) as opened:
            _, bodies = next(iter(opened.read_records(hands)))
        played, terms, _ = replay_decisions(bodies)
        return Strategies(model, model.grid, RAISE_SIZES["limit"]), played, terms

    @pytest.mark.long
    def test_frequencies_are_chances(self, model: OpponentModel) -> None:
        chances = model.grid
        assert chances.shape == (4, CONTEXTS, CLASSES, 3)
        assert chances.sum(axis=-1) == pytest.approx(np.ones(chances.shape[:-1]))
        assert not chances[:, :6, :, FOLD].any()  # nobody folds for nothing
        # Good hands raise more often than bad ones before the flop, facing one bet.
        assert chances[0, 6:12, -1, RAISE].mean() > chances[0, 6:12, 0, RAISE].mean() + 0.3

    def test_players_who_act_alike_are_a_group(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            observed = observe(opened)
        assert len(observed.names) == 5  # three miniloki and two lag
        totals = counted_by_context(observed)
        assert len(observed) == totals.sum()
        assert counted(observed).sum(axis=2).tolist() == totals.tolist()
        by_player = np.stack(
            [counted_by_context(observed.take(observed.player == at)) for at in range(5)]
        )
        groups = alike(np.concatenate([by_player] * 3))  # as if there were more of each
        assert sorted(len(group) for group in groups) == [6, 9]
        kinds = [{player % 5 for player in group} for group in groups]
        assert not kinds[0] & kinds[1]

    @pytest.mark.long
    def test_cards_that_only_the_log_knows_are_not_looked_at(
        self, base: Path, model: OpponentModel
    ) -> None:
        both, played, terms = self.played(base, model)
        tables = played.tables
        wanted = np.arange(len(tables)) % 7 == 0
        given = (terms, logged_moves(played, 3), wanted, np.arange(len(tables)), both, 20, 1)
        before, _ = rollout_values(tables, *given)
        other = tables.copy()
        rng = np.random.default_rng(0)
        for row in other:
            for seat in range(int(row[SEATS])):
                if seat != row[ACTOR]:
                    row[HOLE + 2 * seat : HOLE + 2 * seat + 2] = rng.integers(0, 52, 2)
        after, _ = rollout_values(other, *given)
        np.testing.assert_array_equal(before, after)
        assert np.isfinite(before[wanted, CALL]).all()
        assert np.isnan(before[~wanted]).all()

    @pytest.mark.long
    def test_the_future_of_the_board_is_not_looked_at(
        self, base: Path, model: OpponentModel
    ) -> None:
        both, played, terms = self.played(base, model)
        tables = played.tables
        flop = np.flatnonzero(tables[:, 1] == 1)[:1]
        wanted = np.zeros(len(tables), bool)
        wanted[flop] = True
        given = (terms, logged_moves(played, 3), wanted, np.arange(len(tables)), both, 50, 1)
        before, _ = rollout_values(tables, *given)
        other = tables.copy()
        other[:, 108:110] = other[:, [109, 108]]
        other[flop, 108:110] = 51, 50
        after, _ = rollout_values(other, *given)
        np.testing.assert_array_equal(before[flop], after[flop])

    @pytest.mark.long
    def test_moves_with_values_are_the_legal_solutions(
        self, base: Path, model: OpponentModel
    ) -> None:
        """What the rules allow a bot at a table is what roll-outs play out."""
        both, played, terms = self.played(base, model)
        place = np.arange(len(played.tables))
        mean, _ = rollout_values(
            played.tables, terms, logged_moves(played, 3), place >= 0, place, both, 2, 1
        )
        solutions = ("f", "k", "c", "b", "r")
        for street in range(4):
            mine = np.flatnonzero(played.tables[:, STREET] == street)
            known = ~np.isnan(mean[mine])
            found = legal_solutions(solutions, ~known[:, FOLD], known[:, RAISE], street == 0)
            pending = Pending(played.tables, Game("limit"), mine)
            np.testing.assert_array_equal(found, legal(pending, solutions))

    @pytest.mark.long
    def test_good_hands_are_worth_more(self, base: Path, model: OpponentModel) -> None:
        """On the river: values follow strength, and a fold is worth nothing."""
        both, played, terms = self.played(base, model, 600)
        wanted = played.tables[:, 1] == 3
        mean, error = rollout_values(
            played.tables,
            terms,
            logged_moves(played, 3),
            wanted,
            np.arange(len(wanted)),
            both,
            100,
            1,
        )
        strength = played.situations["ihs"]
        faced = wanted & ~np.isnan(mean[:, FOLD])
        assert (mean[faced, FOLD] == 0).all()
        good, bad = faced & (strength > 0.9), faced & (strength < 0.1)
        assert mean[good, CALL].mean() > 2
        assert mean[bad, CALL].mean() < 0
        assert np.nanmean(mean[good, RAISE] - mean[good, CALL]) > 0
        assert np.nanmean(mean[bad, RAISE] - mean[bad, CALL]) < 0.5
        assert (error[faced, CALL] > 0).mean() > 0.6  # the others are sure to win or lose

    @pytest.mark.long
    def test_it_goes_on_where_it_stopped_for_any_number_of_workers(
        self, base: Path, tmp_path: Path, pool: Executor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import shutil

        # A round has several pieces, as it has with many more hands.
        monkeypatch.setattr("cbr_casper.values.best_response._PIECE", 300)
        kept = []
        for name, steps, workers in (("a", (4, 12), None), ("b", (12,), pool)):
            copy = tmp_path / f"{name}.db"
            shutil.copy(base, copy)
            with Casebase.open(copy, write=True) as opened:
                digest = opened.digest("flop")
                models = TableModels.learn(opened, rounds=2, hands=800, pool=workers)
                for cases in steps:
                    found = label(opened, unlabelled(opened, cases), models, deals=10, pool=workers)
                assert [stage.all for stage in found] == [12] * 4
                assert opened.digest("flop") == digest
                rows = opened.db.execute(
                    "SELECT * FROM solution_values ORDER BY stage, case_id, solution"
                ).fetchall()
                kept.append(rows)
        assert kept[0] == kept[1]
        assert len(kept[0]) > 96

    @pytest.mark.long
    def test_the_bot_plays_by_worth(self, base: Path, tmp_path: Path, cbr) -> None:
        import shutil

        copy = tmp_path / "labelled.db"
        shutil.copy(base, copy)
        few = ("--cases", 30, "--deals", 10, "--rounds", 1, "--hands", 1000)
        answer = cbr("label", copy, *few, "--json")
        assert [stage["all"] for stage in answer.json["stages"]] == [30] * 4
        bot = CaseBot(str(copy))
        assert {street.reuse for street in bot.streets} == {"worth"}
        assert bot.table_models is None  # 900 hands are too few to adapt by
        with Casebase.open(copy, write=True) as opened, opened.transaction():
            opened.put_learned("worlds.hands", np.array([4_000]))
        assert CaseBot(str(copy)).table_models is not None
        for spec in (f"cbr:{copy}", f"cbr:{copy}?adapt=false", f"cbr:{copy}?style=casper"):
            match = Match(players_of([spec, "lag*2"]), hands=60)
            assert lines_of(match, play(match))[0].faults == {}
        assert cbr("check", copy).code == 0

    @pytest.mark.long
    def test_labels_go_into_a_file_and_come_back(self, base: Path, tmp_path: Path, cbr) -> None:
        import shutil

        first, second, labels = (tmp_path / name for name in ("a.db", "b.db", "labels.npz"))
        shutil.copy(base, first)
        shutil.copy(base, second)
        few = ("--cases", 20, "--deals", 10, "--rounds", 1, "--hands", 1000)
        assert cbr("label", first, *few, "--save", labels).code == 0
        answer = cbr("label", second, "--load", labels, "--json")
        assert [stage["all"] for stage in answer.json["stages"]] == [20] * 4
        with Casebase.open(first) as one, Casebase.open(second) as two:
            for stage in one.stages:
                mine, other = one.values(stage), two.values(stage)
                assert [row[:2] for row in mine] == [row[:2] for row in other]
                np.testing.assert_allclose(
                    [row[2] for row in mine], [row[2] for row in other], rtol=2e-3, atol=1e-3
                )
            assert TableModels.load(two) is not None
        # Nothing else is ever overwritten, and the casebase least of all.
        answer = cbr("label", first, *few, "--save", first)
        assert answer.code == 2
        assert "exists and is not a file of labels" in answer.err
        # Labels of an older version are not read, but may be replaced.
        old = self._with(tmp_path / "old.npz", labels, "format", np.array("cbr-labels 2"))
        answer = cbr("label", second, "--load", old)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "another version of this program (cbr-labels 2, not 3)" in answer.err
        assert cbr("label", first, *few, "--save", old).code == 0
        assert cbr("label", second, "--load", old).code == 0
        for wrong, says in (
            (tmp_path / "no.npz", "cannot read labels"),
            (base, "is damaged, or not a file of labels"),
            (
                self._with(tmp_path / "more.npz", labels, "flop.mark", np.array("x")),
                "the flop of",
            ),
            (
                self._with(tmp_path / "less.npz", labels, "turn.case", None),
                "lacks the array 'turn.case'",
            ),
            (
                self._with(tmp_path / "odd.npz", labels, "worlds.value", np.zeros((2, 3))),
                "array 'worlds.value' of",
            ),
            (  # a question for a number that there is not
                self._with(
                    tmp_path / "far.npz",
                    labels,
                    "worlds.feature",
                    np.full_like(np.load(labels)["worlds.feature"], COLUMNS),
                ),
                "array 'worlds.feature' of",
            ),
            (  # more trees than there are
                self._with(tmp_path / "trees.npz", labels, "worlds.trees", np.full(4, 1_000)),
                "array 'worlds.trees' of",
            ),
            (
                self._with(tmp_path / "none.npz", labels, "worlds.value", np.zeros(())),
                "array 'worlds.value' of",
            ),
            (  # nobody does anything
                self._with(
                    tmp_path / "idle.npz",
                    labels,
                    "worlds.grid",
                    np.zeros_like(np.load(labels)["worlds.grid"]),
                ),
                "array 'worlds.grid' of",
            ),
            (
                self._with(tmp_path / "text.npz", labels, "river.value", np.array(["x"])),
                "lacks the array 'river.value'",
            ),
            (
                self._with(tmp_path / "short.npz", labels, "river.value", np.zeros(1)),
                "labels of the river",
            ),
            (
                self._with(
                    tmp_path / "other.npz",
                    labels,
                    "river.solution",
                    np.full_like(np.load(labels)["river.solution"], 77),
                ),
                "labels of the river",
            ),
        ):
            shutil.copy(base, second)
            answer = cbr("label", second, "--load", wrong)
            assert (answer.code, answer.err.count("\n")) == (2, 1)
            assert says in answer.err
            with Casebase.open(second) as kept:
                assert not kept.valued("preflop")  # all or none

    @pytest.mark.long
    def test_pieces_are_the_labels_of_one_run(self, base: Path, tmp_path: Path, cbr) -> None:
        import shutil

        once, pieces = (tmp_path / name for name in ("once.db", "pieces.db"))
        few = ("--deals", 200, "--rounds", 1, "--hands", 2000)
        for path, parts in ((once, (40,)), (pieces, (5, 40))):
            shutil.copy(base, path)
            for cases in parts:
                assert cbr("label", path, "--cases", cases, *few).code == 0
        with Casebase.open(once) as one, Casebase.open(pieces) as other:
            for stage in one.stages:
                assert one.values(stage) == other.values(stage)

    @pytest.mark.long
    def test_damaged_files_of_labels(self, base: Path, tmp_path: Path, cbr) -> None:
        import shutil

        copy, labels, bad = (tmp_path / name for name in ("a.db", "labels.npz", "bad.npz"))
        shutil.copy(base, copy)
        few = ("--cases", 20, "--deals", 10, "--rounds", 1, "--hands", 1000)
        assert cbr("label", copy, *few, "--save", labels).code == 0
        whole = labels.read_bytes()
        for at in range(40, len(whole), len(whole) // 12):
            bad.write_bytes(whole[:at] + b"\xff" * 20 + whole[at + 20 :])
            shutil.copy(base, copy)
            answer = cbr("label", copy, "--load", bad)
            assert "Internal" not in answer.err
            assert answer.code in {0, 2}  # a name or a time in the archive may be damaged
        np.save(tmp_path / "one.npy", np.zeros(3))
        answer = cbr("label", copy, "--load", tmp_path / "one.npy")
        assert answer.code == 2
        assert "is damaged, or not a file of labels" in answer.err

    @pytest.mark.long
    def test_table_models_of_an_older_version_are_learned_again(
        self, base: Path, tmp_path: Path, cbr
    ) -> None:
        import shutil

        old = tmp_path / "old.db"
        shutil.copy(base, old)
        few = ("--cases", 20, "--deals", 10, "--rounds", 1, "--hands", 1000)
        assert cbr("label", old, *few).code == 0
        for kept in (np.zeros(3), None):  # of another shape, or not at all
            with Casebase.open(old, write=True) as opened, opened.transaction():
                if kept is None:
                    opened.db.execute("DELETE FROM learned WHERE name = 'worlds.grid'")
                else:
                    opened.put_learned("worlds.grid", kept)
            assert cbr("label", old, *few).code == 0
            with Casebase.open(old) as opened:
                assert TableModels.load(opened) is not None
        # What is found is not looked for again, and whoever asks for it hears so.
        assert "--rounds and --hands changed nothing" in cbr("label", old, *few).err
        assert "changed nothing" not in cbr("label", old, "--cases", 21, "--deals", 10).err

    @staticmethod
    def _with(path: Path, labels: Path, name: str, value) -> Path:
        with np.load(labels) as found:
            parts = {key: found[key] for key in found.files if key != name}
        np.savez(path, **parts, **({} if value is None else {name: value}))
        return path

    @pytest.mark.long
    def test_values_of_unlike_cases_do_not_count_where_folds_are_hidden(
        self, base: Path, tmp_path: Path
    ) -> None:
        with Casebase.open(with_folds_hidden(base, tmp_path), write=True) as opened:
            with opened.transaction():
                ids = opened.read_cases("flop").ids.tolist()
                opened.remove("flop", ids[100:])  # most decisions are not like those that are left
                for name, value in (("k", 1.0), ("b", -1.0)):
                    opened.put_values("flop", ids[:100], name, [value] * 100)
            policy = "threshold?above=0.97&cap=100&fallback=20"
            both, worth, done = (
                Street(opened, "flop", *reuse, policy=policy)
                for reuse in (("worth", "proportional"), ("worth",), ("proportional",))
            )
            nearest = Street(opened, "flop", "worth", "proportional", policy="top?k=20")
            _, bodies = next(iter(opened.read_records(900)))
        tables = replay_decisions(bodies)[0].tables
        free = [row[STREET] == 1 and to_call(row) == 0 for row in tables]
        flop = Pending(tables, Game("limit"), np.flatnonzero(free))
        may = legal(flop, both.solutions)
        found, by_worth, as_done = (street.decide(flop, may) for street in (both, worth, done))
        unlike = found.below > 0.0
        assert unlike.any()
        assert not unlike.all()
        np.testing.assert_array_equal(found.chances[unlike], as_done.chances[unlike])
        np.testing.assert_array_equal(found.chances[~unlike], by_worth.chances[~unlike])
        np.testing.assert_array_equal(found.valued > 0.0, ~unlike)
        assert (by_worth.valued > 0.0).all()
        # Without a threshold nothing is below it.
        assert not nearest.decide(flop, may).below.any()
        assert (nearest.decide(flop, may).valued > 0.0).all()
        with Casebase.open(base) as opened:
            assert Street(opened, "flop", "worth", "proportional").sparse == ""

    @pytest.mark.long
    def test_without_labels_it_imitates_and_says_so_once(self, base: Path, cbr) -> None:
        answer = cbr("match", f"cbr:{base}*2", "lag", "--hands", 30, "--workers", 2)
        assert answer.code == 0
        assert answer.err.count("cbr label") == 1

    @pytest.mark.long
    def test_tables_unlike_those_of_the_log_are_named(self, base: Path, cbr) -> None:
        answer = cbr("match", f"cbr:{base}", "lag", "--hands", 20, "--workers", 2)
        assert answer.code == 0
        assert answer.err.count("tables with 5 players and none like 2") == 1
        assert "none like" not in cbr("match", f"cbr:{base}", "lag*5", "--hands", 12).err

    @pytest.mark.long
    def test_no_limit(self, no_limit: Path, tmp_path: Path, cbr) -> None:
        import shutil

        copy = tmp_path / "labelled.db"
        shutil.copy(no_limit, copy)
        words = ("--cases", 40, "--deals", 20, "--rounds", 1, "--hands", 2000, "--json")
        answer = cbr("label", copy, *words)
        assert [stage["all"] for stage in answer.json["stages"]] == [40] * 4
        with Casebase.open(copy) as opened:
            query = "SELECT stage, case_id, solution, value FROM solution_values"
            rows = opened.db.execute(query).fetchall()
        assert {row[3] for row in rows if row[2] == "f"} == {0.0}
        sized = {row[2] for row in rows if row[2][0] in "br"}
        assert {"bmin", "b1/2", "b1", "r1"} <= sized
        for stage, case in {row[:2] for row in rows}:
            of_case = {row[2][0] for row in rows if row[:2] == (stage, case)}
            assert of_case <= set("kb") or of_case <= set("fcr") or of_case <= set("kr")
        # It imitates unless it is asked for more.
        plain = {street.reuse for street in CaseBot(str(no_limit)).streets}
        assert {street.reuse for street in CaseBot(str(copy)).streets} == plain
        valued = f"cbr:{copy}?reuse=worth?temperature=4"
        assert {street.reuse for street in build_bot(valued, "nolimit").streets} == {
            "worth?temperature=4"
        }
        match = Match(
            players_of([f"cbr:{copy}", valued, "lag?size=1/2", "random"]),
            hands=90,
            game=Game("nolimit", 50, 100),
        )
        assert [line.faults for line in lines_of(match, play(match))[:2]] == [{}, {}]

    def test_what_is_refused(self, cbr, base: Path, cars_db: Path) -> None:
        for words, says in (
            (["label", cars_db], "'car', not of hold'em"),
            (["label", base.with_name("no.db")], "no.db"),
        ):
            answer = cbr(*words)
            assert (answer.code, answer.err.count("\n")) == (2, 1)
            assert says in answer.err
