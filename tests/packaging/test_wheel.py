"""The built wheel in a clean environment, with an outside plugin installed as a stranger would."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN, ROOT
from packaging.requirements import Requirement


def run(*words: object, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=600, cwd=cwd
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because building leaves files behind that the next wheel would hold."""
    copy = tmp_path_factory.mktemp("source") / "tree"
    hidden = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "*.db*")
    shutil.copytree(ROOT, copy, ignore=hidden)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", copy / "dist", copy)
    return next((copy / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel, what it declares that it needs, and
    the example plugin."""
    home = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(home, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    # What pip would unpack for half a minute is in the environment of the tests.
    for name in _needed(_declared(wheel), set()):
        for file in {
            file.parts[0] for file in distribution(name).files or () if ".." not in file.parts
        }:
            if file != "__pycache__":
                (packages / file).symlink_to(distribution(name).locate_file(file))
    pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet"]
    run(*pip, "--no-deps", "--no-compile", wheel, ROOT / "tests" / "plugin_example")
    return home / "bin"


def _declared(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist", [])


def _needed(requirements: Iterable[str], found: set[str]) -> set[str]:
    """Names of the distributions that these requirements lead to, without extras."""
    for one in map(Requirement, requirements):
        if one.name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(one.name)
            _needed(distribution(one.name).requires or (), found)
    return found


@pytest.mark.long
def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert "cbr_holdem/cards/evaluator.npz" in names
    assert "cbr_logs/games/holdem.limit.9p.game" in names
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "cbr",
        "cbr_arena",
        "cbr_bots",
        "cbr_casper",
        "cbr_holdem",
        "cbr_kmodels",
        "cbr_logs",
        "cbr_mcts",
        "cbr_opponents",
        "cbr_play",
        "cbr_similarity",
    }


@pytest.mark.long
def test_it_works_from_anywhere(clean: Path, tmp_path: Path) -> None:
    out = tmp_path / "cars.db"
    run(clean / "cbr", "build", CARS_CSV, "--type", "car", "--out", out, "--plugin", CARS_PLUGIN)
    words = ["--case", "price=7000,age=6", "--similarity", "age=half-life?distance=3", "--json"]
    answer = json.loads(run(clean / "cbr", "query", out, *words, cwd=tmp_path))
    assert answer["similarities"]["age"] == "half-life?distance=3"
    assert "sound" in run(clean / "cbr", "check", out)


@pytest.mark.long
def test_the_outside_plugin_is_listed(clean: Path, tmp_path: Path) -> None:
    found = json.loads(run(clean / "cbr", "plugins", "--json", cwd=tmp_path))["plugins"]
    [mine] = [plugin for plugin in found if plugin["name"] == "example"]
    assert (mine["distribution"], mine["version"]) == ("cbr-example-plugin", "1.2.3")
    assert mine["registered"] == {"similarity": ["half-life"]}
    assert {plugin["status"] for plugin in found} == {"ok"}


@pytest.mark.long
def test_the_outside_plugin_passes_its_own_test(clean: Path) -> None:
    script = "import runpy; runpy.run_path('test_cbr_example.py')['test_half_life']()"
    run(clean / "python", "-c", script, cwd=ROOT / "tests" / "plugin_example")
