"""Evolution on recorded data: search, choice and judgement on different records, honest figures."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, EmptyStage
from cbr.evolve.accuracy import open_accuracy
from cbr.evolve.arena import Arena, Contest, Supply
from cbr.evolve.experiment import evolve
from cbr.evolve.genome import Genome
from cbr.evolve.plans import GENETIC, ROBUST
from cbr.evolve.playing import Piece, play_piece
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.retrieval.retriever import retriever_of
from cbr.store.casebase import Casebase
from cbr.testing import check_arena

WORDS = ("no", "yes")
TYPE = CaseType(
    "toy",
    [Feature("a", range=(0, 3)), Feature("b", range=(0, 3))],
    WORDS,
    retrieval="top?k=9",
)
#: The population: both features are uniform on 0 to 3, and `a` alone decides the chance of a yes.
POINTS = np.array(list(itertools.product(range(4), range(4))), np.float64)
CHANCE = np.array([0.1, 0.3, 0.6, 0.9])[POINTS[:, 0].astype(int)]
QUICK = ROBUST.changed(
    {"population": 4, "generations": 1, "trials": 10, "duel": 40, "report": 10_000, "learn": 0}
)


def drawn(rng: np.random.Generator, count: int) -> tuple[np.ndarray, list[str]]:
    """Situations and solutions of the population."""
    which = rng.integers(0, len(POINTS), count)
    return POINTS[which], [WORDS[int(yes)] for yes in rng.random(count) < CHANCE[which]]


def saved(path: Path, values: np.ndarray, done: list[str], per_record: int = 1) -> Path:
    count = len(done)
    record = [1 + n // per_record for n in range(count)]
    with Casebase.create(path, [TYPE]) as base, base.transaction():
        columns = {"a": values[:, 0].tolist(), "b": values[:, 1].tolist()}
        base.add("toy", columns, done, [None] * count, record, range(count))
    return path


def truths(file: Path, rows: np.ndarray, known: int) -> np.ndarray:
    """The scores of weights [n, 2] in the whole population, predicted from the known records."""
    with Casebase.open(file) as base:
        cases = base.read_cases("toy")
        mine = retriever_of(base, "toy", vectors=cases.take(cases.record <= known).vectors())
        found = []
        for row in rows:
            taken = mine.many(POINTS.astype(np.float32), np.tile(row, (len(POINTS), 1))).taken
            share = taken[:, 1] / taken.sum(axis=1)
            found.append((CHANCE * share + (1 - CHANCE) * (1 - share)).mean())
    return np.array(found)


@pytest.mark.long
def test_the_intervals_hold(tmp_path: Path) -> None:
    """Many data sets of 120 rows out of a population that is known: the 95 % intervals of the score
    and of the paired gain contain the true values in about 95 % of them."""
    runs, scored, gained, widths = 50, 0, 0, []
    for number in range(runs):
        file = saved(tmp_path / f"{number}.db", *drawn(np.random.default_rng(number), 120))
        found = evolve(file, QUICK, run=tmp_path / f"{number}.run", arenas=["accuracy"])
        [best, *_, other] = found.judged
        with Casebase.open(file) as base:
            genome = Genome.of(base)
            rows = np.array([genome.row(base, found.weights), genome.row(base, "random:0")])
        true = truths(file, rows, known=60)
        assert (found.trial, found.trials) == ("case", 20)
        scored += abs(best.score.mean - true[0]) <= best.score.ci95
        gained += abs(other.behind.mean - (true[0] - true[1])) <= other.behind.ci95
        widths.append(best.score.ci95)
    least = runs * 0.95 - 3 * math.sqrt(runs * 0.95 * 0.05)
    assert min(scored, gained) >= least, (scored, gained)
    assert np.mean(widths) < 0.15  # and they are not wide: a single score is from 0 to 1


def test_what_judges_has_no_part_in_the_search(tmp_path: Path) -> None:
    """With other solutions in the records that judge, the weights found are the same: those learned
    from the cases included."""
    plan = ROBUST.changed({"population": 4, "generations": 2, "trials": 10, "duel": 20, "learn": 5})
    values, done = drawn(np.random.default_rng(1), 240)
    flipped = [*done[:-40], *(WORDS[word == "no"] for word in done[-40:])]
    one, two = (
        evolve(saved(tmp_path / f"{n}.db", values, words), plan, run=tmp_path / f"{n}.run")
        for n, words in enumerate((done, flipped))
    )
    assert one.weights.stages == two.weights.stages
    assert one.weights.provenance["generations"] == two.weights.provenance["generations"]
    assert [judged.name for judged in one.judged][-2:] == ["learned", "random"]
    assert one.judged != two.judged
    # What chooses has: with other records there, another row may win.
    assert one.trials == 40


@pytest.mark.parametrize("plan", [QUICK.changed({"generations": 4, "rounds": 3}), GENETIC])
def test_a_block_is_played_for_one_purpose(tmp_path: Path, monkeypatch, plan) -> None:
    """No block is in two parts, and in a generation a row plays each at most once."""
    played: list[tuple[int, int]] = []

    def watch(piece: Piece) -> np.ndarray:
        played.append((piece.seed, piece.blocks))
        return play_piece(piece)

    monkeypatch.setattr("cbr.evolve.run.play_piece", watch)
    file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(2), 240))
    plan = plan.changed({"trials": 200, "report": 500})
    found = evolve(file, plan, run=tmp_path / "c.run", arenas=["accuracy"])
    with Casebase.open(file):
        supply = open_accuracy(file, 1, False).supply
    assert supply == (40, 40, 40)
    ends = np.cumsum(supply)
    for first, blocks in played:  # no piece crosses from one part to another
        assert np.searchsorted(ends, first, "right") == np.searchsorted(
            ends, first + blocks - 1, "right"
        )
    parts = {int(np.searchsorted(ends, first, "right")) for first, _ in played}
    assert parts == {0, 1, 2}
    assert found.trials == 40
    from cbr.evolve.runfile import RunFile

    with RunFile.open(tmp_path / "c.run") as run:
        assert max(len(s) for one, _ in run.generations() for s in one.scores) <= 40


def test_the_parts_of_the_records(tmp_path: Path) -> None:
    file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(2), 800), per_record=2)
    contest = open_accuracy(file, 1, False, block=2)
    check_arena(contest, dimensions=2)
    assert contest.supply == Supply(33, 33, 33)
    assert (contest.trial, contest.trials, contest.last_known) == ("row", 2, 202)
    # The mean over all blocks of a part is that over its records, each predicted from the first.
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]])
    with Casebase.open(file) as base:
        cases = base.read_cases("toy")
        mine = retriever_of(base, "toy", vectors=cases.take(cases.record <= 202).vectors())
    scores = contest.play(rows, 33, 66)
    assert scores.shape == (3, 33)
    last = cases.record > 400 - 66
    for row, found in zip(rows, scores, strict=True):
        taken = mine.many(cases.values[last], np.tile(row, (last.sum(), 1))).taken
        right = taken[np.arange(last.sum()), cases.solution[last]] / taken.sum(axis=1)
        assert found.mean() == pytest.approx(right.mean())


class TestBadInput:
    def test_too_few_rows(self, cbr, tmp_path: Path) -> None:
        file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(3), 50))
        answer = cbr("evolve", file, "--out", tmp_path / "w.json")
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert "has 50 records, of which accuracy?last=0.5 leaves too few" in answer.err
        assert "build 61 or more" in answer.err
        assert not list(tmp_path.glob("w.*"))
        saved(tmp_path / "d.db", *drawn(np.random.default_rng(3), 61))
        assert open_accuracy(tmp_path / "d.db", 1, False).supply == (10, 10, 10)

    def test_one_solution(self, cbr, tmp_path: Path) -> None:
        values, done = drawn(np.random.default_rng(3), 100)
        file = saved(tmp_path / "c.db", values, ["yes"] * len(done))
        answer = cbr("evolve", file, "--out", tmp_path / "w.json")
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert "one solution only ('yes'), so there is nothing to predict" in answer.err

    def test_arenas_that_divide_differently(self, tmp_path: Path) -> None:
        file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(3), 200))
        arenas = ["accuracy", "accuracy?last=0.4"]
        with pytest.raises(BadValue, match="divide the records differently"):
            evolve(file, QUICK, run=tmp_path / "r", arenas=arenas)
        found = evolve(file, QUICK, run=tmp_path / "r", arenas=["accuracy", "accuracy?policy=top"])
        assert found.trials == 33  # the same records in both

    def test_a_supply_of_too_few_blocks(self, tmp_path: Path) -> None:
        file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(3), 30))
        contest = Contest(
            lambda w, blocks, seed: np.zeros((len(w), blocks)), supply=Supply(9, 3, 9)
        )
        plugins = Plugins().load()
        use_plugins(plugins)
        with pytest.raises(AssertionError, match="too few for this check"):
            check_arena(contest, dimensions=2, blocks=30)
        plugins._all("arena")["few"] = (None, Arena("few", open=lambda *_: contest))
        with pytest.raises(BadValue, match="3 blocks for one of search, choice and judgement"):
            evolve(file, QUICK, run=tmp_path / "r", arenas=["few"])

    def test_a_run_that_is_there_is_refused_at_once(self, tmp_path: Path, monkeypatch) -> None:
        file = saved(tmp_path / "c.db", *drawn(np.random.default_rng(3), 100))
        (tmp_path / "r.db").write_text("mine")
        for costly in ("learn_weights", "Scoring"):
            monkeypatch.setattr(
                f"cbr.evolve.experiment.{costly}", lambda *_, **__: pytest.fail("?")
            )
        with pytest.raises(BadValue, match="exists already"):
            evolve(file, ROBUST, run=tmp_path / "r.db")
        with pytest.raises(BadValue, match="no set or file of weights 'nowhere'"):
            evolve(file, ROBUST, run=tmp_path / "s.db", starts=["nowhere"])

    def test_no_cases(self, tmp_path: Path) -> None:
        Casebase.create(tmp_path / "c.db", [TYPE]).close()
        with pytest.raises(EmptyStage, match="has no cases; build some first"):
            open_accuracy(tmp_path / "c.db", 1, False)
