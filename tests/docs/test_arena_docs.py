"""The arena in the docs: its hook, every bot with its options, and examples that play."""

from __future__ import annotations

import inspect
import re

import pytest
from conftest import ROOT

from cbr.plugging.plugins import Plugins
from cbr_arena import hookspecs

REFERENCE = ROOT / "docs" / "reference"
PAGE = (REFERENCE / "bots.md").read_text("utf-8")
HOOKS = (REFERENCE / "hooks.md").read_text("utf-8").partition("\n## Bots\n")[2]
HOOK, _, OF_MODELS = HOOKS.partition("\n## Player models\n")
EXAMPLES = re.findall(r"```python\n(.*?)```", HOOK, re.S)


def test_the_hook_is_documented() -> None:
    hooks = [name for name in dir(hookspecs) if name.startswith("cbr_")]
    assert re.findall(r"^### `(\w+)\(.*?\)`$", HOOK, re.M) == hooks


def test_every_bot_is_described_with_its_options() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \|(.*)$", PAGE, re.M))
    for name, kind in Plugins().load().named("bot").items():
        for option in inspect.signature(kind.make).parameters.values():
            empty = option.default is inspect.Parameter.empty
            shown = option.name if empty else f"{option.name}={option.default}"
            assert f"`{shown}`" in rows[name], f"{name} {shown}"


@pytest.mark.long
def test_the_examples_play(cbr, plugin_file, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine compiling may take longer than a bot is given for a decision.
    monkeypatch.setattr("cbr_arena.views.TIME_LIMIT", 600.0)
    assert len(EXAMPLES) == 3
    for text in EXAMPLES:
        [name] = re.findall(r'@bot\("(\w+)"', text)
        path = plugin_file(text, f"{name}.py")
        found = cbr("match", name, "random", "--hands", 400, "--json", "--plugin", path).json
        assert found["bots"][0]["faults"] == {}
        assert found["bots"][0]["rate"] > 0
    asked = cbr("ask", name, ROOT / "casebases" / "open-hand.phh", "--json", "--plugin", path).json
    assert (asked["why"], asked["draws"]) == ("It raises where it may.", 0)
    assert asked["actions"][0]["to"] == 40


def test_every_field_of_an_answer_is_described(cbr) -> None:
    found = cbr("ask", "call", ROOT / "casebases" / "open-hand.phh", "--json").json
    part = PAGE.partition("\n## The answer of `cbr ask`\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", part, re.M) == list(found)
    for name in found["actions"][0]:
        assert f"`{name}`" in part


def test_every_figure_of_a_match_is_described(cbr) -> None:
    found = cbr("match", "call", "fold", "--hands", 4, "--json").json
    words = set(re.findall(r"\w+", PAGE))
    assert {*found, *found["bots"][0]} <= words


def test_views_are_described() -> None:
    from cbr_holdem.situation import View

    for name, value in vars(View).items():
        if not name.startswith("_") and not inspect.isfunction(value) and name != "situation":
            assert f"`{name}`" in PAGE, name
