"""Plugins: found, guarded, named when they fail, and easy to begin."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from conftest import ROOT

import cbr as engine
from cbr.errors import BadValue, NameClash, NoSuchName
from cbr.measure import similarity
from cbr.plugging import hookspecs
from cbr.plugging.plugins import KINDS, Plugins, default_plugins, start_worker
from cbr.plugging.starters import STARTERS
from cbr.testing import check_similarity

NEAR = """
import cbr

@cbr.similarity("near")
def near(a, b, reach=1000.0):
    return max(0.0, 1.0 - abs(a - b) / reach)
"""


def plugin(plugins: Plugins, name: str):
    return next(p for p in plugins.plugins if p.name == name)


def test_our_own_rooms_come_through_the_entry_points() -> None:
    plugins = Plugins().load()
    assert [(p.name, p.origin, p.status) for p in plugins.plugins] == [
        ("engine", "cbr-engine", "ok"),
        ("arena", "cbr-engine", "ok"),
        ("bots", "cbr-engine", "ok"),
        ("casper", "cbr-engine", "ok"),
        ("holdem", "cbr-engine", "ok"),
        ("kmodels", "cbr-engine", "ok"),
        ("logs", "cbr-engine", "ok"),
        ("mcts", "cbr-engine", "ok"),
        ("opponents", "cbr-engine", "ok"),
        ("play", "cbr-engine", "ok"),
        ("similarity", "cbr-engine", "ok"),
    ]
    assert plugins.problems == []
    assert plugins.registered_by(plugin(plugins, "similarity"))["similarity"]


def test_a_marked_function_is_all_a_plugin_needs(plugin_file) -> None:
    plugins = Plugins().load([plugin_file(NEAR)])
    assert plugins.get("similarity", "near").function(0, 500) == 0.5
    assert plugin(plugins, "dropped").hooks == ["cbr_similarities"]
    assert plugins.registered_by(plugin(plugins, "dropped")) == {"similarity": ["near"]}


def test_imported_functions_are_not_registered_again(plugin_file) -> None:
    path = plugin_file("from cbr_similarity import linear, equal\n" + NEAR)
    plugins = Plugins().load([path])
    assert plugins.registered_by(plugin(plugins, "dropped")) == {"similarity": ["near"]}
    assert plugins.clashes() == []


def test_a_hook_may_give_them_itself(plugin_file) -> None:
    text = NEAR + "\n@cbr.hook\ndef cbr_similarities():\n    return [near]\n"
    plugins = Plugins().load([plugin_file(text)])
    assert plugins.registered_by(plugin(plugins, "dropped")) == {"similarity": ["near"]}


def test_a_folder_of_plugins(tmp_path: Path, plugin_file, monkeypatch) -> None:
    plugin_file(NEAR, "one.py")
    plugin_file(NEAR.replace("near", "far"), "two.py")
    plugin_file("raise RuntimeError('no plugin')", "test_one.py")
    plugin_file("raise RuntimeError('no plugin')", "_private.py")
    monkeypatch.setenv("CBR_PLUGINS_DIR", str(tmp_path))
    plugins = Plugins().load()
    assert {"near", "far"} <= plugins.named("similarity").keys()
    assert plugins.problems == []
    monkeypatch.setenv("CBR_LOAD_PLUGINS", "two")
    assert list(Plugins().load().named("similarity")) == ["far"]
    monkeypatch.setenv("CBR_PLUGINS_DIR", str(tmp_path / "nowhere"))
    assert "no folder" in Plugins().load().problems[0]


def test_what_loads_can_be_limited(monkeypatch, plugin_file) -> None:
    monkeypatch.setenv("CBR_LOAD_PLUGINS", "")
    assert [p.name for p in Plugins().load().plugins] == ["engine"]
    plugins = Plugins().load([plugin_file(NEAR)])  # asked for by name, so it loads
    assert [p.name for p in plugins.plugins] == ["engine", "dropped"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def f(:", "SyntaxError"),
        ("raise SystemExit('away')", "SystemExit: away"),
        ("import cbr\nX = cbr.Feature('X')", "lower-case"),
    ],
)
def test_a_plugin_that_fails_to_load_is_named_and_left_out(plugin_file, text, says) -> None:
    path = plugin_file(text)
    plugins = Plugins().load([path])
    broken = plugin(plugins, "dropped")
    assert (broken.status, broken.loaded) == ("left out", False)
    [problem] = plugins.problems
    assert problem.startswith(f"plugin dropped ({path}): ")
    assert says in problem
    assert "\n" not in problem
    assert "linear" in plugins.named("similarity")


@pytest.mark.parametrize(
    ("hook", "says"),
    [
        ("return 1 / 0", "cbr_similarities failed: ZeroDivisionError"),
        ("return [3]", "gave 3, which is no similarity"),
        ("return 3", "TypeError"),
    ],
)
def test_a_hook_that_fails_is_named_and_the_others_go_on(plugin_file, hook, says) -> None:
    path = plugin_file(f"import cbr\n@cbr.hook\ndef cbr_similarities():\n    {hook}\n")
    plugins = Plugins().load([path, plugin_file(NEAR, "good.py")])
    assert "near" in plugins.named("similarity")
    assert says in plugins.problems[0]
    assert plugin(plugins, "dropped").status == "warning"


def test_misspelt_and_unmarked_hooks_are_reported(plugin_file) -> None:
    text = """
import cbr
@cbr.hook
def cbr_similarites(): return []
@cbr.hook
def cbr_arenass(): return []
def cbr_indices(): return []
"""
    plugins = Plugins().load([plugin_file(text)])
    problems = plugin(plugins, "dropped").problems
    assert any("'cbr_similarites'; did you mean 'cbr_similarities'" in p for p in problems)
    assert any("'cbr_arenass'; did you mean 'cbr_arenas'" in p for p in problems)
    assert any("cbr_indices is not marked; write @cbr.hook above it" in p for p in problems)


def test_a_hook_with_arguments_it_does_not_have_is_refused(plugin_file) -> None:
    path = plugin_file("import cbr\n@cbr.hook\ndef cbr_info(casebase, colour): return {}\n")
    [problem] = Plugins().load([path]).problems
    assert "colour" in problem


def test_one_name_twice_is_an_error_that_names_both(plugin_file) -> None:
    one, two = plugin_file(NEAR, "one.py"), plugin_file(NEAR, "two.py")
    plugins = Plugins().load([one, two])
    with pytest.raises(NameClash, match=r"similarity 'near'.*one\.py.*two\.py"):
        plugins.get("similarity", "near")
    own = plugin_file(NEAR.replace('"near"', '"linear"'), "own.py")
    with pytest.raises(NameClash, match=r"similarity \(cbr-engine [0-9.]+\) and own \(.*own.py\)"):
        Plugins().load([own]).get("similarity", "equal")


def test_two_plugins_of_one_name(tmp_path: Path, plugin_file) -> None:
    (tmp_path / "deep").mkdir()
    one, two = plugin_file(NEAR, "same.py"), plugin_file(NEAR, "deep/same.py")
    plugins = Plugins().load([one, two])
    [problem] = plugins.problems
    assert "the name 'same' is taken by same" in problem
    assert str(one) in problem
    assert str(two) in problem
    assert Plugins().load([one, one]).problems == []


def test_a_plugin_may_add_hooks_of_its_own(plugin_file) -> None:
    host = plugin_file(
        """
import cbr, pluggy
class Specs:
    @pluggy.HookspecMarker("cbr")
    def game_bots(): ...
@cbr.hook
def cbr_add_hooks(manager):
    manager.add_hookspecs(Specs)
""",
        "host.py",
    )
    guest = plugin_file("import cbr\n@cbr.hook\ndef game_bots(): return ['random']\n", "guest.py")
    for order in ([host, guest], [guest, host]):
        plugins = Plugins().load(order)
        assert plugins.problems == []
        assert [given for _, given in plugins.call("game_bots")] == [["random"]]


def test_a_package_may_mark_functions_in_its_modules(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "marked_package"
    package.mkdir()
    (package / "__init__.py").write_text("from marked_package.inside import near\n")
    (package / "inside.py").write_text(NEAR)
    monkeypatch.syspath_prepend(tmp_path)
    plugins = Plugins()
    plugins.add(__import__("marked_package"), "package")
    assert list(plugins.named("similarity")) == ["near"]


@pytest.mark.long
def test_a_worker_loads_what_its_starter_has(plugin_file) -> None:
    files = Plugins().load([plugin_file(NEAR)]).files
    spawn = get_context("spawn")
    with ProcessPoolExecutor(1, spawn, initializer=start_worker, initargs=(files,)) as pool:
        assert pool.submit(_in_worker, "near").result(60) == 0.5
        with pytest.raises(NoSuchName, match="no similarity 'far'; there is asymmetric"):
            pool.submit(_in_worker, "far").result(60)


def _in_worker(name: str) -> float:
    return default_plugins().get("similarity", name).function(0, 500)


def test_two_sources_of_one_name_do_not_stop_other_commands(cbr, cars_db, plugin_file) -> None:
    path = plugin_file(
        """
import cbr
@cbr.hook
def cbr_case_sources():
    taken = cbr.BuildOption("limit", "x", 7)
    return [cbr.CaseSource("table", lambda p, h: False, lambda p: [], options=(taken,))]
"""
    )
    assert cbr("query", cars_db, "--case", "age=5", "--plugin", path).code == 0
    listed = cbr("plugins", "--plugin", path)
    assert (listed.code, "case source 'table' is registered by two" in listed.err) == (1, True)
    assert "option --limit is taken by build itself" in listed.err


def test_a_plugin_that_prints_does_not_reach_stdout(plugin_file, capsys) -> None:
    Plugins().load([plugin_file("print('hello')\n" + NEAR)])
    assert capsys.readouterr().out == ""


def test_every_kind_has_a_hook() -> None:
    assert set(KINDS.values()) < set(dir(hookspecs))


#: A feature of another domain, and what plugins that ship add.
MORE = (["feature", "--type", "holdem"], ["player-model"], ["bot"])


class TestStarters:
    @pytest.mark.long
    @pytest.mark.parametrize("words", [*([kind] for kind in sorted(STARTERS)), *MORE])
    def test_a_starter_works_and_passes_its_test(self, cbr, tmp_path: Path, words: list) -> None:
        name = "my_" + words[0].replace("-", "_")
        path = tmp_path / f"{name}.py"
        answer = cbr("plugins", "new", words[0], path, *words[1:])
        assert answer.code == 0, answer.err
        plugins = Plugins().load([path])
        assert plugins.problems == []
        assert plugins.registered_by(plugin(plugins, name))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout
        # A starter written into this project's folder must not break its checks.
        config = ["--config", str(ROOT / "pyproject.toml"), str(tmp_path)]
        for words in (["check", *config], ["format", "--check", *config]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *words], capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout + done.stderr

    def test_a_similarity_is_ten_lines(self, cbr, tmp_path: Path) -> None:
        cbr("plugins", "new", "similarity", tmp_path / "my_measure.py")
        code = (tmp_path / "my_measure.py").read_text().partition('"""\n\n')[2]
        assert len([line for line in code.splitlines() if line.strip()]) <= 10

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["simile", "x.py"], "no kind of starter 'simile'"),
            (["similarity", "x.txt"], "module name"),
            (["similarity", "a-b.py"], "module name"),
            (["similarity", "nowhere/x.py"], "no folder"),
        ],
    )
    def test_bad_requests(self, cbr, tmp_path: Path, monkeypatch, words, says) -> None:
        monkeypatch.chdir(tmp_path)
        answer = cbr("plugins", "new", *words)
        assert answer.code == 2
        assert says in answer.err
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_overwritten(self, cbr, tmp_path: Path) -> None:
        (tmp_path / "test_x.py").write_text("mine")
        answer = cbr("plugins", "new", "similarity", tmp_path / "x.py")
        assert (answer.code, "exists already" in answer.err) == (2, True)
        assert not (tmp_path / "x.py").exists()


def test_the_api_is_loaded_only_when_used() -> None:
    """`import cbr` and the help of the command line stay light."""
    script = textwrap.dedent(
        """
        import sys, cbr
        from cbr.cli.app import make_app
        from cbr.plugging.plugins import Plugins
        make_app(Plugins().load(), [])
        heavy = {"numpy", "numba", "faiss", "matplotlib", "sqlite_utils", "deap", "rich"}
        print(sorted(heavy & set(sys.modules)))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_public_names_can_be_had() -> None:
    for name in engine.__all__:
        assert getattr(engine, name) is not None
    assert set(engine.__all__) <= set(dir(engine))
    with pytest.raises(AttributeError, match="No cbr attribute nothing"):
        engine.nothing  # noqa: B018


BAD_MARK = """\
import cbr


@cbr.similarity("near")
def near(a, b):
    return 1.0 if a == b else 0.0


@cbr.similarity("one-sided")
def one_sided(a):
    return 1.0


@cbr.feature("Not A Name", case_type="car", range=(0, 1))
def wrong(situations):
    return situations["price"]
"""


class TestBadMarks:
    """A mark that cannot be made is a problem of its function, and not of its module."""

    def test_the_others_of_its_module_are_there(self, plugin_file) -> None:
        plugins = Plugins().load([plugin_file(BAD_MARK)])
        assert "near" in plugins.named("similarity")
        assert "one-sided" not in plugins.named("similarity")
        first, second = plugins.problems
        assert "one_sided: similarity 'one-sided' must take two values" in first
        assert "wrong: feature name 'Not A Name' must be lower-case" in second

    def test_the_check_for_authors_tells_why(self) -> None:
        with pytest.raises(BadValue, match="must take two values"):
            check_similarity(similarity("one-sided")(lambda a: 1.0))
