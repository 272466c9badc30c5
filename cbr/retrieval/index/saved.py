"""Saved indices: files beside the casebase, used only while they match its cases.

A file is a zip archive of a stamp in JSON, the embedding's arrays and the FAISS index. The stamp
identifies its origin: the digest of the stage and of its vectors (whose numbers follow from their
lexicographic order), the features and, if the index depends on them, measures and weights. An index
that is stale or damaged is built again in memory, with a warning.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cbr.case import CaseType
from cbr.errors import CbrError
from cbr.files.atomic import whole_file
from cbr.files.json_text import read_json
from cbr.files.stamped import (
    Damaged,
    checksum,
    damage_found,
    read_arrays,
    read_member,
    verify_unpacked,
)
from cbr.measure import Bound
from cbr.plugging.guard import one_line
from cbr.plugging.plugins import Plugins
from cbr.retrieval.index.embedding import Anchors, Embedding
from cbr.retrieval.index.faiss import (
    USUAL,
    Built,
    FaissIndex,
    SearchEffort,
    build_faiss,
    library,
    one_thread,
)
from cbr.spec import Spec
from cbr.store.arrays import Vectors
from cbr.typing import Floats

FORMAT, VERSION = "cbr-faiss-index", 2
_STAMP, _EMBEDDING, _INDEX = "stamp.json", "embedding.npz", "index.faiss"

#: Entries that a stamp must have.
_NEEDED = {
    *("kind", "parameters", "stage", "digest", "vectors_digest", "features", "similarities"),
    *("weights", "own_weights", "checksums"),
}


class _Stale(Exception):
    """The index does not match the casebase; the message says how."""


class State(NamedTuple):
    """A saved index of a casebase: `state` is fresh, stale or damaged; `reason` says why."""

    stage: str
    kind: str
    state: str
    reason: str
    file: str
    size: int
    weights: Mapping[str, float] | None


def path_of(casebase: Path, stage: str, kind: str) -> Path:
    return casebase.with_name(f"{casebase.name}.{stage}.{kind.removeprefix('faiss-')}.faiss")


def ready(
    kind: str,
    vectors: Vectors,
    measures: Sequence[Bound],
    given: Mapping[str, int],
    search: SearchEffort,
) -> FaissIndex:
    """The saved index if it matches, else one built now."""
    built = _saved(kind, vectors, measures, given)
    if built is None:
        built = build_faiss(kind, vectors, measures, given)
    return FaissIndex(vectors, measures, built, search)


def _saved(
    kind: str, vectors: Vectors, measures: Sequence[Bound], given: Mapping[str, int]
) -> Built | None:
    if vectors.beside is None:
        return None
    stage = vectors.case_type.stage
    path = path_of(vectors.beside, stage, kind)
    spec = Spec(kind, {name: value for name, value in given.items() if value})
    remedy = f"`cbr index {vectors.beside} --stage {stage} --kind '{spec}'`"
    if not path.exists():
        warnings.warn(f"{kind} is built in memory only; {remedy} saves it", stacklevel=3)
        return None
    try:
        return load(path, kind, vectors, measures, given)
    except (_Stale, Damaged) as error:
        state = "stale" if isinstance(error, _Stale) else "damaged"
        warnings.warn(
            f"{path} is {state} ({error}) and not used; {remedy} builds it again", stacklevel=3
        )
        return None


def fitting(kind: str, vectors: Vectors, measures: Sequence[Bound]) -> Built | None:
    """The saved index of this kind, if there is one that matches."""
    if vectors.beside is None:
        return None
    path = path_of(vectors.beside, vectors.case_type.stage, kind)
    try:
        return load(path, kind, vectors, measures, {}) if path.exists() else None
    except (_Stale, Damaged):
        return None


def save(built: Built, vectors: Vectors, measures: Sequence[Bound], path: Path) -> None:
    """Write an index atomically, in place of an older one."""
    faiss = library()
    parts = {
        _EMBEDDING: _packed(built.embedding),
        _INDEX: faiss.serialize_index(built.inner).tobytes(),
    }
    stamp = {
        "format": FORMAT,
        "version": VERSION,
        "kind": built.kind,
        "parameters": dict(built.parameters),
        "faiss": faiss.__version__,
        "stage": vectors.case_type.stage,
        "digest": vectors.digest,
        "vectors": len(vectors),
        "vectors_digest": _vectors_digest(vectors),
        "features": _features(vectors.case_type),
        "similarities": None if built.weights is None else [describe(b) for b in measures],
        "weights": None if built.weights is None else built.weights.tolist(),
        "own_weights": _own(built.weights, vectors.case_type),
        "checksums": {name: checksum(data) for name, data in parts.items()},
    }
    with whole_file(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        plain = json.dumps(stamp, indent=1, ensure_ascii=False).encode()
        # A `ZipInfo` has no time of its own, so the same index is the same file.
        archive.writestr(zipfile.ZipInfo(_STAMP), plain)
        archive.comment = checksum(plain).encode()
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data)


def load(
    path: Path, kind: str, vectors: Vectors, measures: Sequence[Bound], given: Mapping[str, int]
) -> Built:
    """A saved index, checked to match these vectors, measures and parameters."""
    faiss = library()
    stamp, parts = _read(path, kind)
    _verify_definition(stamp, vectors.case_type, vectors.digest, dict(enumerate(measures)))
    if stamp["vectors_digest"] != _vectors_digest(vectors):
        raise _Stale("it is of other vectors")
    for name, value in given.items():
        if value and value != stamp["parameters"].get(name):
            raise _Stale(f"it is built with {name}={stamp['parameters'].get(name)}")
    try:
        embedding = _unpacked(parts[_EMBEDDING])
        with one_thread():
            inner = faiss.deserialize_index(np.frombuffer(parts[_INDEX], np.uint8))
    except Exception as error:  # FAISS and numpy raise many kinds
        raise Damaged(one_line(error)) from None
    if inner.ntotal != len(vectors) or inner.d != embedding.dimensions:
        raise Damaged(f"it holds {inner.ntotal} points of {inner.d} dimensions")
    weights = None if stamp["weights"] is None else np.array(stamp["weights"], np.float64)
    return Built(stamp["kind"], stamp["parameters"], weights, embedding, inner)


def states(
    casebase: Path, case_types: Sequence[CaseType], digests: Mapping[str, str], plugins: Plugins
) -> Iterator[State]:
    """The indices saved beside a casebase, and whether they can be used."""
    for case_type in case_types:
        for kind in USUAL:
            path = path_of(casebase, case_type.stage, kind)
            if not path.exists():
                continue
            weights, state, reason = None, "fresh", ""
            try:
                stamp, _ = _read(path, kind)
                if stamp["weights"] is not None:
                    names = [feature["name"] for feature in stamp["features"]]
                    weights = dict(zip(names, stamp["weights"], strict=True))
                measures = _measures(case_type, plugins)
                _verify_definition(stamp, case_type, digests[case_type.stage], measures)
            except _Stale as error:
                state, reason = "stale", str(error)
            except Damaged as error:
                state, reason = "damaged", str(error)
            size = path.stat().st_size
            yield State(case_type.stage, kind, state, reason, str(path), size, weights)


def describe(bound: Bound) -> str:
    """A measure with all its parameters, including those from the feature's range."""
    return str(Spec(bound.measure.name, bound.parameters))


def _measures(case_type: CaseType, plugins: Plugins) -> dict[int, Bound]:
    """The case type's own measures by position, without those that no loaded plugin has."""
    found = {}
    for place, feature in enumerate(case_type.indexed):
        spec = Spec.parse(feature.similarity)
        with suppress(CbrError):
            found[place] = plugins.get("similarity", spec.name).bind(feature, spec)
    return found


def _verify_definition(
    stamp: Mapping[str, Any], case_type: CaseType, digest: str, measures: Mapping[int, Bound]
) -> None:
    """Raise `_Stale` if an index does not match the stage as it is now."""
    if stamp["stage"] != case_type.stage or stamp["features"] != _features(case_type):
        raise _Stale("it is of other features")
    if stamp["digest"] != digest:
        raise _Stale("the cases have changed since")
    if stamp["own_weights"] and not _own(np.array(stamp["weights"]), case_type):
        raise _Stale("the features have other weights now")
    if stamp["similarities"] is not None:
        for place, bound in measures.items():
            if stamp["similarities"][place] != describe(bound):
                raise _Stale(
                    f"it compares {bound.feature.name!r} by {stamp['similarities'][place]}"
                )


def _read(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The stamp and the other parts of a file of that kind, with checksums verified."""
    with damage_found(OSError), zipfile.ZipFile(path) as archive:
        verify_unpacked(archive, path.stat().st_size)  # it is written without compression
        stamp = read_json(read_member(archive, _STAMP))
        if stamp["format"] != FORMAT or stamp["version"] != VERSION:
            raise _Stale(f"its format is {stamp['format']} {stamp['version']}")
        if not stamp.keys() >= _NEEDED:
            raise _Stale("its stamp is incomplete")
        if stamp["kind"] != kind:
            raise _Stale(f"it is of kind {stamp['kind']}")
        if archive.comment.decode() != checksum(read_member(archive, _STAMP)):
            raise Damaged("its stamp is not the one that was written")
        parts = {name: read_member(archive, name) for name in stamp["checksums"]}
        whole = all(checksum(parts[name]) == stamp["checksums"][name] for name in parts)
    if not whole or set(parts) != {_EMBEDDING, _INDEX}:
        raise Damaged("its checksums do not match")
    return stamp, parts


def _features(case_type: CaseType) -> list[dict[str, Any]]:
    """Names in order, and the values of categories, whose positions are the codes in vectors."""
    return [{"name": f.name, "values": list(f.values)} for f in case_type.indexed]


def _own(weights: Floats | None, case_type: CaseType) -> bool:
    """Whether these are proportional to the features' own weights."""
    own = np.array([feature.weight for feature in case_type.indexed])
    return weights is not None and np.allclose(weights / weights.sum(), own / max(own.sum(), 1e-9))


def _vectors_digest(vectors: Vectors) -> str:
    return checksum(np.ascontiguousarray(vectors.values, "<f4").tobytes())


def _packed(embedding: Embedding) -> bytes:
    arrays = {f"anchors_{i}": values for i, values in enumerate(embedding.anchors.values)}
    arrays["words"] = np.array(embedding.anchors.words)
    if embedding.of_vector is not None and embedding.of_target is not None:
        arrays |= {"of_vector": embedding.of_vector, "of_target": embedding.of_target}
    out = io.BytesIO()
    np.savez(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def _unpacked(data: bytes) -> Embedding:
    arrays = read_arrays(io.BytesIO(data))
    words = arrays["words"].tolist()
    anchors = Anchors([arrays[f"anchors_{place}"] for place in range(len(words))], words)
    if "of_vector" not in arrays:
        return Embedding(anchors)
    return Embedding(anchors, arrays["of_vector"], arrays["of_target"])
