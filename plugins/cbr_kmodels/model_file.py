"""Files of clusters: `cbr cluster --out FILE.npz`, read again as `kmodels:FILE.npz`.

A file is data. It is read without pickle, and everything that compiled code relies on is checked:
the shared model as the files of models are, and of the clusters the features and the sizes of the
arrays, and that no effect can make a chance overflow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.files import Damaged, read_arrays, whole_file
from cbr.typing import Floats
from cbr_kmodels.differences import LEAVES
from cbr_kmodels.model import KModels, Part
from cbr_opponents import (
    DEPTH,
    FEATURES,
    KINDS,
    RAISE_SIZES,
    SavedModel,
    is_of_hand,
    model_of_parts,
    model_parts,
)

FORMAT, VERSION = "cbr k-models", 1
#: The most clusters of a file, and trees of a street in which they differ.
MOST_CLUSTERS, MOST_TREES = 100, 16
#: The most that the effects of a cluster may add to the logarithm of a chance.
_MOST_LOG = 50.0
#: Models inside the file: the names of their arrays begin so.
_SHARED, _OWN = "shared.", "own."


def verify_name(path: Path) -> None:
    """Raise if a file of clusters cannot have this name."""
    if path.suffix != ".npz":
        raise BadValue(f"clusters are saved as FILE.npz, not {path.name!r}")


def save_kmodels(path: Path, model: KModels, betting: str) -> None:
    """Write clusters to a file, complete or not at all."""
    verify_name(path)
    shared = model_parts(model.shared, betting)
    own = model_parts(model.own, betting, model.usual)
    parts = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "share": model.share,
        "rates": model.rates,
        **{_SHARED + name: part for name, part in shared.items()},
        **{_OWN + name: part for name, part in own.items()},
        **_flat("moves", model.moves),
        **(_flat("sizes", model.sizes) if model.sizes is not None else {}),
    }
    if reason := _fault(parts, betting):
        raise BadValue(f"the clusters cannot be saved: {reason}")
    with whole_file(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **parts)


def read_kmodels(path: Path) -> tuple[KModels, str]:
    """The clusters of a file and their game, limit or nolimit, checked."""
    if not path.is_file():
        raise BadValue(f"no file of clusters {path}; `cbr cluster --out` makes one")
    try:
        parts = read_arrays(path)
    except OSError as error:
        raise BadValue(f"cannot read {path}: {error.strerror or error}") from None
    except Damaged as error:
        raise BadValue(f"{path} is no file of clusters, or damaged: {error}") from None
    stamp = [parts.get(name, np.array(0)) for name in ("format", "version")]
    if stamp[0].shape or str(stamp[0]) != FORMAT:
        raise BadValue(f"{path} is no file of clusters; `cbr cluster --out` makes one")
    if stamp[1].shape or stamp[1].dtype.kind != "i" or int(stamp[1]) != VERSION:
        raise BadValue(
            f"{path} has clusters of another version of this program; make it again with "
            "`cbr cluster --out`"
        )
    shared, own = (_model(prefix, parts, path) for prefix in (_SHARED, _OWN))
    if shared.betting != own.betting:
        raise BadValue(f"{path} is damaged: its models are of two games; cluster the players again")
    if reason := _fault(parts, own.betting):
        raise BadValue(f"{path} is damaged: {reason}; cluster the players again")
    sizes = _part("sizes", parts) if "sizes.effects" in parts else None
    model = KModels(
        shared.arrays,
        own.arrays,
        own.usual,
        _part("moves", parts),
        sizes,
        parts["share"],
        parts["rates"],
    )
    return model, own.betting


def _model(prefix: str, parts: dict[str, NDArray[Any]], path: Path) -> SavedModel:
    """One of the models inside a file."""
    inside = {
        name.removeprefix(prefix): part for name, part in parts.items() if name.startswith(prefix)
    }
    return model_of_parts(inside, path)


def _flat(name: str, part: Part) -> dict[str, NDArray[Any]]:
    return {f"{name}.{field}": value for field, value in part._asdict().items()}


def _part(name: str, parts: dict[str, NDArray[Any]]) -> Part:
    return Part(*(parts[f"{name}.{field}"] for field in Part._fields))


def _fault(parts: dict[str, NDArray[Any]], betting: str) -> str:
    """What is wrong with the arrays of clusters; empty if nothing is."""
    share = parts.get("share")
    if share is None or share.ndim != 1 or not 1 <= len(share) <= MOST_CLUSTERS:
        return "it lacks the shares of the clusters"
    k, several = len(share), len(RAISE_SIZES[betting])
    wanted = _layout("moves", parts, k, KINDS)
    if several > 1:
        wanted |= _layout("sizes", parts, k, several)
    wanted |= {"share": ("float64", (k,)), "rates": ("float64", (k, 4, 2, KINDS))}
    stamps = {"format", "version", *(name for name in parts if name.startswith((_SHARED, _OWN)))}
    if odd := sorted(set(parts) - stamps ^ set(wanted)):
        return f"it {'lacks' if odd[0] in wanted else 'has'} the array {odd[0]!r:.40}"
    for name, (dtype, shape) in wanted.items():
        part = parts[name]
        if part.dtype != np.dtype(dtype) or part.shape != shape:
            return f"{name} is {part.dtype} {list(part.shape)}, not {dtype} {list(shape)}"
    if not (_are_chances(share) and (share > 0.0).all()):
        return "share has values that are not possible"
    if not _are_chances(parts["rates"]):
        return "rates has values that are not possible"
    for name in ("moves", "sizes") if several > 1 else ("moves",):
        if reason := _part_fault(name, _part(name, parts)):
            return reason
    return ""


def _layout(
    name: str, parts: dict[str, NDArray[Any]], k: int, moves: int
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The type and shape of each array; the number of trees is taken from the file."""
    feature = parts.get(f"{name}.feature")
    trees = feature.shape[1] if feature is not None and feature.ndim == 3 else 0
    trees = min(trees, MOST_TREES)
    return {
        f"{name}.feature": ("uint8", (4, trees, DEPTH)),
        f"{name}.cut": ("uint8", (4, trees, DEPTH)),
        f"{name}.effects": ("float64", (k, 4, trees, LEAVES, moves)),
    }


def _part_fault(name: str, part: Part) -> str:
    for street in range(4):
        feature = part.feature[street]
        if (feature >= FEATURES).any() or is_of_hand(street, feature).any():
            return f"{name}.feature has values that are not possible"
    most = np.abs(part.effects).max(axis=(3, 4), initial=0.0).sum(axis=2)
    if not (np.isfinite(part.effects).all() and (most <= _MOST_LOG).all()):
        return f"{name}.effects has values that are not possible"
    return ""


def _are_chances(part: Floats) -> bool:
    fine = np.isfinite(part).all() and (part >= 0.0).all()
    return bool(fine and np.allclose(part.sum(axis=-1), 1.0, atol=1e-6))
