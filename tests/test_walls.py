"""The walls between the rooms, where import-linter does not look."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

ROOTS = [ROOT, ROOT / "features", ROOT / "similarity", ROOT / "plugins"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = {
    path.parent.name: path.parent
    for root in ROOTS
    for path in sorted(root.glob("cbr*/__init__.py"))
}


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of each import in a file; name is "" for `import module`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def test_every_package_is_behind_a_wall() -> None:
    """A new room that nobody told import-linter of would have no walls."""
    config = PROJECT["tool"]["importlinter"]
    assert set(config["root_packages"]) == set(PACKAGES)
    layers = config["contracts"][0]["layers"]
    assert {name for layer in layers for name in re.split(r"[ |:]+", layer)} == set(PACKAGES)


def test_every_folder_of_a_package_is_one() -> None:
    """A folder without __init__.py would be left out of the wheel without a word."""
    for package in PACKAGES.values():
        for path in package.rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_room_uses_only_public_names_of_another_room(package: str) -> None:
    for path in PACKAGES[package].rglob("*.py"):
        for module, name in imports(path):
            room, *inside = module.split(".")
            if room in PACKAGES and room != package:
                private = [part for part in [*inside, name] if part.startswith("_")]
                assert not private, f"{path} imports the private {module}.{name}"
                # Of the engine and of hold'em every module is public; of a plugin, its package and
                # the folders that list public names.
                shared = room in {"cbr", "cbr_holdem"}
                listed = PACKAGES[room].joinpath(*inside, "__init__.pyi").exists()
                assert shared or not inside or listed, f"{path} imports {module}: use {room}"


@pytest.mark.parametrize(
    "word", ["poker", "holdem", "hold'em", "flop", "street", "blind", "bluff", "casper"]
)
def test_the_engine_does_not_talk_of_cards(word: str) -> None:
    """Docstrings may give an example from cards; code, options and messages may not."""
    for path in PACKAGES["cbr"].rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    first.value.value = ""
        assert word not in ast.unparse(tree).lower(), path


def test_no_pickle() -> None:
    for package in PACKAGES.values():
        for path in package.rglob("*.py"):
            for module, _ in imports(path):
                assert module.split(".")[0] not in {"pickle", "joblib", "shelve", "marshal"}, path


def test_entry_points_name_packages_that_are_there() -> None:
    for target in PROJECT["project"]["entry-points"]["cbr"].values():
        assert target.split(":")[0].split(".")[0] in PACKAGES


def test_constraints_name_no_host() -> None:
    text = (ROOT / "constraints.txt").read_text("utf-8")
    assert "://" not in text
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in text.splitlines())
