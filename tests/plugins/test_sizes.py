"""Sizes of bets and raises: what is played as a class is observed as that class."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from made_logs import OLD_SIZES, made, with_old_sizes

from cbr.building.recomputation import rebuild
from cbr.store.casebase import Casebase
from cbr.upkeep import check
from cbr_arena import build as build_bot
from cbr_casper.solutions import moves_of_solutions, raise_amounts
from cbr_casper.values.best_response import best_responses, starts_of
from cbr_casper.values.label_file import _fingerprint
from cbr_holdem.situation import SHARES, SIZES, Pending, size_of
from cbr_holdem.situation.features import NO_LIMIT_ACTIONS
from cbr_holdem.table import (
    ACTOR,
    CALL,
    FOLD,
    MOST_SEATS,
    PAID,
    RAISE,
    STACK,
    Game,
    deal_all,
    decks,
    last_move,
    new_tables,
    raise_limits,
    step_all,
    unpacked,
)
from cbr_opponents import RAISE_SIZES, legal_moves, play_move, played_as
from cbr_opponents.learning import fit_frequencies, observe

MOVES = RAISE + len(SIZES)


def states(game: Game, seats: int, stacks: tuple[int, int], seed: int = 3) -> np.ndarray:
    """Tables at decisions in which a raise is legal, of hands with sizes and moves at random."""
    rng, count, found = np.random.default_rng(seed), 40, []
    tables = new_tables(count)
    deal_all(
        tables.rows, game.terms, seats, rng.integers(*stacks, (count, seats)), decks(seed, 0, count)
    )
    going = True
    while going:
        live = [row for row in tables.rows if row[ACTOR] >= 0]
        found += [row.copy() for row in live if raise_limits(row, game.terms)[1] > 0]
        amounts = rng.integers(0, stacks[1], count) // rng.integers(1, 30, count)
        kinds = rng.choice([FOLD, CALL, CALL, RAISE, RAISE], count)
        going = step_all(tables.rows, game.terms, kinds, amounts) > 0
    return np.array(found)


GAMES = [
    (Game("nolimit"), 2, (20, 3_000)),
    (Game("nolimit"), 6, (11, 400)),
    (Game("nolimit", 1, 2, rules="acpc"), 3, (3, 60)),
    (Game("nolimit", 1, 3, ante=1), 4, (5, 90)),  # so few chips that classes fall together
    (Game("nolimit", 50, 100), 2, (40_000, 40_001)),
]


@pytest.mark.parametrize(("game", "seats", "stacks"), GAMES)
def test_what_is_played_is_observed(game: Game, seats: int, stacks: tuple[int, int]) -> None:
    sizes, met = RAISE_SIZES["nolimit"], Counter[str]()
    for row in states(game, seats, stacks):
        legal = np.ones(MOVES, np.bool_)
        legal_moves(row, game.terms, sizes, legal)
        amounts = []
        for move in range(RAISE, MOVES):
            then = row.copy()
            play_move(then, game.terms, sizes, move)
            amount = unpacked(last_move(then))[3]
            observed = RAISE + size_of(row, game.terms, amount)
            assert played_as(row, game.terms, sizes, move) == observed
            assert legal[observed]
            assert (observed == move) == legal[move]
            if legal[move]:
                amounts.append(amount)
                met[SIZES[move - RAISE]] += 1
        least, most = raise_limits(row, game.terms)
        assert amounts == sorted(set(amounts))  # they differ, and rise with the class
        assert (amounts[0], amounts[-1]) == (least, most)
        assert legal[MOVES - 1]
        assert legal[RAISE] == (least < most)
    assert set(met) >= {"min", "1", "2", "all-in"}


def test_only_what_is_considered_is_legal() -> None:
    game, sizes = Game("nolimit"), RAISE_SIZES["nolimit"]
    tables = new_tables(1)
    deal_all(tables.rows, game.terms, 2, np.array([[60, 60]]), decks(1, 0, 1))
    row = tables.rows[0]

    def legal(*names: str) -> list[str]:
        marks = np.array([move < RAISE or SIZES[move - RAISE] in names for move in range(MOVES)])
        legal_moves(row, game.terms, sizes, marks)
        return [SIZES[move - RAISE] for move in range(RAISE, MOVES) if marks[move]]

    # The pot is 20 after the call, the least raise is by 10, and the stack allows 50.
    assert legal(*SIZES) == ["min", "3/4", "1", "3/2", "2", "all-in"]
    assert legal("1", "2") == ["1", "2"]
    assert legal("1/4", "1") == ["min", "1"]
    assert legal("1", "3", "10") == ["1", "all-in"]
    assert legal() == []


@pytest.mark.parametrize(("game", "seats", "stacks"), GAMES)
def test_bots_play_the_same_amounts(game: Game, seats: int, stacks: tuple[int, int]) -> None:
    """Bots with an option `size`, and solutions of cases, go where the abstraction goes."""
    rows = states(game, seats, stacks)
    pending = Pending(rows, game, np.arange(len(rows)))
    raises = [name for name in NO_LIMIT_ACTIONS if name[0] == "r"]
    for name, size in zip(raises, SIZES, strict=True):
        amounts = []
        for row in rows:
            then = row.copy()
            play_move(then, game.terms, RAISE_SIZES["nolimit"], RAISE + SIZES.index(size))
            amounts.append(unpacked(last_move(then))[3])
        chances = np.array([NO_LIMIT_ACTIONS]) == name
        drawn = raise_amounts(
            np.repeat(chances, len(rows), axis=0).astype(float),
            NO_LIMIT_ACTIONS,
            pending,
            np.full(len(rows), 0.5),
        )
        assert drawn.tolist() == amounts
        bot = build_bot(f"raise?size={size}", "nolimit")
        to = bot.act(pending, None, None).to
        assert np.where(to == 0, pending.raise_from, to).tolist() == amounts


def test_sizes_are_defined_once() -> None:
    assert len(SIZES) == len(SHARES) == len(RAISE_SIZES["nolimit"])
    assert list(SHARES) == sorted(SHARES)
    assert moves_of_solutions([f"r{size}" for size in SIZES]) == list(range(RAISE, MOVES))
    assert moves_of_solutions([f"b{size}" for size in SIZES]) == list(range(RAISE, MOVES))
    assert len(NO_LIMIT_ACTIONS) == 3 + 2 * len(SIZES)


@pytest.mark.long
@pytest.mark.parametrize("size", ["3", "5", "10", "all-in"])
def test_a_bot_with_large_bets_is_known_by_them(tmp_path: Path, size: str) -> None:
    """What was all one class, two pots and more, are classes of their own in a casebase."""
    specs = [f"lag?size={size}", "call"]
    game = Game("nolimit", 50, 100)
    path = made(tmp_path, "large", specs, 60, game)
    with Casebase.open(path) as base:
        solutions = Counter[str]()
        for stage in base.stages:
            solutions.update(base.solutions(stage))
    # Where the stack is smaller than the size, it is all-in.
    sized = {name[1:] for name, count in solutions.items() if count and name[0] in "br"}
    assert sized == {size, "all-in"}


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = ["lag?size=5", "miniloki?size=3/4", "random?size=2"]
    return made(tmp_path_factory.mktemp("sizes"), "nl", specs, 150, Game("nolimit", 50, 100))


@pytest.mark.long
def test_simulated_play_counts_what_is_observed(new: Path) -> None:
    """With stacks of four big blinds, three pots and more are always all-in."""
    with Casebase.open(new) as base:
        model, starts = fit_frequencies(observe(base)), starts_of(base)
    posted = starts.tables[:, PAID : PAID + MOST_SEATS]
    starts.tables[:, STACK : STACK + 3] = 400 - posted[:, :3]
    found = best_responses(starts, [model], "nolimit", rounds=1, hands=4_000)
    large = slice(RAISE + SIZES.index("3"), MOVES - 1)
    np.testing.assert_array_equal(
        found.value[..., large], found.value[..., MOVES - 1 :].repeat(3, -1)
    )
    assert found.value[..., MOVES - 1].any()
    # Of contexts that came up, only the prior is left of large sizes.
    seen = found.move_rates.min(axis=-1) < 0.01
    assert seen.any()
    assert (found.move_rates[..., large].max(axis=-1) == found.move_rates.min(axis=-1))[seen].all()
    assert (found.move_rates[seen][:, MOVES - 1] > 0.05).any()


class TestCasebasesOfEarlierVersions:
    """What was `2` there, two pots and more, is 2, 3, 5, 10 pots and all-in."""

    @pytest.fixture
    def old(self, new: Path, tmp_path: Path) -> Path:
        return with_old_sizes(new, tmp_path)

    def test_rebuild_computes_the_solutions(self, new: Path, old: Path) -> None:
        with Casebase.open(old) as base:
            assert all(len(t.solutions) == 3 + 2 * len(OLD_SIZES) for t in base.case_types)
            assert not any(base.has_solution(stage, "b5") for stage in base.stages)
            before = [(case.id, case.outcome) for case in base.cases("flop")]
        rebuild(old)
        with Casebase.open(old) as base, Casebase.open(new) as fresh:
            for stage in base.stages:
                assert base.case_type(stage).solutions == tuple(NO_LIMIT_ACTIONS)
                assert base.solutions(stage) == fresh.solutions(stage)
                assert base.digest(stage) == fresh.digest(stage)
            assert base.hidden() == fresh.hidden()
            assert base.has_solution("flop", "b5")
            assert base.has_solution("flop", "ball-in")
            assert [(case.id, case.outcome) for case in base.cases("flop")] == before
        assert check(old) == []

    def test_what_no_longer_fits_is_dropped_with_a_sentence(self, cbr, old: Path) -> None:
        answer = cbr("rebuild", old, "--json")
        assert answer.code == 0
        dropped = answer.json["dropped"]
        assert len(dropped) == 5  # values of four streets, and the arrays
        assert "the estimated values of 40 cases of stage 'flop' were dropped" in dropped[1]
        assert "the learned arrays worlds.grid, worlds.hands were dropped" in dropped[4]
        assert all(sentence in answer.err for sentence in dropped)
        with Casebase.open(old) as base:
            assert not any(base.valued(stage) for stage in base.stages)
            assert base.learned_names() == []
        again = cbr("rebuild", old, "--json")
        assert (again.json["dropped"], set(again.json["changed"].values())) == ([], {False})

    def test_until_then_it_is_queried_by_its_own_solutions(self, cbr, old: Path) -> None:
        with Casebase.open(old) as base:
            record, step = base.db.execute(
                "SELECT record, step FROM cases_flop WHERE solution = 'b2'"
            ).fetchone()
        answer = cbr("query", old, "--record", record, "--decision", step, "--json")
        assert answer.code == 0
        assert {"b2"} <= set(answer.json["allowed"]) < set(NO_LIMIT_ACTIONS)
        assert "b5" not in answer.out
        for words in (["info", old], ["export", old, "--to", "csv", "--out", old.parent / "x"]):
            assert cbr(*words).code == 0

    def test_until_then_nothing_is_played_or_added(self, cbr, new: Path, old: Path) -> None:
        says = (
            "was built with other solutions than 'holdem-nolimit/preflop' has now; "
            f"`cbr rebuild {old}`"
        )
        game = ("--game", "nolimit", "--hands", 20)
        for words in (
            ["match", f"cbr:{old}", "call", *game],
            ["match", f"cbr:{old}?reuse=worth", "call", *game],
            ["label", old, "--cases", 10],
        ):
            answer = cbr(*words)
            assert (answer.code, answer.err.count("\n")) == (2, 1)
            assert says in answer.err
        assert any(says in finding for finding in check(old))
        before = old.read_bytes()
        answer = cbr("build", new.with_suffix(".phhs"), "--out", old)
        assert answer.code == 2
        assert "`cbr rebuild` changes a casebase" in answer.err
        assert old.read_bytes() == before

    @pytest.mark.long
    def test_a_saved_index_is_not_used_afterwards(self, cbr, old: Path) -> None:
        assert cbr("index", old, "--stage", "flop", "--kind", "faiss-flat").code == 0
        rebuild(old)
        [saved] = cbr("info", old, "--json").json["indices"]
        assert saved["state"] == "stale"

    @pytest.mark.long
    def test_labels_know_the_sizes_and_files_of_them_the_solutions(
        self, cbr, new: Path, old: Path
    ) -> None:
        words = ("--cases", 20, "--deals", 4, "--rounds", 1, "--hands", 500)
        labels = old.parent / "labels.npz"
        rebuild(old)
        assert cbr("label", old, *words, "--save", labels).code == 0
        with Casebase.open(old) as base:
            moves = {name[1:] for stage in base.stages for _, name, *_ in base.values(stage)}
            assert {"5", "all-in"} <= moves
            grid = base.learned("worlds.grid")
        assert grid is not None
        assert grid.shape[-1] == MOVES
        assert cbr("label", new, "--load", labels).code == 0
        # The same cases with the same numbers of solutions, of which there is one more.
        with Casebase.open(new, write=True) as base, base.transaction():
            flop = base.case_type("flop")
            more = dataclasses.replace(flop, solutions=[*flop.solutions, "r20"])
            before = _fingerprint(base, "flop")
            base.redefine(more, base.digest("flop"))
            assert _fingerprint(base, "flop") != before
            base.redefine(flop, base.digest("flop"))
            assert _fingerprint(base, "flop") == before
