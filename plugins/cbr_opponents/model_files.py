"""Model files: a fitted model in array form, saved as .npz and opened again (`file:MODEL.npz`).

A file is data. It is read without pickle, and all that compiled code relies on is checked first,
because that code reads arrays without looking at their bounds: the numbers of features, trees and
hand classes; and that no leaf can make a chance overflow. `save_model` checks by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.files import Damaged, read_arrays, whole_file
from cbr.typing import Flags, Floats
from cbr_holdem.table import FOLD, RAISE
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
    RAISE_SIZES,
    shifted_strengths,
)
from cbr_opponents.array_models import ArrayModel
from cbr_opponents.boosting import DEPTH
from cbr_opponents.decision_features import FEATURES
from cbr_opponents.opponent_model import (
    COLUMNS,
    KINDS,
    OpponentModel,
    SizeTrees,
    is_of_hand,
    quick_trees,
)
from cbr_opponents.player_models import PlayerModelKind
from cbr_opponents.profiles import PROFILE, RAISER, SEEN, profile_features
from cbr_opponents.tree_bits import MOST_TREES

FORMAT = "cbr player model"
#: To be raised when a feature or a count gets another meaning and none of `WIDTHS` changes.
VERSION = 4
#: Files of version 3 are read too. In these, prices after the flop in no-limit had other classes:
#: for each class of today the one that it lay in.
_OLD, _OLD_PRICES = 3, [0, 1, 2, 2, 3, 3]
#: The widths of what the arrays refer to; a file with others is of another version.
WIDTHS = {
    "contexts": CONTEXTS,
    "classes": CLASSES,
    "depth": DEPTH,
    "features": FEATURES,
    "profile": PROFILE,
    "raiser": RAISER,
    "seen": SEEN,
}
_FREE = CONTEXTS // PRICE_CLASSES
#: The least chance above 0, and the most that the trees of a street may add to its logarithm: so
#: that no chance of play is rounded to 0 or to infinity.
_LEAST, _MOST_LOG = 1e-30, 100.0
#: The highest support and count.
_HIGHEST = 1e12


class SavedModel(NamedTuple):
    """A model with its game; `usual` [SEEN] are the counts of the average player that its profiles
    are shrunk towards (`profiles.usual_counts`), None if it uses no profiles."""

    arrays: OpponentModel
    betting: str
    usual: Floats | None


def save_model(
    path: Path, arrays: OpponentModel, betting: str, usual: Floats | None = None
) -> None:
    """Write a model file, complete or not at all."""
    verify_model_name(path)
    parts = model_parts(arrays, betting, usual)
    with whole_file(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **parts)


def model_parts(arrays: OpponentModel, betting: str, usual: Floats | None = None) -> dict[str, Any]:
    """What a model file consists of, by name: other files may contain a model as these."""
    parts = _flat(arrays)
    if usual is not None:
        parts["usual"] = np.ascontiguousarray(usual, np.float64)
    if reason := _fault(parts, betting):
        raise BadValue(f"the model cannot be saved: {reason}")
    stamp: dict[str, Any] = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION),
        "betting": np.array(betting),
        **{f"width.{name}": np.array(width) for name, width in WIDTHS.items()},
    }
    return stamp | parts


def verify_model_name(path: Path) -> None:
    """Raise if a model file cannot have this name."""
    if path.suffix != ".npz":
        raise BadValue(f"a model is saved as MODEL.npz, not {path.name!r}")


def read_model(path: Path) -> SavedModel:
    """The model of a file, checked; `BadValue` says in a sentence why a file is refused."""
    if not path.is_file():
        raise BadValue(f"no model file {path}; `cbr predict --save` makes one")
    try:
        parts = read_arrays(path)
    except OSError as error:
        raise BadValue(f"cannot read {path}: {error.strerror or error}") from None
    except Damaged as error:
        raise BadValue(f"{path} is no model file, or damaged: {error}") from None
    return model_of_parts(parts, path)


def model_of_parts(parts: Mapping[str, NDArray[Any]], path: Path) -> SavedModel:
    """The model of `model_parts` that were read from a file, checked."""
    if _scalar(parts, "format", "U") != FORMAT:
        raise BadValue(f"{path} is no model file; `cbr predict --save` makes one")
    widths = {name: _scalar(parts, f"width.{name}", "i") for name in WIDTHS}
    version = _scalar(parts, "version", "i")
    if version not in (_OLD, VERSION) or widths != WIDTHS:
        raise BadValue(
            f"{path} is a model of another version of this program; fit it again with "
            "`cbr predict --save`"
        )
    betting = str(_scalar(parts, "betting", "U"))
    known = {"format", "version", "betting", *(f"width.{name}" for name in WIDTHS)}
    found = {name: part for name, part in parts.items() if name not in known}
    if reason := _fault(found, betting):
        raise BadValue(f"{path} is damaged: {reason}; fit the model again")
    if version == _OLD and betting == "nolimit":
        for name in ("grid", "average", "support"):
            _renumber_prices(found[name])
    return SavedModel(_joined(found), betting, found.get("usual"))


def from_file(observed: Any, path: str) -> ArrayModel:
    """A model that was fitted before and saved (`cbr predict --save`)."""
    saved = read_model(Path(path))
    moves = saved.arrays.grid.shape[-1]
    if observed is not None and observed.moves != moves:
        raise BadValue(f"{path} is a model of {saved.betting} hold'em, not of this game")
    return ArrayModel(saved.arrays, saved.usual)


FILE_KIND = PlayerModelKind(
    "file", from_file, learns=False, help=(from_file.__doc__ or "").partition("\n")[0]
)


# --- a model as named arrays ----------------------------------------------------------------------


def _flat(arrays: OpponentModel) -> dict[str, NDArray[Any]]:
    """The fields of a model by name, those of the trees of sizes as `sizes.NAME`."""
    fields = {**arrays._asdict(), **{f"sizes.{k}": v for k, v in arrays.sizes._asdict().items()}}
    del fields["sizes"], fields["quick"]  # the latter are made from the others
    return {name: np.ascontiguousarray(part) for name, part in fields.items()} | {
        name: np.array(fields[name], np.float64) for name in ("calls_raised", "raises_called")
    }


def _joined(parts: Mapping[str, NDArray[Any]]) -> OpponentModel:
    sizes = SizeTrees(**{name: parts[f"sizes.{name}"] for name in SizeTrees._fields})
    fields: dict[str, Any] = {
        name: parts[name] for name in OpponentModel._fields if name not in ("sizes", "quick")
    }
    for name in ("calls_raised", "raises_called"):
        fields[name] = float(fields[name])
    quick = quick_trees(fields["feature"], fields["cut"], fields["leaf"], fields["trees"], sizes)
    return OpponentModel(sizes=sizes, quick=quick, **fields)


def _renumber_prices(part: NDArray[Any]) -> None:
    """Give chances or supports [4, CONTEXTS, ..] of version 3 the price classes of today."""
    by_price = part.reshape(4, PRICE_CLASSES, -1)
    by_price[1:] = by_price[1:, _OLD_PRICES]


def _scalar(parts: Mapping[str, NDArray[Any]], name: str, kind: str) -> Any:
    """The single value of an array, None if it is not there or of another kind."""
    part = parts.get(name)
    if part is None or part.shape != () or part.dtype.kind != kind:
        return None
    return part.item()


# --- checks ---------------------------------------------------------------------------------------


def _fault(parts: Mapping[str, NDArray[Any]], betting: str) -> str:
    """What is wrong with the arrays of a model; empty if nothing is."""
    if betting not in RAISE_SIZES:
        return f"it is of the game {betting!r:.40}"
    wanted = _layout(parts, RAISE + len(RAISE_SIZES[betting]))
    if odd := sorted(set(parts) ^ set(wanted)):
        return f"it {'lacks' if odd[0] in wanted else 'has'} the array {odd[0]!r:.40}"
    for name, (dtype, shape) in wanted.items():
        part = parts[name]
        if part.dtype != np.dtype(dtype) or part.shape != shape:
            return f"{name} is {part.dtype} {list(part.shape)}, not {dtype} {list(shape)}"
    for name, rule in _RULES.items():
        if name in parts and not bool(np.all(rule(parts[name], parts))):
            return f"{name} has values that are not possible"
    return _trees_fault(parts, "") or _trees_fault(parts, "sizes.")


def _layout(
    parts: Mapping[str, NDArray[Any]], moves: int
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The type and shape of each array; how many trees there are is taken from the file."""
    count, sizes = (
        part.shape[1] if part is not None and part.ndim == 3 and part.shape[1] <= MOST_TREES else 0
        for part in (parts.get("feature"), parts.get("sizes.feature"))
    )
    leaves = 1 << DEPTH
    layout: dict[str, tuple[str, tuple[int, ...]]] = {
        "grid": ("float64", (4, CONTEXTS, CLASSES, moves)),
        "average": ("float64", (4, CONTEXTS, moves)),
        "support": ("float64", (4, CONTEXTS)),
        "leaf": ("float32", (4, count, leaves, KINDS)),
        "sizes.leaf": ("float32", (4, sizes, leaves, moves - RAISE)),
        "stranger": ("uint8", (PROFILE,)),
        "shifted": ("uint8", (2, 256)),
        "calls_raised": ("float64", ()),
        "raises_called": ("float64", ()),
    }
    for name in ("trees", "public", "plain", "sizes.trees"):
        layout[name] = ("int64", (4,))
    for name in ("feature", "cut"):
        layout[name] = ("uint8", (4, count, DEPTH))
        layout[f"sizes.{name}"] = ("uint8", (4, sizes, DEPTH))
    if "usual" in parts:
        layout["usual"] = ("float64", (SEEN,))
    return layout


def _are_chances(part: Floats) -> bool:
    """Whether each row is a distribution over moves, without a fold where a check is free."""
    if not (np.isfinite(part).all() and ((part == 0.0) | (part >= _LEAST)).all()):
        return False
    free = part[:, :_FREE, ..., FOLD]
    return bool(np.allclose(part.sum(axis=-1), 1.0, atol=1e-6) and not free.any())


def _within(part: NDArray[Any], low: float, high: float) -> Flags:
    return np.asarray((part >= low) & (part <= high))  # false for what is not a number


def _fits_stranger(usual: Floats, parts: Mapping[str, NDArray[Any]]) -> bool:
    """Whether these counts of the average player give the profile of a stranger."""
    if not _within(usual, 0.0, _HIGHEST).all():
        return False
    profile = np.zeros(PROFILE, np.uint8)
    try:
        profile_features(np.zeros(SEEN), usual, profile)
    except ZeroDivisionError:
        return False
    # One step apart at most: logarithms may differ in the last digit between machines.
    return bool((np.abs(profile.astype(int) - parts["stranger"].astype(int)) <= 1).all())


_Parts = Mapping[str, NDArray[Any]]
_RULES: dict[str, Callable[[Any, _Parts], Any]] = {
    "grid": lambda part, _: _are_chances(part),
    "average": lambda part, _: _are_chances(part),
    "support": lambda part, _: _within(part, 0.0, _HIGHEST),
    "shifted": lambda part, _: part[0] <= shifted_strengths(1.0)[0].max(),
    "calls_raised": lambda part, _: _within(part, 0.0, 1.0),
    "raises_called": lambda part, _: _within(part, 0.0, 1.0),
    "trees": lambda part, all_: _within(part, 0, all_["feature"].shape[1]),
    "sizes.trees": lambda part, all_: _within(part, 0, all_["sizes.feature"].shape[1]),
    "plain": lambda part, all_: (part >= 0) & (part <= all_["trees"]),
    "public": lambda part, all_: (part >= 0) & (part <= all_["plain"]),
    "feature": lambda part, _: part < COLUMNS,
    "sizes.feature": lambda part, _: part < COLUMNS,
    "leaf": lambda part, _: _are_bounded(part),
    "sizes.leaf": lambda part, _: _are_bounded(part),
    "usual": _fits_stranger,
}


def _are_bounded(leaf: NDArray[np.float32]) -> bool:
    """Whether the leaves of all trees of a street together stay within bounds."""
    most = np.abs(leaf.astype(np.float64)).max(axis=(2, 3), initial=0.0).sum(axis=1)
    return bool(np.isfinite(leaf).all() and (most <= _MOST_LOG).all())


def _trees_fault(parts: _Parts, which: str) -> str:
    """What is wrong with the order of trees: those that need the hand come last."""
    for street in range(4):
        count = int(parts["sizes.trees" if which else "plain"][street])
        if is_of_hand(street, parts[f"{which}feature"][street, :count]).any():
            return f"{which}feature has features of the hand where it is not known"
    return ""
