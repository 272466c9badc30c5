"""``cbr index``: save FAISS indices beside a casebase, or compare them with exact search."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.options import File, Json, OnlyStage, Weights, stages_with_cases
from cbr.cli.output import emit, lines, note, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cbr.cli.app import App
    from cbr.retrieval.index.quality import Row
    from cbr.store.casebase import Casebase

_Kind = Annotated[
    str,
    typer.Option(metavar="SPEC", help="flat, hnsw or ivf, e.g. ivf?lists=1024&bits=8."),
]
_Measure = Annotated[
    bool, typer.Option("--measure", help="Save nothing; measure time and recall of all kinds.")
]
_Queries = Annotated[int, typer.Option(min=1, help="Number of queries of --measure.")]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of these queries.")]
_Plot = Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw what --measure finds.")]


def add(app: App) -> None:
    app.command("index", epilog="Example: cbr index casebases/cars.db --kind hnsw")(index)


def index(
    file: File,
    stage: OnlyStage = None,
    kind: _Kind = "",
    weights: Weights = "",
    measure: _Measure = False,
    queries: _Queries = 500,
    seed: _Seed = 0,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """Build a FAISS index and save it beside the casebase.

    `cbr query --index faiss-hnsw` uses it as long as the casebase does not change. Indices hnsw and
    ivf are built for one set of weights.
    """
    from cbr.errors import BadValue
    from cbr.plots.style import verify_picture
    from cbr.store.casebase import Casebase

    if measure == bool(kind):
        raise BadValue("give --kind flat, hnsw or ivf to save an index, or --measure to compare")
    if plot is not None and not measure:
        raise BadValue("--plot draws what --measure finds; give both")
    if plot is not None:
        verify_picture(plot)
    with Casebase.open(file) as base:
        stages = stages_with_cases(base, stage) or [base.stage(None)]
        if measure:
            rows = _measured(base, stages, weights, queries, seed)
            _show_measured(base, rows, queries, seed, plot, json)
        else:
            _save(base, stages, kind, weights, json)


def _save(base: Casebase, stages: Sequence[str], kind: str, weights: str, json: bool) -> None:
    import time

    from cbr.plugging.plugins import default_plugins
    from cbr.retrieval.index.faiss import USUAL, build_faiss
    from cbr.retrieval.index.saved import path_of, save
    from cbr.retrieval.retriever import retriever_of
    from cbr.spec import Spec, settle

    spec = Spec.parse(kind if kind.startswith("faiss-") else f"faiss-{kind}")
    if spec.name not in USUAL:
        from cbr.errors import NoSuchName

        known = [name.removeprefix("faiss-") for name in USUAL]
        raise NoSuchName("kind of index to save", spec.name.removeprefix("faiss-"), known)
    settled = settle(default_plugins().get("index", spec.name).build, 2, spec)
    given = {name: settled[name] for name in USUAL[spec.name]}
    for name in spec.parameters.keys() - given.keys():
        note(f"{name} is not saved with the index; give it to `cbr query --index` too")
    saved = []
    for name in stages:
        retriever = retriever_of(base, name, weights=weights, index="scan")
        began = time.perf_counter()
        built = build_faiss(
            spec.name, retriever.vectors, retriever.measures, given, retriever.weights
        )
        path = path_of(base.path, name, spec.name)
        save(built, retriever.vectors, retriever.measures, path)
        saved.append(
            {
                "stage": name,
                "kind": spec.name,
                "parameters": dict(built.parameters),
                "vectors": len(retriever.vectors),
                "seconds": round(time.perf_counter() - began, 3),
                "bytes": path.stat().st_size,
                "file": str(path),
            }
        )
    if json:
        emit({"file": str(base.path), "indices": saved})
        return
    heads = ["stage", "kind", "vectors", "seconds", "megabytes", "file"]
    rows = [
        (s["stage"], s["kind"], s["vectors"], s["seconds"], _megabytes(s["bytes"]), s["file"])
        for s in saved
    ]
    table("", heads, rows)
    if spec.name != "faiss-flat":
        lines(
            "Built for " + (f"the weights {weights}" if weights else "the weights of the casebase")
        )


def _measured(
    base: Casebase, stages: Sequence[str], weights: str, queries: int, seed: int
) -> list[Row]:
    import sys

    from cbr.retrieval.index.quality import compare

    def tell(stage: str, kind: str) -> None:
        if sys.stderr.isatty():
            note(f"{stage}: {kind}")

    return [
        row
        for stage in stages
        for row in compare(
            base, stage, queries=queries, seed=seed, weights=weights, tell=partial(tell, stage)
        )
    ]


def _show_measured(
    base: Casebase, rows: Sequence[Row], queries: int, seed: int, plot: Path | None, json: bool
) -> None:
    import dataclasses

    if plot is not None:
        from cbr.plots.index_quality import draw_index_quality

        draw_index_quality(rows, plot)
    if json:
        emit(
            {
                "file": str(base.path),
                "queries": queries,
                "seed": seed,
                "rows": [dataclasses.asdict(row) for row in rows],
                "plot": None if plot is None else str(plot),
            }
        )
        return
    for stage in dict.fromkeys(row.stage for row in rows):
        table(
            f"{stage}: {queries:,} queries like its cases",
            ["index", "setting", "", "build s", "MB", "µs a query", "recall", "worst"],
            [
                (
                    row.kind,
                    row.setting,
                    "usual" if row.usual else "",
                    row.build_seconds,
                    _megabytes(row.bytes),
                    row.microseconds,
                    f"{row.recall:.4f}",
                    f"{row.worst:.2f}",
                )
                for row in rows
                if row.stage == stage
            ],
        )
    if plot is not None:
        lines(f"drawn in {plot}")


def _megabytes(size: object) -> float | None:
    return size / 1e6 if isinstance(size, int) else None
