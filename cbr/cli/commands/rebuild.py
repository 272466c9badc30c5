"""``cbr rebuild``: features computed anew from the records of a casebase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cbr.cli.options import Features, File, Json
from cbr.cli.output import emit, note, table

if TYPE_CHECKING:
    from cbr.cli.app import App


def add(app: App) -> None:
    app.command(
        "rebuild", epilog="Example: cbr rebuild casebases/cars.db --features +cost --plugin cost.py"
    )(rebuild)


def rebuild(file: File, features: Features = "", json: Json = False) -> None:
    """Recompute the features from the stored records.

    --features adds features and leaves some out; naming the feature set restores all of its
    features. If the plugin of the case type is loaded, its measures, weights, ranges and solutions
    replace those of the casebase; what was estimated or learned with other solutions is dropped.
    """
    from cbr.building.recomputation import rebuild as run
    from cbr.store.casebase import Casebase

    with Casebase.open(file, write=True) as base:  # an older schema is updated
        old = {t.stage: [f.name for f in t.features] for t in base.case_types}
        digests = {stage: base.digest(stage) for stage in base.stages}
    names, dropped = run(file, features)
    for sentence in dropped:
        note(f"{file}: {sentence}")
    with Casebase.open(file) as base:
        cases = {stage: base.count(stage) for stage in names}
        changed = {stage: base.digest(stage) != digests[stage] for stage in names}
    added = {s: [name for name in now if name not in old[s]] for s, now in names.items()}
    left_out = {s: [name for name in old[s] if name not in now] for s, now in names.items()}
    if json:
        emit(
            {
                "out": str(file),
                "features": names,
                "added": added,
                "left_out": left_out,
                "cases": cases,
                "changed": changed,
                "dropped": dropped,
            }
        )
        return
    table(
        f"{file} rebuilt",
        ["stage", "cases", "values", "added", "left out", "features"],
        [
            (
                stage,
                cases[stage],
                "changed" if changed[stage] else "as before",
                ", ".join(added[stage]) or "-",
                ", ".join(left_out[stage]) or "-",
                len(now),
            )
            for stage, now in names.items()
        ],
    )
