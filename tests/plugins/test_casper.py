"""The CBR bot: the same decisions as a query, legal play, labels, and what it refuses."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from conftest import CARS_CSV, CARS_PLUGIN

from cbr.build import build
from cbr.casebase import Casebase
from cbr.errors import BadValue, CbrError, NoSuchName
from cbr.lacking import lacking_in
from cbr.plugins import default_plugins
from cbr.retrieve import retrieve, retriever
from cbr.reuse import reuse
from cbr.workers import executor
from cbr_arena.logs import write
from cbr_arena.match import Match, play
from cbr_arena.players import build as build_bot
from cbr_arena.players import players_of
from cbr_arena.results import lines_of
from cbr_arena.showing import as_seen
from cbr_arena.tables import Sitting
from cbr_casper.answers import answers, starts_of
from cbr_casper.bot import CaseBot, legal, triples
from cbr_casper.grid import CLASSES, CONTEXTS, SIZES, mark_of, taken_for
from cbr_casper.habits import count_moves, groups_of, moves_of, replay_bodies
from cbr_casper.label import label, unlabelled
from cbr_casper.players import CODES, Strategies, chances, rooms
from cbr_casper.rollouts import values
from cbr_casper.streets import Chances, Here
from cbr_casper.worlds import TILTS, Worlds
from cbr_holdem.situation.pending import Pending
from cbr_holdem.situation.replay import replay
from cbr_holdem.table.game import MOST_RAISES, Game
from cbr_holdem.table.hand import Hand
from cbr_holdem.table.rules import ACTOR, CALL, FOLD, HOLE, RAISE, SEATS, STREET, to_call


def made(folder: Path, name: str, specs: list[str], hands: int, game: Game | None = None) -> Path:
    match = Match(
        players_of(specs),
        hands=hands,
        seed=5,
        duplicate=False,
        keep_hands=True,
        **({"game": game} if game else {}),
    )
    log, out = folder / f"{name}.phhs", folder / f"{name}.db"
    write(play(match).hands, log)
    build([log], out, plugins=default_plugins())
    return out


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("casper"), "limit", ["miniloki*3", "lag*2"], 900)


@pytest.fixture(scope="module")
def no_limit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = ["lag?size=1/2", "miniloki?size=1", "random"]
    folder = tmp_path_factory.mktemp("casper-nl")
    return made(folder, "nolimit", specs, 500, Game("nolimit", 50, 100))


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
    from cbr_arena.match import sittings

    for sitting in sittings(match, range(match.deals), room):
        room.play(sitting)
    assert not room.faults
    return seen


class TestBot:
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

    def test_no_limit(self, no_limit: Path) -> None:
        game = Game("nolimit", 50, 100)
        match = Match(players_of([f"cbr:{no_limit}", "lag?size=1", "call"]), hands=150, game=game)
        line = lines_of(match, play(match))[0]
        assert line.faults == {}
        assert line.pfr > 0

    def test_the_same_for_any_number_of_workers(self, base: Path) -> None:
        match = Match(players_of([f"cbr:{base}", "lag"]), hands=8_000)
        alone = play(match)
        with executor(2) as pool:
            together = play(match, pool)
        assert np.array_equal(alone.won, together.won)
        assert alone.figures == together.figures

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
            ("cbr:empty?index=scan", "no style, policy, reuse and index"),
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


def test_folds_that_no_case_has_come_from_hidden_decisions(base: Path, tmp_path: Path) -> None:
    """As in logs that show cards only at a showdown; for many targets as for one."""
    with Casebase.open(base) as opened:
        _, bodies = next(iter(opened.read_records(900)))
    hands = [Hand.read(body) for body in bodies]
    played = replay(hands)
    folded = {
        (int(hand), int(seat))
        for hand, seat, action in zip(
            played.hand, played.situations.place[:, 1], played.action, strict=True
        )
        if action == 0
    }
    shown = [
        dataclasses.replace(
            hand,
            holes=["" if (n, seat) in folded else h for seat, h in enumerate(hand.holes)],
        ).text
        for n, hand in enumerate(hands)
    ]
    log, out = tmp_path / "shown.phhs", tmp_path / "shown.db"
    write(shown, log)
    build([log], out, plugins=default_plugins())
    with Casebase.open(out) as opened:
        mine = retriever(opened, "flop")
        lacking = lacking_in(opened, mine)
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
        many = lacking.added_to(chances, targets, allowed)
        for at, codes in enumerate(targets):
            target = {
                f.name: float(code) for f, code in zip(cases.case_type.indexed, codes, strict=True)
            }
            one, _ = lacking.added(chances[at], target, allowed[at])
            assert many[at] == pytest.approx(one, abs=1e-9)
    match = Match(players_of([f"cbr:{out}", "raise*2"]), hands=60)
    line = lines_of(match, play(match))[0]
    assert line.faults == {}
    assert line.showdown < 1  # it folds


class TestLabels:
    def played(self, base: Path, hands: int = 60):
        with Casebase.open(base) as opened:
            players = count_moves(opened).players()
            _, bodies = next(iter(opened.read_records(hands)))
        played, terms, _ = replay_bodies(bodies)
        return Strategies(players, players.grid, SIZES["limit"]), played, terms

    def test_habits_are_chances(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            chances = count_moves(opened).players().grid
        assert chances.shape == (4, CONTEXTS, CLASSES, 3)
        assert chances.sum(axis=-1) == pytest.approx(np.ones(chances.shape[:-1]))
        assert not chances[:, :6, :, FOLD].any()  # nobody folds for nothing
        # Good hands raise more often than bad ones before the flop, facing one bet.
        assert chances[0, 6:12, -1, RAISE].mean() > chances[0, 6:12, 0, RAISE].mean() + 0.3

    def test_players_who_act_alike_are_a_group(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            counts = count_moves(opened)
        assert counts.seen.shape[0] == 6  # three miniloki, two lag, and nobody else
        assert counts.seen[-1].sum() == 0
        assert len(counts.decisions.move) == counts.seen.sum()
        assert counts.decisions.counted(3).sum(axis=2).tolist() == counts.seen.sum(axis=0).tolist()
        groups = groups_of(np.concatenate([counts.seen] * 3))  # as if there were more of each
        assert sorted(len(group) for group in groups) == [6, 9]
        kinds = [{player % 6 for player in group} for group in groups]
        assert not kinds[0] & kinds[1]

    def test_cards_that_only_the_log_knows_are_not_looked_at(self, base: Path) -> None:
        both, played, terms = self.played(base)
        tables = played.tables
        wanted = np.arange(len(tables)) % 7 == 0
        given = (terms, moves_of(played, 3), wanted, np.arange(len(tables)), both, 20, 1)
        before, _ = values(tables, *given)
        other = tables.copy()
        rng = np.random.default_rng(0)
        for row in other:
            for seat in range(int(row[SEATS])):
                if seat != row[ACTOR]:
                    row[HOLE + 2 * seat : HOLE + 2 * seat + 2] = rng.integers(0, 52, 2)
        after, _ = values(other, *given)
        np.testing.assert_array_equal(before, after)
        assert np.isfinite(before[wanted, CALL]).all()
        assert np.isnan(before[~wanted]).all()

    def test_the_future_of_the_board_is_not_looked_at(self, base: Path) -> None:
        both, played, terms = self.played(base)
        tables = played.tables
        flop = np.flatnonzero(tables[:, 1] == 1)[:1]
        wanted = np.zeros(len(tables), bool)
        wanted[flop] = True
        given = (terms, moves_of(played, 3), wanted, np.arange(len(tables)), both, 50, 1)
        before, _ = values(tables, *given)
        other = tables.copy()
        other[:, 108:110] = other[:, [109, 108]]
        other[flop, 108:110] = 51, 50
        after, _ = values(other, *given)
        np.testing.assert_array_equal(before[flop], after[flop])

    def test_good_hands_are_worth_more(self, base: Path) -> None:
        """On the river: values follow strength, and a fold is worth nothing."""
        both, played, terms = self.played(base, 600)
        wanted = played.tables[:, 1] == 3
        mean, error = values(
            played.tables,
            terms,
            moves_of(played, 3),
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

    def test_it_goes_on_where_it_stopped_for_any_number_of_workers(
        self, base: Path, tmp_path: Path
    ) -> None:
        import shutil

        kept = []
        for name, steps, workers in (("a", (4, 12), 1), ("b", (12,), 2)):
            copy = tmp_path / f"{name}.db"
            shutil.copy(base, copy)
            with Casebase.open(copy, write=True) as opened, executor(workers) as pool:
                digest = opened.digest("flop")
                worlds = Worlds.find(opened, rounds=2, hands=25_000, pool=pool)
                for cases in steps:
                    found = label(opened, unlabelled(opened, cases), worlds, deals=10, pool=pool)
                assert [stage.all for stage in found] == [12] * 4
                assert opened.digest("flop") == digest
                rows = opened.db.execute(
                    "SELECT * FROM solution_values ORDER BY stage, case_id, solution"
                ).fetchall()
                kept.append(rows)
        assert kept[0] == kept[1]
        assert len(kept[0]) > 96

    def test_the_bot_plays_by_worth(self, base: Path, tmp_path: Path, cbr) -> None:
        import shutil

        copy = tmp_path / "labelled.db"
        shutil.copy(base, copy)
        answer = cbr("label", copy, "--cases", 30, "--deals", 10, "--hands", 2000, "--json")
        assert [stage["all"] for stage in answer.json["stages"]] == [30] * 4
        bot = CaseBot(str(copy))
        assert {street.reuse for street in bot.streets} == {"worth"}
        assert bot.worlds is None  # 900 hands are too few to adapt by
        with Casebase.open(copy, write=True) as opened, opened.transaction():
            opened.put_learned("worlds.hands", np.array([4_000]))
        assert CaseBot(str(copy)).worlds is not None
        for spec in (f"cbr:{copy}", f"cbr:{copy}?adapt=false", f"cbr:{copy}?style=casper"):
            match = Match(players_of([spec, "lag*2"]), hands=60)
            assert lines_of(match, play(match))[0].faults == {}
        assert cbr("check", copy).code == 0

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
            assert Worlds.load(two) is not None
        # Nothing else is ever overwritten, and the casebase least of all.
        answer = cbr("label", first, *few, "--save", first)
        assert answer.code == 2
        assert "is there and is no file of labels" in answer.err
        # Labels of an older version are not read, but may be replaced.
        old = self._with(tmp_path / "old.npz", labels, "format", np.array("cbr-labels 2"))
        answer = cbr("label", second, "--load", old)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "another version of this program (cbr-labels 2, not 3)" in answer.err
        assert cbr("label", first, *few, "--save", old).code == 0
        assert cbr("label", second, "--load", old).code == 0
        for wrong, says in (
            (tmp_path / "no.npz", "cannot read labels"),
            (base, "is no whole file of labels"),
            (
                self._with(tmp_path / "more.npz", labels, "flop.mark", np.array("x")),
                "the flop of",
            ),
            (self._with(tmp_path / "less.npz", labels, "turn.case", None), "lacks 'turn.case'"),
            (
                self._with(tmp_path / "odd.npz", labels, "worlds.value", np.zeros((2, 3))),
                "'value' of worlds does not fit",
            ),
            (  # a question for a number that there is not
                self._with(
                    tmp_path / "far.npz",
                    labels,
                    "worlds.feature",
                    np.full_like(np.load(labels)["worlds.feature"], CODES),
                ),
                "'feature' of worlds does not fit",
            ),
            (  # more trees than there are
                self._with(tmp_path / "trees.npz", labels, "worlds.trees", np.full(4, 1_000)),
                "'trees' of worlds does not fit",
            ),
            (
                self._with(tmp_path / "none.npz", labels, "worlds.value", np.zeros(())),
                "'value' of worlds does not fit",
            ),
            (  # nobody does anything
                self._with(
                    tmp_path / "idle.npz",
                    labels,
                    "worlds.grid",
                    np.zeros_like(np.load(labels)["worlds.grid"]),
                ),
                "'grid' of worlds does not fit",
            ),
            (
                self._with(tmp_path / "text.npz", labels, "river.value", np.array(["x"])),
                "lacks 'river.value'",
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
        assert "is no whole file of labels" in answer.err

    def test_worlds_of_an_older_version_are_found_again(
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
                assert Worlds.load(opened) is not None

    @staticmethod
    def _with(path: Path, labels: Path, name: str, value) -> Path:
        with np.load(labels) as found:
            parts = {key: found[key] for key in found.files if key != name}
        np.savez(path, **parts, **({} if value is None else {name: value}))
        return path

    def test_without_labels_it_imitates_and_says_so_once(self, base: Path, cbr) -> None:
        answer = cbr("match", f"cbr:{base}*2", "lag", "--hands", 30, "--workers", 2)
        assert answer.code == 0
        assert answer.err.count("cbr label") == 1

    def test_tables_unlike_those_of_the_log_are_named(self, base: Path, cbr) -> None:
        answer = cbr("match", f"cbr:{base}", "lag", "--hands", 20, "--workers", 2)
        assert answer.code == 0
        assert answer.err.count("tables with 5 players and none like 2") == 1
        assert "none like" not in cbr("match", f"cbr:{base}", "lag*5", "--hands", 12).err

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


class TestAnswers:
    def test_an_answer_earns_more_than_habit(self, base: Path) -> None:
        """Against the same habits, dealt anew: an answer's moves are worth more on average."""
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        first = answers(starts, [players], "limit", rounds=1, hands=40_000)
        later = answers(starts, [players], "limit", rounds=3, hands=40_000)
        habits = players.grid[None]

        def before_the_flop(own, value) -> float:
            return float((own[0, 0] * value[0, 0]).sum(axis=-1).mean())

        assert before_the_flop(first.own, first.value) > before_the_flop(habits, first.value)
        assert before_the_flop(later.own, later.value) > before_the_flop(habits, first.value)
        assert later.seen.sum(axis=-1) == pytest.approx(np.ones(later.seen.shape[:-1]))

    def test_no_rounds_are_habits(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        found = answers(starts, [players], "limit", rounds=0)
        np.testing.assert_allclose(found.own[0], players.grid, atol=1e-12)
        assert not found.value.any()

    def test_what_is_seen_is_what_was_done(self, base: Path) -> None:
        """Where nobody may raise, nobody is seen to, whatever habits say."""
        with Casebase.open(base) as opened:
            players, starts = count_moves(opened).players(), starts_of(opened)
        starts.terms[:, MOST_RAISES : MOST_RAISES + 4] = 0
        found = answers(starts, [players], "limit", rounds=1, hands=20_000)
        assert found.seen[..., RAISE].max() <= 1 / 3  # of contexts that never came up
        common = found.seen[0, 0].min(axis=-1) < 0.01
        assert common.any()
        assert (found.seen[0, 0][common, RAISE] < 0.01).all()


class TestWorlds:
    def test_tilts_are_chances_and_do_what_they_say(self, base: Path) -> None:
        with Casebase.open(base) as opened:
            players = count_moves(opened).players()
            _, bodies = next(iter(opened.read_records(200)))
        played, terms, _ = replay_bodies(bodies)
        tables, plain = played.tables, acting(played.tables, terms, players)
        free = np.array([to_call(row) == 0 for row in tables])
        faced = {}
        for tilt in TILTS:
            chances = acting(tables, terms, players.tilted(tilt.loose, tilt.push, tilt.ease))
            assert chances.sum(axis=-1) == pytest.approx(np.ones(len(tables)))
            assert (chances >= 0).all()
            assert not chances[free, FOLD].any()
            faced[tilt.name] = chances[~free & (tables[:, STREET] == 0)].mean(axis=0)
            if tilt.name == "as logged":
                np.testing.assert_allclose(chances, plain, atol=1e-12)
        assert faced["looser"][FOLD] < faced["as logged"][FOLD] < faced["tighter"][FOLD]
        assert faced["wild"][RAISE] > faced["as logged"][RAISE]
        assert faced["calling"][CALL] > 0.7

    def test_taken_for_twice_as_good(self) -> None:
        before, after = taken_for(2.0)
        assert (before[:169] >= np.arange(169)).all()
        assert before[168] == 168
        assert after[255] == 255
        assert int(after[128]) == pytest.approx(191, abs=1)  # the better half is the best quarter
        np.testing.assert_array_equal(taken_for(1.0)[1], np.arange(256))
        np.testing.assert_array_equal(taken_for(1.0)[0, :169], np.arange(169))

    def test_a_table_is_told_by_what_it_does(self, base: Path) -> None:
        """Hands of callers make the calling world likely, and moves are worth what it says."""
        with Casebase.open(base) as opened:
            worlds = Worlds.find(opened, rounds=1, hands=20_000)
        names = [tilt.name for tilt in TILTS]
        found = {}
        for bot in ("call", "raise", "fold"):
            match = Match(players_of([f"{bot}*5"]), hands=1, duplicate=False)
            room = match.room()
            room.begin(1)
            told = np.zeros((1, len(worlds.value)))
            for deal in range(200):
                rows = room.play(sitting(deal, 5))
                worlds.listen(
                    as_seen(rows, np.zeros(1, int), np.zeros(1, int)),
                    match.game.terms,
                    np.zeros(1, int),
                    told,
                )
            likely = worlds.likely(told)
            assert likely.sum() == pytest.approx(1.0)
            found[bot] = dict(zip(names, likely[0].tolist(), strict=False))
        assert found["call"]["calling"] > 0.9
        assert sum(found["raise"][name] for name in ("as logged", "tighter", "calling")) < 0.1
        assert sum(found["fold"][name] for name in ("calling", "wild")) < 0.1
        start = worlds.likely(np.zeros((1, len(worlds.value))))[0]
        assert start[0] == pytest.approx(0.6)
        rows = room.play(sitting(0, 5))
        calling = names.index("calling")
        there = np.eye(len(worlds.value))[[calling]]
        [whole] = worlds.worth(rows * 0, match.game.terms, there)
        assert (worlds.value[calling] == whole[calling]).all(axis=-1).any()
        assert not np.delete(whole, calling, axis=0).any()
        [half] = worlds.worth(rows * 0, match.game.terms, 0.5 * there)
        np.testing.assert_allclose(half, 0.5 * whole)

    def test_cases_count_as_far_as_the_table_is_like_theirs(self) -> None:
        def at(alike: float, *worth: list[float], valued: float = 1.0) -> np.ndarray:
            cases = Chances(np.array([[0.0, 0.2, 0.8]]), *np.zeros((3, 1)), np.full(1, valued))
            return cases.at(Here(np.array([[alike, 1.0 - alike]]), np.array([worth]), 0.1)).chances

        # A move without a chance may be worth as much as it will.
        own, other = [90.0, 0.0, 0.1 * np.log(2.0)], [90.0, 0.1 * np.log(3.0), 0.0]
        np.testing.assert_allclose(at(1.0, own, [0.0] * 3), [[0.0, 0.2, 0.8]])
        np.testing.assert_allclose(at(0.0, own, other), [[0.0, 0.75, 0.25]])
        np.testing.assert_allclose(at(0.5, own, other), [[0.0, 0.6, 0.4]])
        # Where no case has a value, the grid says what moves are worth in the own world too.
        np.testing.assert_allclose(at(0.5, own, other, valued=0.0), [[0.0, 3 / 7, 4 / 7]])

    def test_without_answers_nobody_adapts(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "plain.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened, opened.transaction():
            Worlds.find(opened, rounds=0).save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert Worlds.load(opened) is not None
            assert Worlds.to_adapt_by(opened) is None
            found = Worlds.find(opened, rounds=1, hands=2_000)
            found.save(opened)
            opened.put_learned("worlds.hands", np.array([5_000]))
            assert Worlds.to_adapt_by(opened) is not None

    def test_they_are_kept_in_the_casebase(self, base: Path, tmp_path: Path) -> None:
        import shutil

        copy = tmp_path / "kept.db"
        shutil.copy(base, copy)
        with Casebase.open(copy, write=True) as opened:
            assert Worlds.load(opened) is None
            worlds = Worlds.find(opened, rounds=1, hands=5_000)
            with opened.transaction():
                worlds.save(opened)
        with Casebase.open(copy) as opened:
            again = Worlds.load(opened)
        assert again is not None
        for name, part in worlds.parts().items():  # to the last digit, or labels would differ
            np.testing.assert_array_equal(again.parts()[name], part, err_msg=name)


def sitting(deal: int, seats: int) -> Sitting:
    return Sitting(np.array([deal]), np.arange(seats)[None], np.zeros(1, np.int64))


def acting(tables, terms, players) -> np.ndarray:
    """What players would do at tables, each with the hand it has there."""
    known, space, codes, out = rooms(3)
    found = np.empty((len(tables), 3))
    for at, row in enumerate(tables):
        known[:] = -1
        chances(row, terms[at], mark_of(row, known, space), players, codes, out)
        found[at] = out
    return found
