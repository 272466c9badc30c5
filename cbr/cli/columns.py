"""How the columns of a table and the case type proposed for it are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cbr.cli.output import cell, lines, table

if TYPE_CHECKING:
    from cbr.case import CaseType, Feature
    from cbr.tables import Column

#: The most characters of a list of values.
_WIDE = 44
#: The most columns of a table that are shown one by one.
_MOST = 60


def show_columns(columns: Sequence[Column], fields: Mapping[str, Any]) -> None:
    """Print what is in each column, and what becomes of it in a case type with these fields."""
    by_label = {f.label or f.name: f for f in fields["features"]}
    table(
        "",
        ["column", "kind", "content", "missing", "feature", "use"],
        [
            (
                column.label,
                _kind(column, fields),
                _content(column),
                column.missing.total(),
                by_label[column.label].name if column.label in by_label else "-",
                _use(column, by_label.get(column.label), fields),
            )
            for column in columns[:_MOST]
        ],
    )
    if left := Counter(column.kind for column in columns[_MOST:]):
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in left.most_common())
        lines(f"... and {left.total():,} more columns ({kinds})")


def _kind(column: Column, fields: Mapping[str, Any]) -> str:
    """The kind of a column; that of the solution is the one that it is used as."""
    is_class = column.label == fields.get("solution_label") and fields.get("solutions")
    return "category" if is_class and column.kind != "boolean" else column.kind


def _content(column: Column) -> str:
    from cbr.tables.columns import NUMBER

    if column.is_number and column.kind == NUMBER:
        units = column.units - {""}
        return f"{cell(column.low)} to {cell(column.high)} {''.join(units)}".strip()
    if not column.known:
        return ""
    number = f"{column.distinct:,}{'+' if column.many else ''}"
    if column.kind in {"text", "identifier", "date"}:
        return f"{number} different, e.g. {_cut(next(iter(column.texts)), 20)}"
    return _cut(", ".join(column.values), _WIDE)


def _use(column: Column, feature: Feature | None, fields: Mapping[str, Any]) -> str:
    if column.label == fields.get("solution_label"):
        return "solution"
    if column.label == fields.get("outcome_label"):
        return "outcome"
    if feature is None:
        return "left out"
    if not feature.indexed:
        return "kept, not compared"
    return f"compared by {feature.similarity}"


def _cut(text: str, wide: int) -> str:
    return text if len(text) <= wide else text[: wide - 1] + "…"


def example_case(columns: Sequence[Column], case_type: CaseType, most: int = 6) -> str:
    """A situation in the words of ``--case``: of each feature a usual value."""
    by_label = {column.label: column for column in columns}
    return ",".join(_usual(by_label, case_type, most))


def _usual(by_label: dict[str, Column], case_type: CaseType, most: int) -> Iterator[str]:
    import shlex

    for feature in list(case_type.indexed)[:most]:
        column = by_label.get(feature.label or feature.name)
        if column is None:
            continue
        if feature.is_number:
            numbers = sorted(column.numbers)
            yield f"{feature.name}={numbers[len(numbers) // 2]:.4g}"
            continue
        value = column.texts.most_common(1)[0][0]
        if "," not in value and "=" not in value:
            yield (
                shlex.quote(f"{feature.name}={value}")
                if " " in value
                else f"{feature.name}={value}"
            )
