"""The docs cannot rot: every hook and command is there, and every example runs."""

from __future__ import annotations

import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN, ROOT

import doc_examples
import module_map
from cbr.cli import make_app
from cbr.plugging import hookspecs
from cbr.plugging.plugins import KINDS, Plugins

DOCS = ROOT / "docs"
PLUGINS = (DOCS / "reference" / "hooks.md").read_text("utf-8").partition("\n## Bots\n")[0]
MEASURES = (DOCS / "reference" / "measures-and-policies.md").read_text("utf-8")
HOOKS = [name for name in dir(hookspecs) if name.startswith("cbr_")]
SECTIONS = dict(re.findall(r"### `(\w+)\(.*?\)`\n(.*?)(?=\n###|\Z)", PLUGINS, re.S))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented_with_its_arguments(hook: str) -> None:
    arguments = ", ".join(inspect.signature(getattr(hookspecs, hook)).parameters)
    assert f"### `{hook}({arguments})`" in PLUGINS


def test_no_hook_is_documented_that_is_not_there() -> None:
    assert sorted(SECTIONS) == sorted(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_an_example_that_works(hook: str, plugin_file) -> None:
    [example] = re.findall(r"```python\n(.*?)```", SECTIONS[hook], re.S)
    plugins = Plugins().load([plugin_file(example, "example.py")])
    make_app(plugins)
    assert plugins.problems == []
    mine = next(p for p in plugins.plugins if p.name == "example")
    assert hook in mine.hooks
    kind = next((kind for kind, name in KINDS.items() if name == hook), None)
    if kind:
        assert plugins.registered_by(mine)[kind]


@pytest.mark.long
def test_examples_can_be_used(cbr, cars_db: Path, tmp_path: Path, plugin_file) -> None:
    """Not only loaded: each example that a query or a build can use is used."""
    examples = dict.fromkeys(SECTIONS, "")
    for hook, text in SECTIONS.items():
        examples[hook] = re.findall(r"```python\n(.*?)```", text, re.S)[0]

    def with_example(hook: str, *words: object):
        path = plugin_file(examples[hook], f"{hook}.py")
        answer = cbr(*words, "--plugin", path, "--plugin", CARS_PLUGIN)
        assert answer.code == 0, answer.err
        return answer

    query = ["query", cars_db, "--case", "price=7000,age=6", "--json"]
    with_example("cbr_similarities", *query, "--similarity", "price=no-dearer")
    with_example("cbr_retrieval_policies", *query, "--policy", "nearly-best?gap=0.1")
    with_example("cbr_reuse_policies", *query, "--reuse", "careful")
    with_example("cbr_weights", *query, "--weights", "thrifty")
    with_example("cbr_indices", *query, "--index", "near-first?slack=900")
    build = ["build", "--type", "car", "--out", tmp_path / "f.db", "--features", "+yearly"]
    with_example("cbr_features", *build, CARS_CSV)
    with_example("cbr_features", "rebuild", cars_db, "--features", "+yearly")
    assert with_example("cbr_commands", "greet", "Ada").out == "hello Ada\n"
    assert "megabytes" in with_example("cbr_info", "info", cars_db).out
    assert "is sound" in with_example("cbr_check", "check", cars_db).out
    table = tmp_path / "tea.csv"
    table.write_text("minutes,leaf,solution\n3,black,good\n")
    tea = ["build", table, "--type", "tea", "--out", tmp_path / "tea.db"]
    with_example("cbr_case_types", *tea)
    rows = tmp_path / "rows.jsonl"
    head, first, *_ = CARS_CSV.read_text().splitlines()
    pairs = zip(head.split(","), first.split(","), strict=True)
    rows.write_text("{" + ", ".join(f'"{k}": "{v}"' for k, v in pairs) + "}\noops\n")
    read = ["build", rows, "--type", "car", "--out", tmp_path / "j.db", "--colour", "blue"]
    assert "not JSON" in with_example("cbr_case_sources", *read).out


def test_an_arena_of_the_docs_keeps_its_word(plugin_file) -> None:
    from cbr.testing import check_arena

    example = re.findall(r"```python\n(.*?)```", SECTIONS["cbr_arenas"], re.S)[0]
    plugins = Plugins().load([plugin_file(example)])
    check_arena(plugins.get("arena", "near-ideal"), dimensions=5)


def test_the_command_page_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    import docs

    monkeypatch.setenv("CBR_LOAD_PLUGINS", "")  # the page sets it; this puts it back
    assert docs.page() == docs.PAGE.read_text("utf-8"), "stale: run `make docs`"


def test_every_command_is_on_its_page_with_an_example() -> None:
    import typer

    from docs import PAGE, commands

    page = PAGE.read_text("utf-8")
    app = typer.main.get_command(make_app(Plugins().load()))
    for path, context in commands(app, "cbr"):
        assert f"## `{path}`" in page
        assert "Example: cbr" in context.get_help(), path


def test_every_column_of_a_decision_is_described() -> None:
    from cbr_holdem.situation import COLUMNS

    page = (DOCS / "reference" / "holdem.md").read_text("utf-8")
    for name in COLUMNS:
        plain = name.removesuffix("_flop").removesuffix("_turn").removesuffix("_river")
        assert f"`{name}`" in page or f"`{plain}`" in page, name


def test_every_measure_and_policy_is_described_with_its_parameters() -> None:
    from cbr.measure import FromFeature
    from cbr.spec import Spec, settle

    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)$", MEASURES, re.M))
    plugins = Plugins().load()
    for kind, skip in (("similarity", 2), ("retrieval policy", 1), ("reuse policy", 1)):
        for name, thing in plugins.named(kind).items():
            assert name in rows, f"{kind} {name}"
            parameters = inspect.signature(thing.function).parameters.values()
            for parameter in list(parameters)[skip:]:
                given = isinstance(parameter.default, FromFeature) or (
                    parameter.default is inspect.Parameter.empty
                )
                shown = parameter.name if given else f"{parameter.name}={parameter.default}"
                assert f"`{shown}`" in rows[name], f"{name} {shown}"
    assert settle(plugins.get("retrieval policy", "top").function, 1, Spec("top")) == {"k": 10}


def test_the_weights_of_the_docs_are_weights(tmp_path: Path) -> None:
    from cbr.weights import Weights

    page = (DOCS / "reference" / "formats.md").read_text("utf-8")
    [example] = re.findall(r"```json\n(.*?)```", page, re.S)
    (tmp_path / "w.json").write_text(example)
    assert Weights.load(tmp_path / "w.json").stages["car"]["price"] == 30


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *DOCS.rglob("*.md")]:
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
            file, _, heading = link.partition("#")
            if "://" not in link:
                there = page.parent / file if file else page
                assert there.exists(), f"{page.name}: {link}"
                assert not heading or heading in _headings(there), f"{page.name}: {link}"


def _headings(page: Path) -> set[str]:
    """What links call the headings of a page."""
    found = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in found}


@pytest.mark.long
@pytest.mark.parametrize("page", doc_examples.PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_work(page: Path, tmp_path: Path) -> None:
    """Every block of shell or Python runs, in order, and prints what the page says."""
    text = page.read_text("utf-8")
    assert doc_examples.updated(text, tmp_path) == text, "run `python tools/doc_examples.py`"


def test_a_failing_example_is_found(tmp_path: Path) -> None:
    page = "```sh\ncbr info nobody.db\n```\n"
    with pytest.raises(doc_examples.ExampleFailed, match=r"cbr info nobody\.db: Error"):
        doc_examples.updated(page, tmp_path)


def test_an_output_that_differs_is_found(tmp_path: Path) -> None:
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```text\n4\n```\n"
    assert doc_examples.updated(page, tmp_path) == page.replace("3", "2")


def test_names_of_the_engine_are_there() -> None:
    """What the docs name with dots (`cbr.testing.check_arena`) can be imported as it stands."""
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]:
        for name in re.findall(r"`@?(cbr\w*(?:\.\w+)+)", page.read_text("utf-8")):
            if name.rpartition(".")[2] not in {"db", "json", "md", "py"}:
                assert pkgutil.resolve_name(name) is not None, f"{page.name}: {name}"


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 120
    assert sum(line.startswith("cbr ") for line in text.splitlines()) >= 10


@pytest.mark.long
def test_the_module_map_is_true() -> None:
    page = module_map.PAGE.read_text("utf-8")
    assert module_map.updated(page) == page, "stale: run `make docs`"


def test_the_module_map_has_every_module() -> None:
    lines = module_map.module_map()
    for folder in ("cbr", "similarity", "features", "plugins", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            assert module_map.first_sentence(path), f"{path} has no docstring"
            assert module_map.first_sentence(path) in lines, path


def test_every_page_of_results_tells_how_it_was_measured() -> None:
    folder = DOCS / "results"
    listed = (folder / "README.md").read_text("utf-8")
    for page in folder.glob("*.md"):
        if page.name != "README.md":
            text = page.read_text("utf-8")
            assert f"({page.name})" in listed, page.name
            for name in ("commit", "command", "seed"):
                assert re.search(rf"^\| {name} \| .+ \|$", text, re.M), (page.name, name)


def test_win_rates_stand_among_the_results() -> None:
    """A figure outside docs/results would be copied by hand, and grow old there."""
    for page in DOCS.rglob("*.md"):
        if page.parent.name != "results":
            assert not re.search(r"\d ± \d", page.read_text("utf-8")), page
