"""Checks of what a run file holds: the file may come from anybody, or be damaged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from cbr.checks import HIGHEST
from cbr.errors import BadValue
from cbr.evolve.record import MIDDLE, Generation
from cbr.files.json_text import read_json

#: The tables of a run file, and the kinds of values in each column, as SQLite's `typeof` has them.
LAYOUT = {
    "settings": {"name": "text", "value": "text"},
    "questions": dict.fromkeys(("run", "generation", "step", "arenas", "rows", "blocks"), "integer")
    | {"digest": "text", "scores": "blob"},
    "generations": dict.fromkeys(("run", "generation", "best"), "integer")
    | {"spread": "real", "seconds": "real", "notes": "text"},
    "individuals": dict.fromkeys(("run", "generation", "individual", "blocks"), "integer")
    | {"origin": "text", "genes": "text", "mean": "real", "ci95": "real null", "scores": "blob"},
    "result": {"id": "integer", "value": "text"},
}

# The shape of a value: a type, a list of one shape, a mapping {str: shape of all values}, one with
# named values ("?" ends the name of one that may be missing; ... stands for others), or a tuple of
# alternatives.
_MEAN = {"mean": float, "ci95": (float, type(None))}
_SETTINGS: dict[str, Any] = {
    **{"domain": str, "objective": str, "unit": str, "trial": str, "seed": int},
    "stages": {str: [str]},
    "plan": {"name": str, ...: object},
    "arenas": [str],
    "casebase": {str: str},
    "starts": {str: [float]},
    "published": {
        **{"range, first generation?": float, "range, last generation?": float},
        **{"rates?": {str: float}, ...: object},
    },
}
_RESULT = {
    "row": [float],
    "judged": [{"name": str, "score": _MEAN, "behind": (_MEAN, type(None))}],
    "trials": int,
}


def read_settings(rows: list[tuple[str, str]]) -> dict[str, Any]:
    """The settings of a run, checked."""
    found = {name: read_json(value) for name, value in rows}
    for name, value in found.items():
        if not _fits(value, _SETTINGS.get(name, object)) or not _finite(value):
            raise BadValue(f"its setting {name!r} is invalid")
    return found


def verify_complete(settings: Mapping[str, Any]) -> None:
    """Raise if a setting that a report needs is missing."""
    needed = set(_SETTINGS) - {"domain", "starts"}
    for name in sorted(needed - set(settings)):
        raise BadValue(f"it has no setting {name!r}")


def read_result(text: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a run, checked."""
    found = read_json(text)
    if not _fits(found, _RESULT) or len(found["row"]) < _weights(settings):
        raise BadValue("its result is invalid")
    result: dict[str, Any] = found
    return result


def read_scores(data: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Scores as a run file stores them, [n], checked."""
    if not data or len(data) % 8:
        raise BadValue(f"it has {len(data)} bytes of scores")
    scores = np.frombuffer(data, "<f8").astype(np.float64)
    if not (np.abs(scores) <= HIGHEST).all():
        raise BadValue("it has scores that are not finite")
    return scores


def read_generation(
    place: tuple[int, int], best: int, notes: str, rows: list[Any], settings: Mapping[str, Any]
) -> Generation:
    """A generation, checked: `rows` are genes, origin and scores of each of its rows."""
    run, number = place
    told = read_json(notes)
    genes = [read_json(text) for text, _, _ in rows]
    widths = {len(row) for row in genes if _fits(row, [float])}
    right = len(widths) == 1 and all(_fits(row, [float]) for row in genes)
    if not right or not 1 <= best <= len(rows) or not isinstance(told, dict) or not _finite(told):
        raise BadValue(f"generation {number} of run {run} is invalid")
    found = np.array(genes, np.float64)
    for part in _parts(settings):
        weights = found[:, part]
        if weights.shape[1] < part.stop - part.start or (weights < 0.0).any():
            raise BadValue(f"generation {number} of run {run} has invalid weights")
        if not (weights.sum(axis=1) > 0.0).all():
            raise BadValue(f"generation {number} of run {run} has weights that are all 0")
    origins = [origin for _, origin, _ in rows]
    if all(origin == MIDDLE for origin in origins):
        raise BadValue(f"generation {number} of run {run} has no rows to compare")
    scores = [read_scores(blob) for _, _, blob in rows]
    return Generation(run, number, found, origins, scores, best - 1, told)


def _parts(settings: Mapping[str, Any]) -> list[slice]:
    ends = np.cumsum([0, *map(len, settings.get("stages", {}).values())]).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _weights(settings: Mapping[str, Any]) -> int:
    return sum(map(len, settings.get("stages", {}).values()))


def _fits(value: Any, shape: Any) -> bool:
    """Whether a value has this shape."""
    if isinstance(shape, tuple):
        return any(_fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and _fits_named(value, shape)
    if shape is float:
        return type(value) in (int, float) and abs(value) <= HIGHEST
    if shape is int:
        return type(value) is int and abs(value) < 1 << 63
    return isinstance(value, shape)


def _fits_named(value: dict[str, Any], shape: dict[Any, Any]) -> bool:
    if str in shape:
        return all(_fits(one, shape[str]) for one in value.values())
    for name, wanted in shape.items():
        if name is ...:
            continue
        key = name.removesuffix("?")
        if key in value and not _fits(value[key], wanted):
            return False
        if key not in value and key == name:
            return False
    known = {name.removesuffix("?") for name in shape if name is not ...}
    return ... in shape or value.keys() <= known


def _finite(value: Any) -> bool:
    """Whether all numbers in a value are finite, so that JSON can have it."""
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, list):
        return all(map(_finite, value))
    return not isinstance(value, float) or math.isfinite(value)
