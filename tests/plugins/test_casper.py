"""The CBR bot: the same decisions as a query, legal play, and what it refuses."""

from __future__ import annotations

import shutil
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_CSV, CARS_PLUGIN
from made_logs import limit_base, made, no_limit_base, with_folds_hidden

from cbr.errors import BadValue, CbrError, NoSuchName
from cbr.retrieval.retriever import retrieve, retriever_of
from cbr.reusing.hidden_solutions import hidden_solutions_of
from cbr.reusing.proposal import reuse
from cbr.store.casebase import Casebase
from cbr.store.definitions import set_weights
from cbr_arena import Match, lines_of, play, players_of
from cbr_arena import build as build_bot
from cbr_casper.bot import CaseBot
from cbr_casper.solutions import legal, triples
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return limit_base(tmp_path_factory.mktemp("casper"))


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return no_limit_base(tmp_path_factory.mktemp("casper-nl"))


def asked(bot: CaseBot, specs: list[str], hands: int) -> list[tuple[Pending, np.ndarray]]:
    """Decisions that the bot had in a match, and its triples."""
    seen = []

    class Spy:
        memory = None

        def act(self, situations: Pending, memory, chance):
            given = bot.act(situations, memory, chance)
            copy = Pending(situations._rows.copy(), situations.game, situations.which.copy())
            seen.append((copy, given.shares.copy()))
            return given

    match = Match(players_of(["fold", *specs]), hands=hands, duplicate=False)
    room = match.room()
    room.bots = [Spy(), *room.bots[1:]]
    from cbr_arena import sittings

    for sitting in sittings(match, range(match.deals), room):
        room.play(sitting)
    assert not room.faults
    return seen


class TestBot:
    @pytest.mark.long
    def test_it_decides_as_a_query_does(self, base: Path) -> None:
        """Both doors: many decisions at once, and one situation asked of the engine."""
        bot = CaseBot(str(base))
        compared = 0
        with Casebase.open(base) as opened:
            for situations, shares in asked(bot, ["lag", "miniloki", "random"], 60):
                for at in range(0, situations.count, 3):
                    one = situations.take(np.array([at]))
                    street = int(one.place[0, 0])
                    case_type = bot.streets[street].case_type
                    target = {f.name: float(f.of(one)[0]) for f in case_type.indexed}
                    may = legal(one, case_type.solutions)[0]
                    allowed = [s for s, good in zip(case_type.solutions, may, strict=True) if good]
                    retrieved = retrieve(opened, case_type.stage, target)
                    proposal = reuse(retrieved, allowed=allowed)
                    chances = np.array([[proposal.probabilities[s] for s in case_type.solutions]])
                    expected = triples(chances, case_type.solutions)[0]
                    assert shares[at] == pytest.approx(expected, abs=1e-9)
                    compared += 1
        assert compared > 60

    @pytest.mark.long
    @pytest.mark.parametrize("specs", [["lag"], ["call", "raise"], ["random*8"]])
    def test_it_plays_at_any_table(self, base: Path, specs: list[str]) -> None:
        match = Match(players_of([f"cbr:{base}", *specs]), hands=90)
        played = play(match)
        assert lines_of(match, played)[0].faults == {}
        names = {name for _, name in played.figures}
        assert {"preflop similarity", "flop cases", "river below threshold"} <= names
        means = {name: f.total / f.weight for (_, name), f in played.figures.items()}
        assert 0.7 < means["preflop similarity"] <= 1.0
        assert 1 <= means["flop cases"] <= 100

    @pytest.mark.long
    def test_no_limit(self, no_limit: Path) -> None:
        game = Game("nolimit", 50, 100)
        match = Match(players_of([f"cbr:{no_limit}", "lag?size=1", "call"]), hands=150, game=game)
        line = lines_of(match, play(match))[0]
        assert line.faults == {}
        assert line.pfr > 0

    @pytest.mark.long
    def test_the_same_for_any_number_of_workers(
        self, base: Path, pool: Executor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cbr_arena.match._PIECE", 100)
        match = Match(players_of([f"cbr:{base}", "lag"]), hands=600)
        assert match.deals > 2 * match.piece
        alone = play(match)
        together = play(match, pool)
        assert np.array_equal(alone.won, together.won)
        assert alone.figures == together.figures

    @pytest.mark.long
    def test_options(self, base: Path) -> None:
        hands = 120
        found = {
            spec: play(Match(players_of([f"cbr:{base}{spec}", "lag*2"]), hands=hands)).won.sum()
            for spec in (
                "",
                "?style=casper",
                "?weights=hand-picked",
                "?weights=random:3",
                "?policy=top?k=5",
                "?reuse=majority",
                "?threshold=0.9",
                "?index=scan",
            )
        }
        same = [
            found[spec] for spec in ("", "?style=casper", "?weights=hand-picked", "?index=scan")
        ]
        assert len(set(same)) == 1
        assert all(np.isfinite(list(found.values())))

    @pytest.mark.long
    def test_casper_has_its_weights_whatever_the_casebase_has(
        self, base: Path, no_limit: Path, tmp_path: Path
    ) -> None:
        for file in (base, no_limit):
            plain = CaseBot(str(file), "casper").streets[1].retriever.weights
            assert CaseBot(str(file), "heir").style == CaseBot(str(file)).style  # its former name
            copy = tmp_path / file.name
            shutil.copy(file, copy)
            with Casebase.open(copy, write=True) as opened:
                set_weights(opened, "random:3")
            np.testing.assert_array_equal(
                CaseBot(str(copy), "casper").streets[1].retriever.weights, plain
            )
            assert (CaseBot(str(copy)).streets[1].retriever.weights != plain).any()

    @pytest.mark.parametrize(
        ("spec", "says"),
        [
            ("cbr", "needs its file"),
            ("cbr:no-such.db", "no-such.db"),
            ("cbr:{base}?style=casperr", "did you mean 'casper'"),
            ("cbr:{base}?threshold=0.9&policy=top", "one of them"),
            ("cbr:{base}?weights=nobody", "nobody"),
            ("cbr:{base}?policy=topp", "did you mean 'top'"),
            ("cbr:{base}?reuse=proportionate", "proportional"),
            ("cbr:{base}?index=faiss", "faiss"),
            ("cbr:{base}?stile=casper", "did you mean 'style'"),
            ("cbr:{base}?adapt=no", "must be true or false"),
            ("cbr:{base}?own=5", "give retain=session too"),
            ("cbr:empty?index=scan", "no style, policy, reuse, index, own and adapt"),
            ("cbr:empty?own=5", "no style, policy, reuse, index, own and adapt"),
            ("cbr:{base}?policy=radius?above=0.995", "may retrieve no case, and a bot must act"),
            ("cbr:{base}?reuse=worth?temperature=0", "temperature must be above 0"),
            ("cbr:{base}?policy=threshold?above=0.9;cap=-1", "-1 cases to retrieve"),
        ],
    )
    def test_what_it_refuses(self, base: Path, spec: str, says: str) -> None:
        with pytest.raises((CbrError, NoSuchName), match=says):
            build_bot(spec.format(base=base), "limit")

    def test_other_casebases(self, base: Path, no_limit: Path, cbr, tmp_path: Path) -> None:
        with pytest.raises(BadValue, match="plays nolimit, not limit"):
            build_bot(f"cbr:{no_limit}", "limit")
        cars = tmp_path / "cars.db"
        cbr("build", CARS_CSV, "--type", "car", "--out", cars, "--plugin", CARS_PLUGIN)
        answer = cbr("match", f"cbr:{cars}", "call", "--hands", 10)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "not of hold'em" in answer.err

    def test_a_street_without_cases(self, tmp_path: Path) -> None:
        empty = made(tmp_path, "folds", ["fold*3"], 20)
        with pytest.raises(CbrError, match="no cases of the flop"):
            build_bot(f"cbr:{empty}", "limit")


@pytest.mark.long
def test_folds_that_no_case_has_come_from_hidden_decisions(base: Path, tmp_path: Path) -> None:
    """As in logs that show cards only at a showdown; for many targets as for one."""
    out = with_folds_hidden(base, tmp_path)
    with Casebase.open(out) as opened:
        mine = retriever_of(opened, "flop")
        lacking = hidden_solutions_of(opened, mine)
        assert lacking is not None
        assert lacking.solutions == ("f",)
        cases = opened.read_cases("flop")
        targets = cases.values[:40]
        rng = np.random.default_rng(1)
        chances = rng.dirichlet(np.ones(5), len(targets))
        allowed = rng.random((len(targets), 5)) < 0.7
        allowed[:, 0] |= ~allowed.any(axis=1)
        chances = np.where(allowed, chances, 0.0)
        chances /= np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)
        many = lacking.in_many(targets).added_to(chances, allowed)
        for at, codes in enumerate(targets):
            target = {
                f.name: float(code) for f, code in zip(cases.case_type.indexed, codes, strict=True)
            }
            one = lacking.in_situation(target).added_to(chances[at], allowed[at])
            assert many[at] == pytest.approx(one, abs=1e-9)
    match = Match(players_of([f"cbr:{out}", "raise*2"]), hands=60)
    line = lines_of(match, play(match))[0]
    assert line.faults == {}
    assert line.showdown < 1  # it folds
