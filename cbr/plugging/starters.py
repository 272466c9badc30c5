"""Starters: working plugins to start from, each with a test, for `cbr plugins new`.

In their texts FUNCTION and STEM stand for the name of the module, NAME for the same with hyphens,
FILE for the file. Plugins add starters through the hook `cbr_starters`.
"""

from __future__ import annotations

import keyword
from pathlib import Path

from cbr.case import RESERVED, CaseType, Feature
from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins

_SIMILARITY = '''\
"""A local similarity.

Try it on any number feature of a casebase:

    cbr query cars.db --case price=7000 --plugin FILE \\
        --similarity "price=NAME?reach=2000"
"""

import cbr


@cbr.similarity("NAME")
def FUNCTION(a, b, reach=10.0):
    """1 for equal values, falling evenly to 0 at a distance of `reach`."""
    return max(0.0, 1.0 - abs(a - b) / reach)
'''

_SIMILARITY_TEST = """\
from STEM import FUNCTION

from cbr.testing import check_similarity


def test_FUNCTION():
    check_similarity(FUNCTION)
    check_similarity(FUNCTION, reach=2.5)
    assert FUNCTION(3, 8) == 0.5
"""

_FEATURE = '''\
"""A feature of a case type, computed from a batch of situations.

Add it to a casebase with

    cbr rebuild FILE.db --features +FUNCTION --plugin FILE
"""

import cbr


@cbr.feature("FUNCTION", case_type="DOMAIN", meaning="ONE for each TWO", range=(LOW, HIGH))
def FUNCTION(situations):
    """One value for each situation; columns are arrays."""
    return situations["ONE"] / (abs(situations["TWO"]) + 1)
'''

_FEATURE_TEST = """\
from STEM import FUNCTION

from cbr.testing import check_feature


def test_FUNCTION():
    check_feature(FUNCTION, {"ONE": [LOW, HIGH], "TWO": [7.0, 2.0]})
"""

_POLICY = '''\
"""A retrieval policy and a reuse policy.

Try them with

    cbr query cars.db --case price=7000 --plugin FILE \\
        --policy "NAME?gap=0.05" --reuse NAME-solution
"""

import cbr


@cbr.retrieval_policy("NAME")
def FUNCTION(ranking, gap=0.02):
    """Everything nearly as similar as the best: the share of each ranked vector, 0 or 1."""
    return (ranking.similarity >= ranking.similarity.max() - gap).astype(float)


@cbr.reuse_policy("NAME-solution")
def FUNCTION_solution(retrieved, power=2.0):
    """A score for each solution: its cases, each counting by its similarity to a power."""
    return (retrieved.similarity**power) @ retrieved.counts
'''

_POLICY_TEST = """\
from STEM import FUNCTION, FUNCTION_solution

from cbr.testing import check_retrieval_policy, check_reuse_policy


def test_FUNCTION():
    check_retrieval_policy(FUNCTION)
    check_reuse_policy(FUNCTION_solution, power=3.0)
"""

_CASE_TYPE = '''\
"""A case type: the features and solutions of a new domain.

Cases come from a table with these columns:

    minutes,leaf,solution,outcome
    3,black,good,2.5

    cbr build teas.csv --type FUNCTION --plugin FILE
"""

import cbr


@cbr.hook
def cbr_case_types():
    return [
        cbr.CaseType(
            "FUNCTION",
            features=[
                cbr.Feature("minutes", "how long it brewed", range=(0, 10), weight=3),
                cbr.Feature("leaf", "what was brewed", values=("black", "green")),
            ],
            solutions=["weak", "good", "bitter"],
        )
    ]
'''

_CASE_TYPE_TEST = """\
from pathlib import Path

import STEM

from cbr.building import build
from cbr.plugging import Plugins


def test_FUNCTION(tmp_path):
    table = tmp_path / "teas.csv"
    table.write_text("minutes,leaf,solution,outcome\\n3,black,good,2.5\\n")
    plugins = Plugins().load([Path(STEM.__file__)])
    assert plugins.problems == []
    report = build([table], tmp_path / "teas.db", "FUNCTION", plugins=plugins)
    assert report.cases == {"FUNCTION": 1}
"""

_CASE_SOURCE = '''\
"""A case source: a reader that turns files into records for `cbr build`.

This one reads files of lines such as `price: 4500; age: 7; solution: buy`:

    cbr build cars.notes --type car --out cars.db --plugin FILE
"""

import json

import cbr


def can_read(path, head):
    return path.suffix == ".notes"


def read(path):
    """A record for each line; what is no record is skipped, with the reason."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        parts = [part.partition(":") for part in line.split(";")]
        if all(colon for _, colon, _ in parts):
            row = {name.strip(): value.strip() for name, _, value in parts}
            yield cbr.Record(json.dumps(row), number)
        else:
            yield cbr.Skipped(number, "a part of the line has no colon")


@cbr.hook
def cbr_case_sources():
    return [cbr.CaseSource("NAME", can_read, read, meaning="lines of `name: value; ...`")]
'''

_CASE_SOURCE_TEST = """\
import json

import STEM

import cbr


def test_FUNCTION(tmp_path):
    file = tmp_path / "cars.notes"
    file.write_text("price: 4500; age: 7; solution: buy\\nsold out\\n")
    assert STEM.can_read(file, b"")
    record, skipped = STEM.read(file)
    assert json.loads(record.body) == {"price": "4500", "age": "7", "solution": "buy"}
    assert isinstance(skipped, cbr.Skipped)
"""

_ARENA = '''\
"""An arena: a contest that scores feature weights for evolution.

Try it with

    cbr evolve cars.db --arena "NAME?last=0.3" --out evolved.json --plugin FILE
"""

import cbr


def open_arena(file, rows, together, last=0.3, block=20):
    """A contest for one casebase: how well its cases predict solutions in the last records."""
    import numpy as np

    from cbr.retrieval import retriever_of

    with cbr.Casebase.open(file) as base:
        [stage] = base.stages
        cases = base.read_cases(stage)
        edge = np.quantile(cases.record, 1 - last)
        asked = cases.take(cases.record > edge)
        known = retriever_of(base, stage, vectors=cases.take(cases.record <= edge).vectors())

    def play(weights, blocks, seed):
        """Scores [n, blocks]; block b of a seed is the same for every row of weights [n, d]."""
        scores = np.empty((len(weights), blocks))
        for b in range(blocks):
            some = np.random.default_rng([seed, b]).integers(0, len(asked), block)
            for n, row in enumerate(weights):
                taken = known.many(asked.values[some], np.tile(row, (block, 1))).taken
                right = taken[np.arange(block), asked.solution[some]]
                scores[n, b] = (right / taken.sum(axis=1)).mean()
        return scores

    return cbr.Contest(play, unit="share right", trial="case", trials=block)


@cbr.hook
def cbr_arenas():
    return [cbr.Arena("NAME", open=open_arena, meaning="prediction of the last records")]
'''

_ARENA_TEST = """\
import STEM

import cbr
from cbr.testing import check_arena


def test_FUNCTION(tmp_path):
    tea = cbr.CaseType("tea", [cbr.Feature("minutes", range=(0, 10))], ["weak", "good"])
    file = tmp_path / "tea.db"
    with cbr.Casebase.create(file, [tea]) as base, base.transaction():
        minutes, taste = [1, 2, 3, 4, 5, 6], ["weak", "weak", "weak", "good", "good", "good"]
        base.add("tea", {"minutes": minutes}, taste, [None] * 6, [None] * 6, range(6))
    check_arena(STEM.open_arena(file, 1, False, last=0.5, block=3), dimensions=1)
"""

#: The case type of a feature starter, by default.
_CAR = CaseType(
    "car",
    features=[Feature("price", range=(0, 20000)), Feature("age", range=(0, 20))],
    solutions=["fair"],
)

STARTERS = {
    "similarity": (_SIMILARITY, _SIMILARITY_TEST),
    "feature": (_FEATURE, _FEATURE_TEST),
    "policy": (_POLICY, _POLICY_TEST),
    "case-type": (_CASE_TYPE, _CASE_TYPE_TEST),
    "case-source": (_CASE_SOURCE, _CASE_SOURCE_TEST),
    "arena": (_ARENA, _ARENA_TEST),
}


def starters_of(plugins: Plugins) -> dict[str, tuple[str, str]]:
    """The starters by kind: those of the engine, then those of plugins."""
    found = dict(STARTERS)
    for _, more in plugins.call("cbr_starters"):
        found |= {kind: texts for kind, texts in more.items() if kind not in found}
    return found


def write_starter(
    kind: str, file: str | Path, plugins: Plugins, case_type: CaseType = _CAR
) -> list[Path]:
    """Write the starter of a kind and its test beside it; returns the two paths.

    A feature starter combines two number features of `case_type`, and is for its whole domain.
    """
    starters = starters_of(plugins)
    if kind not in starters:
        raise NoSuchName("kind of starter", kind, starters)
    path = Path(file)
    plain = path.stem.isidentifier() and path.stem == path.stem.lower()
    if path.suffix != ".py" or not plain or keyword.iskeyword(path.stem) or path.stem in RESERVED:
        raise BadValue(
            f"{path.name!r} must be a lower-case Python module name such as my_plugin.py"
        )
    test = path.with_name(f"test_{path.name}")
    for target in (path, test):
        if target.exists():
            raise BadValue(f"{target} exists already; choose another name")
    if not path.parent.is_dir():
        raise BadValue(f"{path.parent} is no folder; create it first")
    one, two = _two_numbers(case_type)
    low, high = one.range or (0, 1)
    for target, text in zip((path, test), starters[kind], strict=True):
        for mark, value in {
            "DOMAIN": case_type.domain,
            "ONE": one.name,
            "TWO": two.name,
            "LOW": f"{min(low, 0):g}",
            "HIGH": f"{high:g}",
            "FILE.db": "CASEBASE.db",
            "FUNCTION": path.stem,
            "NAME": path.stem.replace("_", "-"),
            "FILE": path.name,
            "STEM": path.stem,
        }.items():
            text = text.replace(mark, value)
        target.write_text(text, "utf-8")
    return [path, test]


def _two_numbers(case_type: CaseType) -> tuple[Feature, Feature]:
    """Two number features from which the starter computes another."""
    numbers = [feature for feature in case_type.features if feature.is_number]
    if not numbers:
        raise BadValue(f"case type {case_type.name!r} has no number to make a feature from")
    return numbers[0], numbers[1 % len(numbers)]
