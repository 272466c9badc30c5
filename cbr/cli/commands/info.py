"""``cbr info``: what a casebase holds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import cell, count, emit, lines, show_reasons, table

if TYPE_CHECKING:
    from cbr.case import Feature
    from cbr.cli.app import App
    from cbr.store.casebase import Casebase

#: Cases of a stage up to which distinct ones are counted without --distinct.
_MANY = 200_000
_Distinct = Annotated[
    bool, typer.Option("--distinct", help="Count distinct cases even in very large stages.")
]
#: Values of a feature that are shown; JSON has all.
_MOST_VALUES = 100
#: Rows of a section that are shown; JSON has all.
_MOST_ROWS = 20


def add(app: App) -> None:
    app.command("info", epilog="Example: cbr info casebases/cars.db --json")(info)


def info(file: File, distinct: _Distinct = False, json: Json = False) -> None:
    """Show cases, features, sources and indices of a casebase."""
    from cbr.store.casebase import Casebase

    with Casebase.open(file) as base, base.reading():
        found = _describe(base, distinct)
    if json:
        emit(found)
    else:
        _show(found)


def _show(found: Mapping[str, Any]) -> None:
    records = found["records"]
    lines(
        f"{found['file']}: {found['domain']} cases from {count(found[records], records[:-1])}, "
        f"write version {found['write_version']}"
    )
    stages = [
        (name, s["cases"], "-" if s["vectors"] is None else s["vectors"], _solutions(s))
        for name, s in found["stages"].items()
    ]
    table("", ["stage", "cases", "distinct", "solutions"], stages)
    hidden = [
        (s, number, _shares(found["stages"][s]["hidden"]))
        for s, number in found["hidden"].items()
        if number
    ]
    table("Hidden decisions", ["stage", "decisions", "solutions"], hidden)
    saved = [
        (s["stage"], s["kind"], s["state"], s["size"] / 1e6, s["file"]) for s in found["indices"]
    ]
    table("Indices", ["stage", "kind", "state", "megabytes", "file"], saved)
    for name, stage in found["stages"].items():
        rows = [
            [f["name"], f["kind"], f["similarity"], f["weight"], f["label"], f["meaning"], _gaps(f)]
            for f in stage["features"]
        ]
        shown = [True] * 4 + [
            any(f[what] for f in stage["features"]) for what in ("label", "meaning")
        ]
        shown.append(any(f["missing"] for f in stage["features"]))
        heads = ["feature", "kind", "measure", "weight", "label", "meaning", "missing"]
        table(
            f"Features of {name}",
            list(compress(heads, shown)),
            [list(compress(row, shown)) for row in rows],
        )
    sources = [(s["name"], s["reader"], s[records]) for s in found["sources"]]
    table("Sources", ["file", "reader", records], sources)
    show_reasons(found["skipped"])
    _show_sections(found["sections"])
    for name, stage in found["stages"].items():
        lines(f"digest of {name}: {stage['digest'] or '-'}")


def _show_sections(sections: Mapping[str, Any]) -> None:
    """The sections of plugins; those in lower case are for scripts that read the JSON."""
    for title, section in sections.items():
        if title[:1].islower():
            continue
        rows = list(section.items() if isinstance(section, dict) else enumerate(section, 1))
        table(title, [], [(str(name), _plain(value)) for name, value in rows[:_MOST_ROWS]])
        if len(rows) > _MOST_ROWS:
            lines(f"... and {len(rows) - _MOST_ROWS:,} more (--json has all)")


def _describe(base: Casebase, distinct: bool) -> dict[str, Any]:
    from cbr.plugging.plugins import default_plugins
    from cbr.upkeep.soundness import index_states

    sections: dict[str, Any] = {}
    plugins = default_plugins()
    for plugin, given in plugins.call("cbr_info", casebase=base):
        problem = _problem_of_sections(given)
        if problem:
            plugins.blame(plugin, f"cbr_info gave {problem}")
        else:
            sections |= given or {}
    sources = (
        f"SELECT name, reader, (SELECT COUNT(*) FROM {base.records_table} r WHERE r.source = s.id) "
        "FROM sources s ORDER BY id"
    )
    skipped = (
        "SELECT COALESCE(CAST(reason AS TEXT), '-') AS why, COUNT(*) AS n FROM skipped "
        "GROUP BY why ORDER BY n DESC, why"
    )
    hidden = base.hidden() if base.has_hidden else {}
    stages = {stage: _describe_stage(base, stage, distinct) for stage in base.stages}
    for stage, taken in hidden.items():
        stages[stage]["hidden"] = taken
    # The sections of plugins come first, so that they cannot replace what follows.
    return sections | {
        "file": str(base.path),
        "domain": base.domain,
        "write_version": base.write_version,
        "records": base.records,
        base.records: base.count_records(),
        "stages": stages,
        "cases": {stage: base.count(stage) for stage in base.stages},
        "digest": {stage: base.digest(stage) for stage in base.stages},
        "hidden": {stage: sum(taken.values()) for stage, taken in hidden.items()},
        "sources": [
            dict(zip(("name", "reader", base.records), row, strict=True))
            for row in base.db.execute(sources)
        ],
        "skipped": dict(base.db.execute(skipped).fetchall()),
        "indices": [saved._asdict() for saved in index_states(base, plugins)],
        "sections": sections,
    }


def _problem_of_sections(given: Any) -> str:
    """What is wrong with the sections that a plugin gave; "" if they can be shown."""
    import json

    if given is None:
        return ""
    try:
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"what JSON cannot hold: {error}"
    good = isinstance(given, dict) and all(isinstance(part, dict | list) for part in given.values())
    return "" if good else "no mapping from titles to rows"


def _describe_stage(base: Casebase, stage: str, distinct: bool) -> dict[str, Any]:
    case_type = base.case_type(stage)
    cases = base.count(stage)
    lacking = base.lacking(stage)
    counted = distinct or cases <= _MANY
    vectors = (len(base.vectors(stage)) if cases else 0) if counted else None
    return {
        "cases": cases,
        "vectors": vectors,
        "digest": base.digest(stage),
        "solutions": base.solutions(stage),
        "solution": _numbers(base, stage),
        "retrieval": case_type.retrieval,
        "reuse": case_type.reuse,
        "features": [
            {
                "name": f.name,
                "label": f.label,
                "meaning": f.meaning,
                "kind": _kind(f),
                "unit": f.unit,
                "range": f.range,
                "values": list(f.values),
                "computed": f.computed,
                "indexed": f.indexed,
                "missing": f.missing,
                "lacking": lacking.get(f.name, 0),
                "similarity": f.similarity if f.indexed else None,
                "weight": f.weight if f.indexed else None,
            }
            for f in case_type.features
        ],
    }


def _numbers(base: Casebase, stage: str) -> dict[str, Any] | None:
    """The numbers that are the solutions of a stage; None for classes."""
    solution = base.case_type(stage).solution
    return None if solution is None else {"unit": solution.unit, **base.spread(stage)}


def _solutions(stage: Mapping[str, Any]) -> str:
    found = stage["solution"]
    if found is None:
        return _shares(stage["solutions"])
    least, mean, most = (cell(found[name]) for name in ("least", "mean", "most"))
    return f"{least} to {most} {found['unit']}".strip() + f", mean {mean}"


def _gaps(feature: Mapping[str, Any]) -> str:
    """How many cases lack a feature, and the rule for it."""
    if not feature["missing"]:
        return "-"
    return f"{count(feature['lacking'], 'case')} ({feature['missing']})"


def _kind(feature: Feature) -> str:
    """The values that a feature takes."""
    if feature.range:
        low, high = feature.range
        return f"{low:g} to {high:g} {feature.unit}".strip()
    more = len(feature.values) - _MOST_VALUES
    values = [*feature.values[:_MOST_VALUES], *([f"{more:,} more"] if more > 0 else [])]
    return " | ".join(values) or "text"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _shares(value) if sum(value.values()) else "-"
    return value


def _shares(solutions: dict[str, int]) -> str:
    total = sum(solutions.values()) or 1
    # Lines do not break at such a space, so a name and its share stay together.
    shares = (f"{name} {100 * n / total:.0f} %" for name, n in solutions.items() if n)
    return ", ".join(share.replace(" ", "\N{NO-BREAK SPACE}") for share in shares)
