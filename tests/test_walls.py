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

#: Modules that are public as a whole; of all else, what the stubs list is.
PUBLIC_MODULES = {
    "cbr": {
        *"case errors jit marks measure sklearn".split(),
        *"spec statistics testing typing weights workers".split(),
    },
    "cbr_arena": {"testing"},
    "cbr_holdem": {"chance"},
    "cbr_mcts": {"testing"},
    "cbr_opponents": {"testing"},
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


def test_every_folder_of_tests_is_run() -> None:
    paths = set(PROJECT["tool"]["pytest"]["ini_options"]["testpaths"])
    tests = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    tests = {path for path in tests if "plugin_example" not in path.parts}
    assert not [path for path in tests if not paths & {str(path), str(path.parent)}]


def test_every_folder_of_a_package_is_one() -> None:
    """A folder without __init__.py would be left out of the wheel without a word."""
    for package in PACKAGES.values():
        for path in package.rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path


def listed(package: Path) -> set[str]:
    """The names that the stub of a package or of its folder makes public."""
    stub = package / "__init__.pyi"
    nodes = ast.parse(stub.read_text("utf-8")).body if stub.exists() else []
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in froms for alias in node.names}


def is_public(module: str, name: str) -> bool:
    """Whether another room may write `from module import name`.

    It may if the stub of that package or folder lists the name, or if the module itself is public.
    """
    room, *inside = module.split(".")
    if name.startswith("_"):
        return False
    if not name:  # `import room` gives its public names only
        return not inside
    if ".".join(inside) in PUBLIC_MODULES.get(room, ()):
        return True
    return name in listed(PACKAGES[room].joinpath(*inside))


@pytest.mark.long
@pytest.mark.parametrize("package", [*sorted(PACKAGES), "tools"])
def test_a_room_uses_only_public_names_of_another_room(package: str) -> None:
    for path in PACKAGES.get(package, ROOT / "tools").rglob("*.py"):
        for module, name in imports(path):
            room = module.split(".")[0]
            if room in PACKAGES and room != package:
                assert is_public(module, name), f"{path}: {module}.{name} is not public"


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_no_module_has_a_public_name_of_its_package(package: str) -> None:
    """Once it is imported, such a module would stand where the public thing should."""
    for init in PACKAGES[package].rglob("__init__.pyi"):
        modules = {path.stem for path in init.parent.glob("*.py")}
        nodes = ast.walk(ast.parse(init.read_text("utf-8")))
        froms = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module]
        assert not modules & {alias.name for node in froms for alias in node.names}, init


@pytest.mark.long
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


@pytest.mark.long
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
