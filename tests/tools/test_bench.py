"""The bench against cbrkit: another Python may have it, and its measures are ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benches.retrieval import timed_cbrkit
from cbr.case import Feature
from cbr.errors import CbrError
from cbr.plugging import Plugins
from cbr.spec import Spec
from cbrkit_peer import Job, _measure

JOB: Job = {
    "names": ["x"],
    "cases": [[1.0], [2.0]],
    "query": [1.0],
    "measures": [("exponential", {"k": 1.0})],
    "weights": [1.0],
    "limit": 1,
}


def _python(path: Path, script: str) -> str:
    """A program that can be called like a Python and runs `script` instead."""
    path.write_text(f"#!{sys.executable}\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_cbrkit_runs_in_the_python_that_is_named(monkeypatch, tmp_path: Path) -> None:
    answer = {"peer": "cbrkit 9.9, Python 3.99", "seconds": 0.5, "best": 1.0}
    script = (
        "import json, sys\n"
        f"assert json.load(sys.stdin)['names'] == {JOB['names']!r}\n"
        "assert sys.argv[1].endswith('cbrkit_peer.py')\n"
        f"print({json.dumps(answer)!r})"
    )
    monkeypatch.setenv("CBR_BENCH_PYTHON", _python(tmp_path / "python", script))
    assert timed_cbrkit(JOB) == answer


def test_a_python_without_cbrkit_is_named(monkeypatch, tmp_path: Path) -> None:
    named = _python(tmp_path / "python", "raise ModuleNotFoundError('no cbrkit')")
    monkeypatch.setenv("CBR_BENCH_PYTHON", named)
    with pytest.raises(CbrError, match=rf"cannot be timed by {named}: .*no cbrkit"):
        timed_cbrkit(JOB)


@pytest.mark.parametrize(
    "text", ["linear?span=4", "exponential?k=0.5", "ranged-exponential?k=2", "groups?cuts=3/5/8"]
)
def test_cbrkit_gets_the_same_measures(text: str, plugins: Plugins) -> None:
    spec = Spec.parse(text)
    bound = plugins.get("similarity", spec.name).bind(Feature("x", range=(0, 10)), spec)
    theirs = _measure(bound.measure.name, bound.parameters)
    for a in range(11):
        for b in range(11):
            assert theirs(a, b) == pytest.approx(bound.one(float(a), float(b)), abs=1e-12)
