"""Arguments and options that several commands share, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli.output import cell, note

if TYPE_CHECKING:
    from cbr.case import CaseType, Value
    from cbr.store.casebase import Casebase

File = Annotated[Path, typer.Argument(metavar="FILE.db", help="A casebase.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Workers = Annotated[int, typer.Option(min=1, help="Number of processes to work with.")]
Dask = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Work on a Dask cluster, by its scheduler's address."),
]
Stage = Annotated[str | None, typer.Option(help="Stage; needed if the casebase has several.")]
OnlyStage = Annotated[
    str | None, typer.Option("--stage", help="Only this stage; default: all that have cases.")
]
Features = Annotated[
    str,
    typer.Option(
        metavar="SET,+F,-G", help="Feature set; +F adds a feature to it, -G leaves one out."
    ),
]
Weights = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE|F=W,...",
        help="Weights in place of the defaults: a set's name (cbr weights list), a JSON file, "
        "FEATURE=WEIGHT,... or random:SEED.",
    ),
]
WeightsOut = Annotated[
    Path, typer.Option("--out", metavar="W.json", help="File to write the weights to.")
]
Similarity = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FEATURE=SPEC",
        help="Similarity measure of a feature, e.g. price=exponential?k=2. May be repeated.",
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RULE|FEATURE=RULE",
        help="What it means that a case lacks a feature: ignore it, unlike (similarity 0) or "
        "expected (the mean similarity of the stage's values); for all features or for one. May "
        "be repeated.",
    ),
]
#: How --case is declared, for a parameter that may or must be given.
CASE = typer.Option(
    "--case", metavar="K=V,...", help="The situation: FEATURE=VALUE,... or a JSON object."
)
Solution = Annotated[
    str, typer.Option(metavar="COLUMN", help="The column of a table that is to be proposed.")
]
Outcome = Annotated[
    str, typer.Option(metavar="COLUMN", help="The column that says what a solution earned.")
]
Delimiter = Annotated[
    str, typer.Option(help="Character between the cells of a table; default: detected.")
]
Encoding = Annotated[str, typer.Option(help="Encoding of a table, e.g. cp1252; default: detected.")]
Decimal = Annotated[
    str, typer.Option(metavar=".|,", help="Decimal mark of a table; default: detected.")
]
Na = Annotated[
    str,
    typer.Option(
        metavar="WORD,...", help="Words for a missing value in a table, besides the usual ones."
    ),
]
Note = Annotated[str, typer.Option(help="Why, in a few words, for the history.")]
NoHistory = Annotated[
    bool, typer.Option("--no-history", help="Do not keep what the cases were before.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")]


def rules(texts: Sequence[str] | None) -> str | dict[str, str]:
    """``["expected"]`` as one rule for all features; ``["age=unlike"]`` as rules by feature."""
    from cbr.errors import BadValue

    given = list(texts or ())
    if len(given) == 1 and "=" not in given[0]:
        return given[0].strip()
    found = {}
    for text in given:
        feature, equals, rule = text.partition("=")
        if not equals:
            raise BadValue(
                f"--missing-values {text!r} is not FEATURE=RULE; one rule alone is for all features"
            )
        found[feature.strip()] = rule.strip()
    return found


def similarities(texts: Sequence[str] | None) -> dict[str, str]:
    """``["price=exponential?k=2"]`` as a spec by feature; an = after the first is the spec's."""
    from cbr.errors import BadValue

    found = {}
    for text in texts or ():
        feature, equals, spec = text.partition("=")
        if not equals or not spec:
            raise BadValue(f"--similarity {text!r} is not FEATURE=SPEC")
        if feature.strip() in found:
            raise BadValue(f"--similarity for {feature.strip()!r} is given twice")
        found[feature.strip()] = spec.strip()
    return found


def situation(texts: Sequence[str], case_type: CaseType) -> dict[str, Value]:
    """The values that --case gives, and the features computed from them.

    Values outside the range of their feature are noted.
    """
    from cbr.errors import BadValue
    from cbr.plugging.plugins import default_plugins
    from cbr.spec import pairs
    from cbr.store.definitions import complete, with_inputs

    given: dict[str, str] = {}
    for text in texts:
        more = pairs(text, "--case")
        for name in given.keys() & more.keys():
            raise BadValue(f"{name!r} is given twice in --case")
        given |= more
    plugins = default_plugins()
    values = complete(case_type, with_inputs(case_type, plugins).read(given), plugins)
    for name, value in values.items():
        limits = case_type.feature(name).range
        if limits and not limits[0] <= float(value) <= limits[1]:
            low, high = map(cell, limits)
            note(f"{name} {cell(value)} is outside its range, {low} to {high}")
    return values


def stages_with_cases(base: Casebase, only: str | None) -> list[str]:
    """The stage `only`, or every stage that has cases."""
    return [base.stage(only)] if only is not None else [s for s in base.stages if base.count(s)]
