"""FAISS indices: what they propose, what they refuse, and that a saved one is never misused."""

from __future__ import annotations

import dataclasses
import json
import shutil
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cbr.case import CaseType, Feature
from cbr.errors import BadValue, NoSuchName
from cbr.measure import Bound, Similarity
from cbr.plugging.plugins import default_plugins
from cbr.retrieval.index.base import Reach, Scan
from cbr.retrieval.index.faiss import FaissIndex, SearchEffort, _settled, build_faiss, library
from cbr.retrieval.index.kinds import Auto
from cbr.retrieval.index.quality import compare, recalls, targets_like
from cbr.retrieval.index.saved import path_of
from cbr.retrieval.index.tree import TreeIndex
from cbr.retrieval.retriever import Retriever, retrieve, retriever_of
from cbr.spec import Spec
from cbr.store.arrays import Vectors, group
from cbr.store.casebase import Casebase

LINEAR = Similarity("linear", lambda a, b, span=1.0: max(0.0, 1.0 - abs(a - b) / span))
STEEP = Similarity("steep", lambda a, b, k=4.0: 2.0 ** (-k * abs(a - b)))
#: Neither symmetric, nor falling with distance, nor from any distance at all.
ODD = Similarity("odd", lambda a, b: 1.0 if a == b else ((7 * a + 3 * b) % 5) / 6, symmetric=False)
NO_MORE = Similarity("no-more", lambda a, b: 1.0 if b <= a else max(0.0, 1 - (b - a)), False)
SAME = Similarity("same", lambda a, b: 1.0 if a == b else 0.0)
WORDS = Similarity("words", lambda a, b: 1.0 if a == b else 0.6 if a[0] == b[0] else 0.0)

FEW = [
    Feature("a", range=(0, 8)),
    Feature("b", range=(0, 8)),
    Feature("c", values=("red", "rose", "blue", "black")),
    Feature("d", range=(0, 1)),
]
MANY = [*FEW, Feature("x", range=(0, 1), weight=4), Feature("y", range=(0, 1), weight=3)]
MEASURES = {"a": LINEAR, "b": ODD, "c": WORDS, "d": NO_MORE, "x": LINEAR, "y": STEEP}


def bound(features: list[Feature], measures: dict[str, Similarity] = MEASURES) -> list[Bound]:
    spans = {"linear": lambda f: {"span": f.range[1] - f.range[0]}}
    return [
        (m := measures[f.name]).bind(f, Spec(m.name, spans.get(m.name, lambda _: {})(f)))
        for f in features
    ]


def made(features: list[Feature], count: int, seed: int = 0) -> Vectors:
    """Cases in which features go together, as in life."""
    rng = np.random.default_rng(seed)
    kind = rng.random(count)
    columns = {
        "a": rng.integers(0, 9, count),
        "b": np.round(8 * kind),
        "c": rng.integers(0, 4, count),
        "d": rng.integers(0, 11, count) / 10,
        "x": np.clip(kind + rng.normal(0, 0.2, count), 0, 1),
        "y": rng.beta(2, 5, count),
    }
    values = np.column_stack([columns[f.name] for f in features]).astype(np.float32)
    case_type = CaseType("made", features, ["yes", "no"])
    solution = rng.integers(0, 2, count)
    return group(case_type, "", values, solution, np.full(count, np.nan), np.arange(count))


def policy(spec: str):
    parsed = Spec.parse(spec)
    return default_plugins().get("retrieval policy", parsed.name).bind(parsed)


POLICIES = ["threshold", "threshold?above=0.9&cap=40", "top?k=25", "radius?above=0.95"]


@pytest.mark.parametrize("spec", POLICIES)
def test_flat_proposes_all_that_belongs_for_any_weights_and_measures(spec: str) -> None:
    vectors, measures = made(FEW, 6000), bound(FEW)
    rng = np.random.default_rng(3)
    index = FaissIndex(
        vectors, measures, build_faiss("faiss-flat", vectors, measures, {}), SearchEffort()
    )
    targets = targets_like(vectors, 40, rng)
    weights = rng.choice([0.0, 1.0, 5.0, 80.0], (40, 4))
    weights[:, 0] += 1
    scan = Retriever(vectors, measures, weights[0], policy(spec), Scan(vectors))
    truth = scan.many(targets, weights)
    proposed = index.candidates(targets, weights, scan.policy.looks)
    for place, numbers in enumerate(proposed):
        assert set(truth.number[truth.start[place] : truth.start[place + 1]]) <= set(numbers)
    assert any(len(numbers) < len(vectors) for numbers in proposed)
    found = dataclasses.replace(scan, index=index).many(targets, weights)
    assert found.number.tolist() == truth.number.tolist()
    assert found.share == pytest.approx(truth.share)
    assert found.similarity == pytest.approx(truth.similarity, abs=1e-12)


@pytest.fixture(scope="module", params=["faiss-flat", "faiss-hnsw", "faiss-ivf"])
def built(request: pytest.FixtureRequest):
    """Cases, their measures, and an index of one kind: what is retrieved does not change it."""
    measures, vectors = bound(MANY, MEASURES | {"b": LINEAR}), made(MANY, 6000)
    return vectors, measures, build_faiss(request.param, vectors, measures, {})


@pytest.mark.long
@pytest.mark.parametrize("spec", POLICIES)
def test_nearly_all_is_found(built, spec: str) -> None:
    vectors, measures, parts = built
    weights = np.array([f.weight for f in MANY])
    scan = Retriever(vectors, measures, weights, policy(spec), Scan(vectors))
    index = FaissIndex(vectors, measures, parts, SearchEffort())
    targets = targets_like(vectors, 60, np.random.default_rng(4))
    truth, found = scan.many(targets), dataclasses.replace(scan, index=index).many(targets)
    assert recalls(truth, found).mean() >= 0.95


def in_groups(count: int, groups: int) -> tuple[Vectors, list[Bound], np.ndarray]:
    """Cases in groups of very different size that have next to nothing in common."""
    features = [Feature(name, range=(0, 30), weight=50) for name in "ab"]
    features += [Feature(name, range=(0, 1)) for name in "xy"]
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 31, (groups, 2))
    size = rng.zipf(1.5, groups).clip(1, 2000)
    which = rng.choice(groups, count, p=size / size.sum())
    values = np.column_stack([kind[which], rng.random((count, 2))]).astype(np.float32)
    case_type = CaseType("made", features, ["yes"])
    solution, outcome = np.zeros(count, np.int64), np.full(count, np.nan)
    vectors = group(case_type, "", values, solution, outcome, np.arange(count))
    measures = bound(features, {"a": SAME, "b": SAME, "x": LINEAR, "y": LINEAR})
    return vectors, measures, np.array([feature.weight for feature in features])


@pytest.mark.long
def test_a_graph_of_groups_far_apart_is_searched_from_many_places() -> None:
    vectors, measures, weights = in_groups(12_000, 60)
    built = build_faiss("faiss-hnsw", vectors, measures, {"links": 8}, weights)
    targets = vectors.values[np.random.default_rng(1).choice(len(vectors), 200)]
    scan = Retriever(vectors, measures, weights, policy("top?k=10"), Scan(vectors))
    truth = scan.many(targets)

    class FromTheTop:
        def candidates(self, targets, weights, reach):
            how = library().SearchParametersHNSW(efSearch=70)
            points = built.embedding.targets(measures, targets, weights)
            return [row[row >= 0] for row in built.inner.search(points, 70, params=how)[1]]

    index = FaissIndex(vectors, measures, built, SearchEffort())
    top, found = (
        recalls(truth, dataclasses.replace(scan, index=way).many(targets))
        for way in (FromTheTop(), index)
    )
    assert top.min() == 0
    assert found.min() > 0.5
    assert found.mean() >= 0.99


@pytest.mark.long
def test_codes_of_few_bits_are_kept_and_find_as_much(tmp_path: Path) -> None:
    from cbr.retrieval.index.saved import load, save

    vectors, measures = made(MANY, 6000), bound(MANY, MEASURES | {"b": LINEAR})
    weights = np.array([f.weight for f in MANY])
    scan = Retriever(vectors, measures, weights, policy("threshold"), Scan(vectors))
    targets = targets_like(vectors, 60, np.random.default_rng(4))
    truth, sizes, shares = scan.many(targets), [], []
    for bits in (8, 16, 32):
        path = tmp_path / str(bits)
        built = build_faiss("faiss-ivf", vectors, measures, {"bits": bits}, weights)
        save(built, vectors, measures, path)
        loaded = load(path, "faiss-ivf", vectors, measures, {"bits": bits})
        before, after = (
            dataclasses.replace(scan, index=FaissIndex(vectors, measures, b, SearchEffort())).many(
                targets
            )
            for b in (built, loaded)
        )
        assert after.number.tolist() == before.number.tolist()
        assert after.similarity.tolist() == before.similarity.tolist()
        sizes.append(path.stat().st_size)
        shares.append(recalls(truth, after).mean())
    assert sizes == sorted(sizes)
    assert sizes[0] < 0.5 * sizes[2]
    assert shares[0] == pytest.approx(shares[2], abs=0.002)


def test_a_larger_casebase_has_finer_points_and_a_bound_on_clusters() -> None:
    settled = [_settled("faiss-ivf", {}, count) for count in (100_000, 1_000_000, 10_000_000)]
    assert [chosen["dimensions"] for chosen in settled] == [48, 64, 96]
    assert [chosen["lists"] for chosen in settled] == [512, 2048, 4096]
    assert _settled("faiss-ivf", {"lists": 9000, "dimensions": 8}, 10**7)["lists"] == 9000
    assert {chosen["bits"] for chosen in settled} == {8}


def test_many_targets_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, measures = made(FEW, 3000), bound(FEW)
    index = FaissIndex(
        vectors, measures, build_faiss("faiss-flat", vectors, measures, {}), SearchEffort()
    )
    targets, weights = vectors.values[:30], np.ones((30, 4))
    at_once = index.nearest(targets, weights, Reach(0.9, 20, 10))
    monkeypatch.setattr("cbr.retrieval.index.faiss._AT_A_TIME", 7)
    in_parts = index.nearest(targets, weights, Reach(0.9, 20, 10))
    assert [part.tolist() for part in at_once] == [part.tolist() for part in in_parts]


def test_a_radius_may_hold_nothing_and_a_reach_everything() -> None:
    vectors, measures = made(MANY, 3000), bound(MANY)
    weights = np.ones(len(MANY))
    index = FaissIndex(
        vectors, measures, build_faiss("faiss-flat", vectors, measures, {}), SearchEffort()
    )
    targets, each = vectors.values[:3] + np.float32(0.3), np.tile(weights, (3, 1))
    targets[:, 2] = 1
    assert index.nearest(targets, each, Reach(0.9999, fallback=0)).number.tolist() == []
    assert [len(numbers) for numbers in index.candidates(targets, each, Reach())] == [3000] * 3


def test_recall_counts_cases_and_takes_any_that_ties() -> None:
    vectors = group(
        CaseType("made", [Feature("x", range=(0, 10))], ["yes"]),
        *("", np.array([[1], [3], [3], [5], [9]], np.float32), np.zeros(5, int)),
        *(np.full(5, np.nan), np.arange(5)),
    )
    measures = [LINEAR.bind(vectors.case_type.indexed[0], Spec("linear", {"span": 10.0}))]
    scan = Retriever(vectors, measures, np.ones(1), policy("top?k=3"), Scan(vectors))

    class Some:
        def __init__(self, *numbers: int) -> None:
            self.numbers = np.array(numbers)

        def candidates(self, targets, weights, reach):
            return [self.numbers] * len(targets)

    truth = scan.many(np.array([[3.0]]))
    for numbers, share in [((1, 0), 1.0), ((1, 2), 1.0), ((0, 2, 3), 1 / 3), ((1, 3), 2 / 3)]:
        found = dataclasses.replace(scan, index=Some(*numbers)).many(np.array([[3.0]]))
        assert recalls(truth, found).tolist() == pytest.approx([share])


@pytest.mark.parametrize("kind", ["faiss-hnsw", "faiss-ivf"])
def test_other_weights_are_refused(cars, kind: str) -> None:
    case = dict(cars.cases("car", [1]).__next__().values)
    case = {name: case[name] for name in case if cars.case_type("car").feature(name).indexed}
    with pytest.warns(UserWarning, match=f"{kind} is built in memory only; `cbr index .* saves it"):
        mine = retriever_of(cars, "car", index=kind)
    assert mine(case).cases >= 1
    for asked in (case | {"age": 3}, {"age": 3}):
        other = dataclasses.replace(mine, weights=mine.weights * [1, 2, 1, 1, 1, 1])
        given = other if len(asked) > 1 else mine
        with pytest.raises(BadValue, match=f"the {kind} index of 'car' is built for the weights"):
            given(asked)
    # Only proportions matter.
    assert dataclasses.replace(mine, weights=mine.weights * 7)(case).cases >= 1


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("faiss-ivf?bits=7", BadValue, "bits of 'faiss-ivf' is 7; it must be 4, 8, 16 or 32"),
        ("faiss-hnsw?links=1", BadValue, "links of 'faiss-hnsw' is 1"),
        ("faiss-hnsw?links=-4", BadValue, "links of 'faiss-hnsw' is -4"),
        ("faiss-flat?fetch=-1", BadValue, "must be 0 or more"),
        ("faiss-flat?lists=4", NoSuchName, "parameter of 'faiss-flat'"),
    ],
)
@pytest.mark.filterwarnings("ignore:faiss")
def test_parameters_that_make_no_sense_are_refused(cars, spec: str, error, says: str) -> None:
    with pytest.raises(error, match=says):
        retriever_of(cars, "car", index=spec)


def grown(path: Path, count: int = 3000) -> Path:
    """A casebase with so many cases that an index does not simply take all."""
    thing = CaseType("thing", [Feature("x", range=(0, 1)), Feature("y", range=(0, 1))], ["a", "b"])
    rng = np.random.default_rng(5)
    with Casebase.create(path, [thing]) as base, base.transaction():
        columns = {name: rng.random(count).tolist() for name in "xy"}
        base.add("thing", columns, ["a"] * count, [None] * count, [None] * count, range(count))
    return path


@pytest.fixture(scope="module")
def _grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grown(tmp_path_factory.mktemp("grown") / "g.db")


@pytest.fixture
def things(_grown: Path, tmp_path: Path) -> Path:
    path = tmp_path / "g.db"
    path.write_bytes(_grown.read_bytes())
    return path


@pytest.fixture(scope="module")
def _indexed(_grown: Path) -> Callable[[str], Path]:
    """Indices of these cases, each built once."""
    from cbr.cli import main

    @cache
    def built(kind: str) -> Path:
        with pytest.raises(SystemExit) as stop:
            main(["index", str(_grown), "--kind", kind])
        assert not stop.value.code
        return path_of(_grown, "thing", kind)

    return built


@pytest.fixture
def indexed(_indexed: Callable[[str], Path], things: Path) -> Callable[[str], Path]:
    """Lay an index of a kind beside the casebase `things`, as `cbr index` would, and name it."""

    def copied(kind: str) -> Path:
        return Path(shutil.copy(_indexed(kind), path_of(things, "thing", kind)))

    return copied


TARGET = {"x": 0.4, "y": 0.6}


def answer(path: Path, index: str) -> tuple[list[int], list[str]]:
    """Vectors retrieved, and what was said about the index."""
    with Casebase.open(path) as base, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        got = retrieve(base, "thing", TARGET, index=index, policy="top?k=10")
    return sorted(got.number.tolist()), [str(w.message) for w in said]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["flat", "hnsw", "ivf"])
def test_a_saved_index_is_used_while_it_fits(cbr, things: Path, kind: str) -> None:
    truth, _ = answer(things, "exact")
    made = cbr("index", things, "--kind", kind, "--json").json
    [saved] = made["indices"]
    file = path_of(things, "thing", kind)
    assert saved["file"] == str(file)
    assert saved["bytes"] == file.stat().st_size
    assert [p.name for p in things.parent.glob("*.part")] == []
    assert answer(things, f"faiss-{kind}") == (truth, [])
    [state] = cbr("info", things, "--json").json["indices"]
    assert (state["kind"], state["state"]) == (f"faiss-{kind}", "fresh")
    assert cbr("check", things).code == 0

    with Casebase.open(things, write=True) as base, base.transaction():
        base.add("thing", {"x": [0.4], "y": [0.6]}, ["b"], [None], [None], [0])
    truth, _ = answer(things, "exact")
    found, [said] = answer(things, f"faiss-{kind}")
    assert found == truth
    assert "is stale (the cases have changed since) and not used; `cbr index" in said
    assert cbr("info", things, "--json").json["indices"][0]["state"] == "stale"
    assert cbr("check", things).code == 0  # the casebase is sound, and the index out of use
    cbr("index", things, "--kind", f"faiss-{kind}")
    assert answer(things, f"faiss-{kind}") == (truth, [])


@pytest.mark.long
def test_a_damaged_index_is_not_used(cbr, things: Path, indexed) -> None:
    truth, _ = answer(things, "exact")
    file = indexed("flat")
    whole = file.read_bytes()
    rng = np.random.default_rng(6)
    broken = [whole[:size] for size in (0, 10, len(whole) // 2, len(whole) - 1)]
    broken += [b"something else"]
    for at in rng.integers(0, len(whole), 25).tolist():
        broken.append(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    for data in broken:
        file.write_bytes(data)
        found, said = answer(things, "faiss-flat")
        assert found == truth
        # A few bytes of the archive's own tables mean nothing: then every part is whole.
        assert all("not used" in sentence for sentence in said)
    file.write_bytes(whole[: len(whole) // 2])
    assert cbr("info", things, "--json").json["indices"][0]["state"] == "damaged"
    assert "damaged" in cbr("check", things).out
    said = cbr("query", things, "--case", "x=0.4,y=0.6", "--index", "faiss-flat", "--json")
    assert said.code == 0
    assert "is damaged" in said.err


def test_a_flipped_byte_of_the_index_is_seen(things: Path, indexed) -> None:
    file = indexed("flat")
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    _, [said] = answer(things, "faiss-flat")
    assert "is damaged" in said


@pytest.mark.long
def test_an_index_for_other_measures_or_parameters_is_not_used(cbr, things: Path) -> None:
    cbr("index", things, "--kind", "hnsw?links=8")
    assert answer(things, "faiss-hnsw")[1] == []
    assert answer(things, "faiss-hnsw?links=8&fetch=300")[1] == []
    assert "built with links=8" in answer(things, "faiss-hnsw?links=16")[1][0]
    with (
        Casebase.open(things) as base,
        pytest.warns(UserWarning, match="compares 'x' by linear.span=1"),
    ):
        retriever_of(base, "thing", index="faiss-hnsw", similarity={"x": "exponential"})


def test_an_index_for_other_weights(cbr, things: Path) -> None:
    cbr("index", things, "--kind", "ivf", "--weights", "x=3")
    query = ["query", things, "--case", "x=0.4,y=0.6", "--index", "faiss-ivf", "--json"]
    assert cbr(*query, "--weights", "x=3").code == 0
    refused = cbr(*query)
    assert refused.code == 2
    assert "is built for the weights x=3,y=1" in refused.err
    assert cbr("info", things, "--json").json["indices"][0]["weights"] == {"x": 3, "y": 1}


def test_an_index_for_the_features_own_weights_is_stale_when_these_change(things: Path) -> None:
    from cbr.retrieval.index.saved import save, states

    plugins = default_plugins()
    with Casebase.open(things) as base:
        mine = retriever_of(base, "thing")
        file = path_of(things, "thing", "ivf")
        built = build_faiss("faiss-ivf", mine.vectors, mine.measures, {"dimensions": 8})
        save(built, mine.vectors, mine.measures, file)
        for weight, state in [(1.0, "fresh"), (2.0, "stale")]:
            case_type = base.case_type("thing")
            first = dataclasses.replace(case_type.features[0], weight=weight)
            other = dataclasses.replace(case_type, features=[first, *case_type.features[1:]])
            [found] = states(things, [other], {"thing": base.digest("thing")}, plugins)
            assert found.state == state


def uniform(path: Path, features: int) -> Path:
    """Cases that lie evenly: the more features, the sparser. Values are rounded, since an index
    compares each value of a feature with each other."""
    names = [f"f{place}" for place in range(features)]
    thing = CaseType("thing", [Feature(name, range=(0, 1)) for name in names], ["a"])
    rng, count = np.random.default_rng(7), 26_000
    with Casebase.create(path, [thing]) as base, base.transaction():
        columns = {name: rng.random(count).round(2).tolist() for name in names}
        base.add("thing", columns, ["a"] * count, [None] * count, [None] * count, range(count))
    return path


NEAR = Reach(2.0, fallback=10)


@pytest.mark.long
@pytest.mark.parametrize(("features", "sparse"), [(6, True), (4, False)])
def test_auto_takes_a_saved_index_where_cases_are_sparse(
    cbr, tmp_path: Path, features: int, sparse: bool
) -> None:
    path = uniform(tmp_path / "u.db", features)
    with Casebase.open(path) as base:
        assert isinstance(retriever_of(base, "thing").index, TreeIndex)
    cbr("index", path, "--kind", "ivf")
    own = np.ones((1, features))
    with Casebase.open(path) as base:
        auto = retriever_of(base, "thing").index
        assert isinstance(auto, Auto)
        assert auto.sparse == sparse
        if not sparse:
            assert auto.chosen(own, NEAR) is auto.tree
            return
        with pytest.warns(UserWarning, match="auto uses faiss-ivf, which may miss one"):
            assert isinstance(auto.chosen(own, NEAR), FaissIndex)
        assert isinstance(auto.chosen(own, Reach(0.97, 100, 20)), FaissIndex)
        # Other weights, or more cases than a graph or clusters find well: exact.
        assert auto.chosen(own * np.arange(1, features + 1), NEAR) is auto.tree
        assert auto.chosen(own, Reach(2.0, fallback=1000)) is auto.tree
        assert auto.chosen(own, Reach(0.9, fallback=0)) is auto.tree
    asked = ["query", path, "--case", ",".join(f"f{i}=0.5" for i in range(features)), "--json"]
    said = cbr(*asked)
    assert said.code == 0
    assert "--index exact misses none" in said.err
    with Casebase.open(path, write=True) as base, base.transaction():
        columns = {f"f{place}": [0.5] for place in range(features)}
        base.add("thing", columns, ["a"], [None], [None], [0])
    with Casebase.open(path) as base:
        auto = retriever_of(base, "thing").index
        assert auto.chosen(own, NEAR) is auto.tree  # stale


def test_the_command_says_what_it_needs(cbr, things: Path) -> None:
    assert "give --kind flat, hnsw or ivf" in cbr("index", things).err
    assert "give --kind" in cbr("index", things, "--kind", "ivf", "--measure").err
    assert "did you mean 'hnsw'" in cbr("index", things, "--kind", "hnws").err
    assert "give both" in cbr("index", things, "--kind", "ivf", "--plot", "x.png").err
    assert "a picture is called" in cbr("index", things, "--measure", "--plot", "x.nonsense").err


@pytest.mark.long
def test_measuring(cbr, things: Path, tmp_path: Path) -> None:
    words = ["index", things, "--measure", "--queries", "40", "--seed", "2"]
    out = cbr(*words, "--plot", tmp_path / "p.png", "--json")
    rows = out.json["rows"]
    assert {row["kind"] for row in rows} == {"exact", "faiss-flat", "faiss-hnsw", "faiss-ivf"}
    for row in rows:
        assert row["recall"] >= 0.95 or not row["usual"]
        assert row["microseconds"] > 0
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    assert not list(things.parent.glob("*.faiss"))
    with Casebase.open(things) as base:
        again = compare(base, "thing", queries=40, seed=2)
    assert [row.recall for row in again] == [row["recall"] for row in rows]


@pytest.mark.long
def test_the_stamp_can_be_read(indexed) -> None:
    with zipfile.ZipFile(indexed("hnsw")) as archive:
        stamp = json.loads(archive.read("stamp.json"))
    assert stamp["format"] == "cbr-faiss-index"
    assert stamp["similarities"] == ["linear?span=1.0", "linear?span=1.0"]
    assert stamp["weights"] == [1.0, 1.0]
    assert stamp["parameters"] == {"dimensions": 48, "links": 32, "effort": 80}


@pytest.mark.long
def test_a_file_of_another_kind_is_not_used(cbr, things: Path, indexed) -> None:
    indexed("ivf")
    [state] = cbr("info", things, "--json").json["indices"]
    other = Path(state["file"].replace(".ivf.", ".hnsw."))
    other.write_bytes(Path(state["file"]).read_bytes())
    _, [said] = answer(things, "faiss-hnsw")
    assert "it is of kind faiss-ivf" in said


@pytest.mark.long
@pytest.mark.parametrize("harm", [("weights", None), ("similarities", []), ("features", "abc")])
def test_an_edited_stamp_is_damage(cbr, things: Path, indexed, harm: tuple[str, object]) -> None:
    indexed("ivf")
    [state] = cbr("info", things, "--json").json["indices"]
    path = Path(state["file"])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
        comment = archive.comment
    stamp = json.loads(parts["stamp.json"]) | dict([harm])
    parts["stamp.json"] = json.dumps(stamp).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        archive.comment = comment
    assert cbr("info", things, "--json").json["indices"][0]["state"] == "damaged"
    assert cbr("check", things).code == 1
    _, [said] = answer(things, "faiss-ivf")
    assert "is damaged" in said


def test_what_no_index_can_be_built_with(cbr, things: Path) -> None:
    answer = cbr("index", things, "--kind", "hnsw?links=1000000")
    assert (answer.code, "it must be 2 to 512" in answer.err) == (2, True)
