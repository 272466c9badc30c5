"""The player model that clusters make, by name."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cbr.errors import BadValue
from cbr_opponents import PlayerModelKind


def from_file(observed: Any, file: str, last: int = 0, cluster: int = 0) -> Any:
    """Clusters of players (`cbr cluster --out`), each as likely as it explains earlier hands."""
    from cbr_kmodels.model_file import read_kmodels
    from cbr_opponents import ArrayModel

    if last < 0:
        raise BadValue(f"last={last} of kmodels must be 0, for all moves, or more")
    model, betting = read_kmodels(Path(file))
    if observed is not None and observed.moves != model.shared.grid.shape[-1]:
        raise BadValue(f"{file} has clusters of players of {betting} hold'em, not of this game")
    if not 0 <= cluster <= len(model):
        raise BadValue(f"cluster={cluster} of kmodels must be 1 to {len(model)}, or 0 for all")
    if cluster:
        return ArrayModel(model.of_cluster(cluster - 1))
    return dataclasses.replace(model, last=last)


KIND = PlayerModelKind(
    "kmodels", from_file, learns=False, help=(from_file.__doc__ or "").partition("\n")[0]
)
