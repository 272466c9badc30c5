"""The arena of the CBR bot, CASPER's plans, and arrays that workers share."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import pytest

from cbr.building.pipeline import build
from cbr.errors import BadValue, NoSuchName
from cbr.evolve.arena import Contest
from cbr.evolve.experiment import evolve
from cbr.evolve.genome import Genome
from cbr.evolve.plans import Generational, plan_named
from cbr.plugging.plugins import default_plugins
from cbr.spec import Spec
from cbr.store.casebase import Casebase
from cbr.testing import check_arena
from cbr.weights import Weights
from cbr_arena import Match, play, players_of, write_log
from cbr_casper import ARENA

TINY = ["--generations", 2, "--hands", 20, "--report", 20]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cases of six-seat tables."""
    folder = tmp_path_factory.mktemp("evolving")
    match = Match(
        players_of(["miniloki*3", "lag*3"]), 400, seed=5, duplicate=False, keep_hands=True
    )
    log, out = folder / "log.phhs", folder / "limit.db"
    write_log(play(match).hands, log)
    build([log], out, plugins=default_plugins())
    return out


def contest(base: Path, spec: str, rows: int = 1, together: bool = False) -> Contest:
    return ARENA.contest(base, Spec.parse(spec), rows, together)


def genome(base: Path) -> Genome:
    with Casebase.open(base) as opened:
        return Genome.of(opened)


def genome_weights(base: Path) -> list[float]:
    with Casebase.open(base) as opened:
        return Genome.of(opened).row(opened).tolist()


class TestArena:
    @pytest.mark.long
    def test_it_keeps_its_word(self, base: Path) -> None:
        check_arena(contest(base, "holdem?against=lag*5&block=4"), dimensions=42, blocks=3)
        together = contest(base, "holdem?block=4&against=lag*3", 3, together=True)
        check_arena(together, dimensions=42, blocks=3)

    @pytest.mark.long
    @pytest.mark.parametrize("style", ["casper", "cbr"])
    def test_a_row_plays_as_the_bot_with_these_weights(
        self, base: Path, tmp_path: Path, style: str
    ) -> None:
        """In the same seat, with the same deals and the same luck, whoever else is tried."""
        genes, rng = genome(base), np.random.default_rng(2)
        rows = rng.integers(1, 101, (3, len(genes))).astype(np.float64)
        found = contest(
            base, f"holdem?against=miniloki*3,lag*2&block=20&style={style}&adjust=none"
        ).play(rows, 3, 11)
        for at, row in enumerate(rows):
            file = tmp_path / f"{at}.json"
            genes.to_weights(row, {}).save(file)
            bot = f"cbr:{base}?weights={file}&style={style}&adapt=false"
            match = Match(players_of([bot, "miniloki*3", "lag*2"]), 60, seed=11, duplicate=False)
            won = play(match).won[:, 0].reshape(3, 20).mean(axis=1)
            assert found[at] == pytest.approx(won, abs=1e-12)

    @pytest.mark.long
    def test_luck_is_taken_out_of_what_a_row_wins(self, base: Path) -> None:
        """Its factors come from other deals, so the mean stays, and the spread is far smaller."""
        row = np.array([[*genome_weights(base)]])
        plain = contest(base, "holdem?against=lag*5&adjust=none&block=10").play(row, 100, 9)[0]
        fair = contest(base, "holdem?against=lag*5&block=10").play(row, 100, 9)[0]
        assert fair.std() < 0.7 * plain.std()
        error = (fair - plain).std(ddof=1) / np.sqrt(len(fair))
        assert abs((fair - plain).mean()) < 4 * error
        with pytest.raises(NoSuchName, match="no adjustment 'divat'"):
            contest(base, "holdem?against=lag*5&adjust=divat")

    def test_at_one_table_what_one_wins_the_others_lose(self, base: Path) -> None:
        rows = np.random.default_rng(1).uniform(1, 100, (6, 42))
        found = contest(base, "holdem?block=10", 6, together=True).play(rows, 4, 3)
        assert found.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-9)
        assert np.ptp(found) > 0

    @pytest.mark.long
    def test_opponents_that_remember(self, base: Path) -> None:
        check_arena(contest(base, "holdem?against=waterman,call&block=6"), 42, blocks=2)

    def test_tables_have_so_many_seats(self, base: Path) -> None:
        assert contest(base, "holdem", 6, together=True).together
        with pytest.raises(BadValue, match="9 rows of weights and 2 opponents"):
            contest(base, "holdem?against=call*2", 9, together=True)
        with pytest.raises(NoSuchName, match="no bot 'lokki'; did you mean 'loki'"):
            contest(base, "holdem?against=lokki*5")
        with pytest.warns(UserWarning, match="tables with .* players and none like 9"):
            contest(base, "holdem?against=call*8")

    @pytest.mark.long
    def test_extra_genes_are_settings_of_the_bot(self, base: Path, tmp_path: Path) -> None:
        one = contest(base, "holdem?against=lag*5&block=20&genes=threshold,cap&adjust=none")
        assert [gene.name for gene in one.genes] == ["threshold", "cap"]
        genes = genome(base)
        row = np.random.default_rng(3).integers(1, 101, len(genes)).astype(np.float64)
        rows = np.array([[*row, 0.97, 100], [*row, 0.91, 30], [*row, 0.97, 100]])
        found = one.play(rows, 3, 4)
        assert np.array_equal(found[0], found[2])
        assert not np.array_equal(found[0], found[1])
        assert one.usage is not None
        genes.to_weights(row, {}).save(tmp_path / "w.json")
        bot = one.usage({"threshold": 0.91, "cap": 30}, str(tmp_path / "w.json"))
        assert bot.endswith("policy=threshold?above=0.91;cap=30;fallback=20")
        match = Match(players_of([bot, "lag*5"]), 60, seed=4, duplicate=False)
        won = play(match).won[:, 0].reshape(3, 20).mean(axis=1)
        assert found[1] == pytest.approx(won, abs=1e-12)
        with pytest.raises(NoSuchName, match="no gene of arena 'holdem' 'cups'"):
            contest(base, "holdem?genes=cups")
        with pytest.raises(BadValue, match=r"'imitate' is for reuse=worth, and .* reuse="):
            contest(base, "holdem?genes=imitate")
        with pytest.raises(BadValue, match="'cap' is for the policy 'threshold', not 'top'"):
            contest(base, "holdem?genes=cap&policy=top?k=5")

    def test_genes_change_what_they_are_named_for_and_nothing_else(self, base: Path) -> None:
        policy = "threshold?above=0.95;cap=40;fallback=7"
        one = contest(base, f"holdem?against=lag*5&genes=cap&policy={policy}")
        assert [(gene.name, gene.start) for gene in one.genes] == [("cap", 40)]
        assert one.usage is not None
        bot = one.usage({"cap": 33.3}, "w.json")
        assert bot.endswith("policy=threshold?above=0.95;cap=33;fallback=7")
        plain = contest(base, f"holdem?against=lag*5&policy={policy}")
        assert plain.usage is not None
        assert plain.usage({}, "w.json").endswith(f"policy={policy}")


class TestPublishedPlans:
    def test_they_are_as_published(self) -> None:
        one, two = plan_named("casper-self-play"), plan_named("casper-opponents")
        assert isinstance(one, Generational)
        assert isinstance(two, Generational)
        for plan, runs, hands in ((one, [9, 1], 500_000), (two, [9, 3, 1], 325_000)):
            assert plan.rounds_of_runs() == runs
            assert sum(runs) * plan.generations * plan.trials == hands
        assert (one.copies, one.pairs, one.mutations, one.mutation_chance) == (3, 3, 1, 0.0)
        assert (two.copies, two.pairs, two.mutations, two.mutation_chance) == (1, 1, 0, 0.01)

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("plan", "more", "runs"),
        [
            ("casper-self-play", ["--set", "copies=2,pairs=2", "--population", 6, "--runs", 2], 3),
            # Four runs, their winners in two, and one of the winners of these.
            ("casper-opponents", ["--runs", 4], 7),
        ],
    )
    def test_small(self, cbr, base: Path, tmp_path: Path, plan, more, runs) -> None:
        # Two blocks, so that their luck can be told.
        against = "against=lag*3&" if plan == "casper-opponents" else ""
        arena = f"holdem?{against}style=casper&block=10"
        words = ["evolve", base, "--plan", plan, "--arena", arena, *more, *TINY]
        answer = cbr(*words, "--out", tmp_path / "w.json", "--json")
        assert answer.code == 0, answer.err
        found = answer.json
        names = [one["name"] for one in found["judged"]]
        assert names == [
            "evolved", "the casebase's own, hand-picked", "general", "opponent", "random"
        ]  # fmt: skip
        assert found["unit"] == "sb/h"
        report = cbr("evolve-report", tmp_path / "w.run.db", "--json").json
        assert {one["run"] for one in report["generations"]} == set(range(1, 1 + runs))
        told = cbr("evolve-report", tmp_path / "w.run.db").out
        assert "Beside CASPER (Rubin 2007)" in told
        assert "range that luck alone would show" in told
        # The result is used as any weights are.
        use = found["use"]
        assert use == f"cbr:{base}?weights={tmp_path / 'w.json'}&style=casper"
        match = cbr("match", use, "lag*5", "--hands", 12, "--json")
        assert match.code == 0, match.err

    def test_other_weights_are_refused_by_name(self, cbr, base: Path, tmp_path: Path) -> None:
        Weights({"preflop": {"price": 3.0}}, "holdem").save(tmp_path / "cars.json")
        answer = cbr("evolve", base, "--start", tmp_path / "cars.json", "--arena",
                     "holdem?against=lag*5", "--out", tmp_path / "w.json")  # fmt: skip
        assert answer.code == 2
        assert "no indexed feature 'price'" in answer.err


def in_short(found) -> tuple:
    return found.weights.stages, [(one.name, one.score, one.behind) for one in found.judged]


class TestWorkers:
    @pytest.mark.long
    def test_their_number_changes_nothing(self, base: Path, tmp_path: Path, pool: Executor) -> None:
        plan = plan_named("robust").changed(
            {
                "population": 4,
                "generations": 1,
                "trials": 20,
                "duel": 20,
                "report": 20,
                "learn": 4,
            }
        )
        arenas = ["holdem?against=lag*5&block=5"]
        alone = evolve(base, plan, run=tmp_path / "1.db", arenas=arenas)
        two = evolve(base, plan, run=tmp_path / "2.db", arenas=arenas, pool=pool)
        assert in_short(alone) == in_short(two)
