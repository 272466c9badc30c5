"""Saves labels to a file and loads them, for a casebase that can be built again from its log.

The file is numpy's .npz without pickled objects. For each stage it has a fingerprint of the cases
and their numbers, so that labels of other cases, or of the same in another order, are refused; then
case numbers, indices of solutions, values and standard errors. The arrays of the table models
follow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Casebase
from cbr.files import Damaged, checksum, read_arrays, verify_place, whole_file
from cbr.plugging import default_plugins, one_line
from cbr.store import verify_solutions
from cbr_casper.values.table_models import NAMES, STORED_AS, TableModels
from cbr_holdem.situation import ACTIONS

_KIND, _VERSION = "cbr-labels", 3


def verify_can_save(path: Path) -> None:
    """Raise BadValue if the path exists and is not a label file, or cannot be written."""
    verify_place(path)
    if path.exists() and path.stat().st_size:
        try:
            known = _format(_arrays(path))[0] == _KIND
        except BadValue:
            known = False
        if not known:
            raise BadValue(
                f"{path} exists and is not a file of labels; choose another name, or remove it"
            )


def save(base: Casebase, path: Path) -> None:
    """Write the labels of a casebase to a file."""
    parts: dict[str, NDArray[Any]] = {"format": np.array(f"{_KIND} {_VERSION}")}
    for stage in base.stages:
        solutions = {name: place for place, name in enumerate(base.case_type(stage).solutions)}
        rows = base.values(stage)
        parts[f"{stage}.mark"] = np.array(_fingerprint(base, stage))
        parts[f"{stage}.case"] = np.array([row[0] for row in rows], np.int32)
        parts[f"{stage}.solution"] = np.array([solutions[row[1]] for row in rows], np.int8)
        # Three digits are more than the standard error of a value justifies.
        parts[f"{stage}.value"] = np.array([row[2] for row in rows], np.float16)
        parts[f"{stage}.error"] = np.array([row[3] for row in rows], np.float16)
    models = TableModels.load(base)
    if models is not None:
        for name, array in models.arrays().items():
            short = array.astype(np.float16) if array.dtype.kind == "f" else array
            parts[f"{STORED_AS}.{name}"] = short
    with whole_file(path) as part, part.open("wb") as out:
        np.savez_compressed(out, **parts)  # type: ignore[arg-type]


def load(base: Casebase, path: Path) -> None:
    """Write the labels of a file into a casebase: all of them, or none if one is wrong."""
    parts = _read(path)
    verify_solutions(base, default_plugins())
    for stage in base.stages:
        mark = parts.get(f"{stage}.mark")
        if mark is None or str(mark) != _fingerprint(base, stage):
            raise BadValue(
                f"{path} has labels of other cases or solutions than the {stage} of {base.path}, "
                "or of the same in another order; build the casebase from the log that they were "
                "made for, or label it"
            )
    with base.transaction():
        for stage in base.stages:
            solutions = base.case_type(stage).solutions
            case, place, value, error = _labels(parts, path, stage, len(solutions))
            for number, solution in enumerate(solutions):
                mine = place == number
                if mine.any():
                    figures = (value[mine].astype(float), error[mine].astype(float))
                    base.put_values(stage, case[mine].tolist(), solution, *map(list, figures))
        stored = {name: parts.get(f"{STORED_AS}.{name}") for name in NAMES}
        models = TableModels.from_arrays(stored, base)
        if models is not None:
            models.save(base)


def _fingerprint(base: Casebase, stage: str) -> str:
    """A hash of cases with their numbers; unlike a casebase's digest it depends on their order.
    Where solutions have sizes, it depends on their names too: these have changed once."""
    cases, solutions = base.read_cases(stage), base.case_type(stage).solutions
    columns = ((cases.ids, "<i8"), (cases.values, "<f4"), (cases.solution, "<i8"))
    parts = [np.ascontiguousarray(column, kind).tobytes() for column, kind in columns]
    names = "" if tuple(solutions) == ACTIONS else " ".join(solutions)
    return checksum(*parts, names.encode())


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a label file, which must be of this version."""
    parts = _arrays(path)
    kind, version = _format(parts)
    if kind != _KIND:
        raise BadValue(f"{path} is not a file of labels ({_KIND} {_VERSION})")
    if version != str(_VERSION):
        raise BadValue(
            f"{path} has labels of another version of this program ({_KIND} {version}, not "
            f"{_VERSION}); make it anew with cbr label --save"
        )
    return parts


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        return read_arrays(path)
    except OSError as error:
        raise BadValue(f"cannot read labels {path}: {error.strerror or one_line(error)}") from None
    except Damaged as error:
        raise BadValue(f"{path} is damaged, or not a file of labels ({error})") from None


def _format(parts: dict[str, NDArray[Any]]) -> tuple[str, str]:
    """The kind of a file, and its version."""
    kind, _, version = str(parts.get("format", "")).partition(" ")
    return kind, version


def _labels(
    parts: dict[str, NDArray[Any]], path: Path, stage: str, solutions: int
) -> list[NDArray[Any]]:
    """Case numbers, indices of solutions, values and errors of a stage. They are checked, since the
    file may come from anybody."""
    found = []
    for name, kinds in (("case", "iu"), ("solution", "iu"), ("value", "f"), ("error", "f")):
        part = parts.get(f"{stage}.{name}")
        if part is None or part.ndim != 1 or part.dtype.kind not in kinds:
            raise BadValue(
                f"{path} lacks the array '{stage}.{name}'; make it anew with cbr label --save"
            )
        found.append(part)
    place, figures = found[1], found[2:]
    whole = len({len(part) for part in found}) == 1 and all(np.isfinite(f).all() for f in figures)
    whole = whole and not (figures[1] < 0.0).any()
    if not whole or (len(place) and not 0 <= place.min() <= place.max() < solutions):
        raise BadValue(
            f"labels of the {stage} in {path} do not fit together; make them anew with "
            "cbr label --save"
        )
    return found
