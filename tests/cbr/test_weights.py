"""Weights by name, from a file, at random; and as a casebase's default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, BadWeights, NameClash, NoSuchName
from cbr.plugging.plugins import Plugins
from cbr.store.casebase import Casebase
from cbr.store.definitions import set_weights
from cbr.weights import Weights, find_weights, random_weights, weights_of

FLOP = CaseType(
    "game/flop",
    [
        Feature("x", range=(0, 1)),
        Feature("y", range=(0, 1), weight=7),
        Feature("note", indexed=False),
    ],
    ["a", "b"],
)
TURN = CaseType("game/turn", [Feature("x", range=(0, 1))], ["a", "b"])
CASE = "price=7000,age=6,mileage=90,power=90,fuel=diesel"

SETS = """
import cbr

@cbr.hook
def cbr_weights():
    return [
        cbr.Weights({"car": {"price": 60, "age": 0}}, "car", {"made_by": "me"}, called="thrifty"),
        cbr.Weights({"car": {"price": 1}}, called="any"),
        cbr.Weights({"flop": {"x": 3}, "turn": {"x": 0.5}}, "game", called="thrifty"),
    ]
"""


@pytest.fixture
def sets(plugin_file) -> Path:
    return plugin_file(SETS, "sets.py")


@pytest.fixture
def game(tmp_path: Path):
    with Casebase.create(tmp_path / "game.db", [FLOP, TURN]) as base:
        yield base


class TestNames:
    def test_a_name_is_that_of_the_domain(self, sets: Path) -> None:
        plugins = Plugins().load([sets])
        assert weights_of(FLOP, "thrifty", plugins) == [3.0, 7.0]
        assert weights_of(TURN, "game.thrifty", plugins) == [0.5]
        assert find_weights("car.thrifty", plugins=plugins).provenance == {"made_by": "me"}
        with pytest.raises(BadWeights, match="for domain 'car', not 'game'"):
            weights_of(FLOP, "car.thrifty", plugins)

    def test_without_a_domain_a_name_may_be_several(self, sets: Path) -> None:
        with pytest.raises(BadWeights, match=r"name one: car\.thrifty, game\.thrifty"):
            find_weights("thrifty", plugins=Plugins().load([sets]))

    def test_an_unknown_name_is_told_what_there_is(self, sets: Path) -> None:
        says = r"no set or file of weights 'thrify'; .*there is any, car\.thrifty, game\.thrifty"
        with pytest.raises(BadWeights, match=says):
            weights_of(FLOP, "thrify", Plugins().load([sets]))
        with pytest.raises(BadWeights, match="no set or file"):
            weights_of(FLOP, "x" * 5000)

    def test_a_name_goes_before_a_file(self, sets: Path, tmp_path: Path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("thrifty", "any"):
            Weights({"flop": {"x": 50}}).save(name)
        plugins = Plugins().load([sets])
        assert weights_of(FLOP, "thrifty", plugins)[0] == 3.0
        assert weights_of(FLOP, "./thrifty", plugins)[0] == 50.0
        tea = CaseType("tea", [Feature("x", range=(0, 1))], ["a"])
        Weights({"tea": {"x": 50}}).save("thrifty")  # the sets of that name are for others
        assert weights_of(tea, "thrifty", plugins) == [50.0]

    def test_one_name_twice_is_a_clash(self, sets: Path, plugin_file) -> None:
        plugins = Plugins().load([sets, plugin_file(SETS, "more.py")])
        with pytest.raises(NameClash, match=r"weight set 'car\.thrifty'"):
            find_weights("any", plugins=plugins)

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ('cbr.Weights({"car": {}}, "car")', "which is no weight set"),
            ('cbr.Weights({"car": {}}, called="So So")', "'So So' must be lower-case"),
            ('cbr.Weights({"price": 3}, called="flat")', "'flat' must be a mapping by stage"),
            ("{}, 3", "which is no weight set"),
        ],
    )
    def test_what_is_no_set_is_the_plugins_problem(self, plugin_file, given: str, says: str):
        text = f"import cbr\n@cbr.hook\ndef cbr_weights():\n    return [{given}]\n"
        plugins = Plugins().load([plugin_file(text)])
        with pytest.raises(BadWeights, match="no set or file"):
            find_weights("nothing", plugins=plugins)
        assert says in plugins.problems[0]

    def test_a_set_is_checked_where_it_is_used(self, plugins) -> None:
        plugins.add(_module({"flop": {"x": -1}}), "odd")
        with pytest.raises(BadWeights, match=r"weight of 'x' is -1.0; it must be 0 or more"):
            weights_of(FLOP, "odd", plugins)
        with pytest.raises(BadWeights, match="for the stages flop, and not for 'turn'"):
            weights_of(TURN, "odd", plugins)


def _module(stages: dict):
    from types import ModuleType

    from cbr.plugging.hookspecs import hook

    def cbr_weights() -> list[Weights]:
        return [Weights(stages, called="odd")]

    made = ModuleType("odd")
    made.cbr_weights = hook(cbr_weights)  # type: ignore[attr-defined]
    return made


class TestRandom:
    def test_the_same_for_the_same_seed_and_case_type(self) -> None:
        found = weights_of(FLOP, "random:7")
        assert found == weights_of(FLOP, "random:7") == [19.0, 90.0]  # on every machine
        assert found != weights_of(FLOP, "random:8")
        other = CaseType("game/other", FLOP.features, ["a"])
        assert found != weights_of(other, "random:7")

    def test_whole_numbers_from_0_to_100_never_all_0(self) -> None:
        drawn = [random_weights(TURN, seed)["x"] for seed in range(3000)]
        assert set(drawn) == {float(n) for n in range(1, 101)}
        drawn = [random_weights(FLOP, seed)["x"] for seed in range(3000)]
        assert set(drawn) == {float(n) for n in range(101)}
        assert sum(drawn) / len(drawn) == pytest.approx(50, abs=2)

    def test_a_seed_is_a_whole_number(self) -> None:
        for text in ("random:", "random:x", "random:1.5"):
            with pytest.raises(BadWeights, match="is not a whole number; write random:7"):
                weights_of(FLOP, text)


class TestSet:
    def test_the_default_changes_and_the_digest_stays(self, game: Casebase) -> None:
        with game.transaction():
            columns = {"x": [0.5], "y": [0.25], "note": ["!"]}
            game.add("flop", columns, ["a"], [1.0], [None], [0])
        digest, version = game.digest("flop"), game.write_version
        assert set_weights(game, Weights({"flop": {"x": 40}, "river": {"z": 1}})) == ["flop"]
        assert weights_of(game.case_type("flop")) == [40.0, 7.0]
        assert weights_of(game.case_type("turn")) == [1.0]
        assert (game.digest("flop"), game.write_version) == (digest, version + 1)
        assert weights_of(game.vectors("flop").case_type) == [40.0, 7.0]
        with Casebase.open(game.path) as again:
            assert again.case_types == game.case_types
            assert again.case_type("flop").feature("note") == FLOP.feature("note")

    def test_what_is_there_is_not_written_again(self, game: Casebase) -> None:
        version = game.write_version
        assert set_weights(game, "x=1", "turn") == []
        assert game.write_version == version

    def test_all_or_nothing(self, game: Casebase) -> None:
        with pytest.raises(BadWeights, match="all weights of 'turn' are 0"):
            set_weights(game, Weights({"flop": {"x": 40}, "turn": {"x": 0}}))
        assert game.case_types == [FLOP, TURN]
        with pytest.raises(NoSuchName, match="indexed feature 'y'"):
            set_weights(game, "y=2", "turn")
        with pytest.raises(BadValue, match="name a stage"):
            set_weights(game, "y=2")
        assert set_weights(game, "y=2", "flop") == ["flop"]

    def test_weights_of_something_else_are_refused(self, game: Casebase) -> None:
        with pytest.raises(BadWeights, match="for domain 'tea', not 'game'"):
            set_weights(game, Weights({"tea": {"x": 1}}, "tea"))
        with pytest.raises(BadWeights, match="for the stages river, and not for 'flop'"):
            set_weights(game, Weights({"river": {"x": 1}}))
        with (
            Casebase.open(game.path) as reader,
            pytest.raises(BadValue, match="open for reading only"),
        ):
            set_weights(reader, "x=3")


class TestCommands:
    def test_list(self, cbr, sets: Path) -> None:
        found = cbr("weights", "list", "--json", "--plugin", sets).json["sets"]
        mine = [each for each in found if each["plugin"] == "sets"]
        assert mine[0] == {
            "name": "thrifty",
            "domain": "car",
            "stages": ["car"],
            "plugin": "sets",
            "distribution": str(sets),
            "provenance": {"made_by": "me"},
        }
        shown = cbr("weights", "list", "--plugin", sets).out
        assert all(word in shown for word in ("thrifty", "any", "game", "sets", "me"))

    @pytest.mark.long
    def test_list_of_nothing(self, cbr, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CBR_LOAD_PLUGINS", "similarity")
        assert "No loaded plugin brings weights" in cbr("weights", "list").out
        assert cbr("weights", "list", "--json").json == {"sets": []}

    def test_show_is_a_weights_file(self, cbr, sets: Path, tmp_path: Path) -> None:
        answer = cbr("weights", "show", "game.thrifty", "--plugin", sets, "--json")
        (tmp_path / "mine.json").write_text(answer.out)
        mine = Weights.load(tmp_path / "mine.json")
        assert (mine.stages, mine.domain) == ({"flop": {"x": 3}, "turn": {"x": 0.5}}, "game")
        assert answer.out == cbr("weights", "show", tmp_path / "mine.json", "--json").out
        shown = cbr("weights", "show", "car.thrifty", "--plugin", sets).out.split()
        assert shown[:3] == ["car.thrifty,", "for", "car"]
        assert shown[-6:] == ["price", "60", "age", "0", "made_by:", "me"]

    def test_show_says_what_is_wrong(self, cbr, tmp_path: Path) -> None:
        for value in ("NaN", "-1", '"much"', "true", "[1]"):
            text = '{"format": "cbr-weights", "version": 1, "stages": {"car": {"age": %s}}}'
            (tmp_path / "w.json").write_text(text % value)
            answer = cbr("weights", "show", tmp_path / "w.json", "--json")
            assert (answer.code, "weight of 'age' is" in answer.err) == (2, True)
        answer = cbr("weights", "show", "nowhere")
        assert (answer.code, "no set or file of weights 'nowhere'" in answer.err) == (2, True)

    def test_a_provenance_may_be_a_word(self, cbr, tmp_path: Path) -> None:
        plain = {"format": "cbr-weights", "version": 1, "stages": {}, "provenance": "hand"}
        (tmp_path / "w.json").write_text(json.dumps(plain))
        assert "made_by: hand" in cbr("weights", "show", tmp_path / "w.json").out

    def test_query_with_a_set(self, cbr, cars_db: Path, sets: Path) -> None:
        words = ["query", cars_db, "--case", CASE, "--json", "--plugin", sets]
        answer = cbr(*words, "--weights", "thrifty").json["weights"]
        assert (answer["price"], answer["age"], answer["power"]) == (60, 0, 15)
        drawn = cbr(*words, "--weights", "random:3").json["weights"]
        assert drawn == cbr(*words, "--weights", "random:3").json["weights"] != answer

    def test_set(self, cbr, cars_db: Path, sets: Path) -> None:
        before = cbr("info", cars_db, "--json").json["digest"]
        answer = cbr("weights", "set", cars_db, "thrifty", "--plugin", sets)
        assert (answer.code, "car has new weights, by thrifty" in answer.out) == (0, 1)
        assert answer.err == ""  # there is no index that would be stale
        assert cbr("info", cars_db, "--json").json["digest"] == before
        assert cbr("query", cars_db, "--case", CASE, "--json").json["weights"]["price"] == 60
        assert cbr("check", cars_db).code == 0
        again = cbr("weights", "set", cars_db, "thrifty", "--plugin", sets)
        assert ("has these weights already" in again.out, again.err) == (True, "")
        answer = cbr("weights", "set", cars_db, "price=5", "--json").json
        assert (answer["changed"], answer["weights"]["car"]["price"]) == (["car"], 5)

    def test_set_says_what_is_wrong(self, cbr, cars_db: Path) -> None:
        for words, says in [
            ([cars_db, "nowhere"], "no set or file of weights 'nowhere'"),
            ([cars_db, "general"], "for domain 'holdem', not 'car'"),
            ([cars_db, "price=-1"], "weight of 'price' is -1"),
            ([cars_db, "price=1", "--stage", "cat"], "no stage 'cat'"),
            (["nothing.db", "price=1"], "nothing.db"),
        ]:
            answer = cbr("weights", "set", *words)
            assert (answer.code, says in answer.err) == (2, True), answer.err
