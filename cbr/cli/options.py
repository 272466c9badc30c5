"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.output import cell, note

if TYPE_CHECKING:
    from cbr.case import CaseType, Value

File = Annotated[Path, typer.Argument(metavar="FILE.db", help="A casebase.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes that work at the same time.")]
Dask = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Work on a Dask cluster: its scheduler's address.")
]
Stage = Annotated[
    str | None, typer.Option(help="Stage of the casebase; may be left out where it has one.")
]
Weights = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE|F=W,...",
        help="Weights over the defaults: a set's name (cbr weights list), a JSON file, "
        "FEATURE=WEIGHT,... or random:SEED.",
    ),
]
Similarity = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FEATURE=SPEC",
        help="Compare a feature by another measure, e.g. price=exponential?k=2. Repeatable.",
    ),
]
CaseValues = Annotated[
    list[str],
    typer.Option(
        "--case", metavar="K=V,...", help="The situation, feature by feature; or a JSON object."
    ),
]


def similarities(given: list[str] | None) -> dict[str, str]:
    """``["price=exponential?k=2"]`` by feature. Only the first = parts, a spec has its own."""
    from cbr.errors import BadValue

    found = {}
    for text in given or []:
        feature, equals, spec = text.partition("=")
        if not equals or not spec:
            raise BadValue(f"--similarity {text!r} is not FEATURE=SPEC")
        if feature.strip() in found:
            raise BadValue(f"--similarity for {feature.strip()!r} is given twice")
        found[feature.strip()] = spec.strip()
    return found


def situation(case: Sequence[str], case_type: CaseType) -> dict[str, Value]:
    """What --case says, with features computed from it; notes what lies outside a range."""
    from cbr.errors import BadValue
    from cbr.plugging.plugins import default_plugins
    from cbr.spec import pairs
    from cbr.store.definitions import complete

    given: dict[str, str] = {}
    for text in case:
        more = pairs(text, "--case")
        for name in given.keys() & more.keys():
            raise BadValue(f"{name!r} stands twice in --case")
        given |= more
    values = complete(case_type, case_type.read(given), default_plugins())
    for name, value in values.items():
        limits = case_type.feature(name).range
        if limits and not limits[0] <= float(value) <= limits[1]:
            low, high = map(cell, limits)
            note(f"{name} {cell(value)} is outside its range, {low} to {high}")
    return values
