"""The case type that suits a table: which columns are compared, how, and which one is proposed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cbr.case import RESERVED, CaseType, Feature, Number
from cbr.checks import MOST_FEATURES, MOST_SOLUTIONS, unit_in, without_unit
from cbr.errors import BadValue, EmptyStage, NoSuchName
from cbr.tables import columns as kinds
from cbr.tables.columns import Column
from cbr.tables.reading import UNNAMED

#: Retrieval and reuse of a table, if nothing else is said. Measured in docs/results/tables.md.
#: A plane through the cases needs more of them than a vote.
RETRIEVAL, RETRIEVAL_NUMBER = "top?k=10", "top?k=30"
REUSE, REUSE_NUMBER = "similarity-weighted", "local-linear"
MISSING = "ignore"
#: A column of whole numbers with at most this many different ones, each of which stands in two
#: rows or more on average, holds classes, not amounts.
_CLASSES = 20
_COMPARED = {kinds.NUMBER, kinds.CATEGORY, kinds.ORDERED, kinds.BOOLEAN}
_WHY_NOT = {
    kinds.DATE: "no measure compares dates yet",
    kinds.IDENTIFIER: "it names the rows, being different in each",
    kinds.TEXT: "no measure compares free text yet",
    kinds.CONSTANT: "it is the same in all rows",
    kinds.EMPTY: "it is empty",
}


@dataclass(frozen=True)
class Proposed:
    """The fields of a case type for a table (arguments of `CaseType`), which has solutions only if
    a column was named for them; `notes` are for the user, `source` is what the table is called."""

    fields: Mapping[str, Any]
    notes: Sequence[str]
    source: str = "the table"

    @property
    def case_type(self) -> CaseType:
        count = len(self.fields["features"])
        if count > MOST_FEATURES:
            raise BadValue(
                f"{self.source} has {count:,} columns to compare by, and {MOST_FEATURES:,} are the "
                "most; write them to a file with `cbr describe --out FILE.toml`, leave some out "
                "there, and build with --case-type FILE.toml"
            )
        return CaseType(**self.fields)


def propose(
    columns: Mapping[str, Column],
    name: str,
    solution: str,
    outcome: str = "",
    *,
    source: str = "the table",
    taken: Collection[str] = (),
) -> Proposed:
    """The case type for a table whose column `solution` is to be proposed, if one is named.

    `solution` and `outcome` name columns by label or by the feature's name; `source` is how errors
    call the table, `taken` are names of case types that it may not have.
    """
    verify_table(columns, source)
    chosen = column_named(columns, solution, "--solution") if solution else None
    earned = column_named(columns, outcome, "--outcome") if outcome else None
    rest = [c for c in columns.values() if c is not chosen and c is not earned]
    names = feature_names([column.label for column in rest])
    features = [_feature(column, name) for column, name in zip(rest, names, strict=True)]
    if not any(feature.indexed for feature in features):  # numbers in order are better than nothing
        features = [_feature(column, name, True) for column, name in zip(rest, names, strict=True)]
    if not any(feature.indexed for feature in features):
        besides = f" beside {chosen.label!r}" if chosen else ""
        why = ", ".join(_why_not(column) for column in rest[:3])
        raise BadValue(f"{source} has no column to compare by{besides} ({why})")
    if earned is not None and not earned.is_number:
        raise BadValue(f"column {earned.label!r} is given as the outcome, but it is not of numbers")
    fields: dict[str, Any] = {"name": _type_name(name, taken)}
    if chosen is not None:
        fields |= {"solution_label": chosen.label, **solution_fields(chosen, source)}
    if earned is not None:
        fields["outcome_label"] = earned.label
    numeric = fields.get("solution") is not None
    fields["retrieval"] = RETRIEVAL_NUMBER if numeric else RETRIEVAL
    fields |= {"missing": MISSING, "features": features}
    kept = {feature.label or feature.name for feature in features if not feature.indexed}
    return Proposed(fields, list(_notes(columns.values(), chosen, kept)), source)


def verify_table(columns: Mapping[str, Column], source: str) -> None:
    """Raise if a table has no rows, a single one, or a single column."""
    rows = max((column.rows for column in columns.values()), default=0)
    if not rows:
        raise EmptyStage(f"{source} has no rows under its column names")
    if rows == 1:
        raise EmptyStage(f"{source} has one row; there must be two or more to compare")
    if len(columns) < 2:
        raise BadValue(
            f"{source} has one column, {next(iter(columns))!r}; if something else than a comma is "
            "between its cells, name that with --delimiter"
        )
    _verify_header(columns, source)


def _verify_header(columns: Mapping[str, Column], source: str) -> None:
    """Raise if the first line looks like a row, since the table has no names of columns then."""
    if all(re.fullmatch(r"[-+]?[\d.,]*\d([eE][-+]?\d+)?", label) for label in columns):
        raise BadValue(
            f"{source} begins with a row of numbers, not with names of columns; add a first line "
            "with names"
        )


def column_named(columns: Mapping[str, Column], name: str, option: str) -> Column:
    """The column of that label or feature name, in any case of letters."""
    if name in columns:
        return columns[name]
    for text in (str.lower, identifier, lambda label: identifier(without_unit(label))):
        same = [column for label, column in columns.items() if text(label) == text(name)]
        if len(same) == 1:
            return same[0]
    raise NoSuchName(f"column for {option} named", name, columns)


def candidates(columns: Mapping[str, Column]) -> list[Column]:
    """Columns that could be the solution, the likeliest first: few texts, then numbers."""
    fit = [c for c in columns.values() if c.kind in _COMPARED and _problem(c) == ""]

    def rank(column: Column) -> tuple[bool, bool, int]:
        amounts = column.kind == kinds.NUMBER and not _is_class(column)
        return amounts, column.kind == kinds.NUMBER, -list(columns).index(column.label)

    return sorted(fit, key=rank)


def feature_names(labels: Sequence[str]) -> list[str]:
    """A feature's name for each label of a column: lower-case letters, digits and _.

    A unit at the end goes, where the names stay different.

    >>> feature_names(["Sepal Length (cm)", "id", "2nd try", "Größe", "Preis (EUR)", "Preis (USD)"])
    ['sepal_length', 'id_', 'n2nd_try', 'groesse', 'preis_eur', 'preis_usd']
    """
    short = [identifier(without_unit(label)) for label in labels]
    long = [identifier(label) for label in labels]
    names = [s if short.count(s) == 1 else f for s, f in zip(short, long, strict=True)]
    found: list[str] = []
    used: set[str] = set()
    for name in names:
        stem, number = name, 2
        while name in used:
            name, number = f"{stem}_{number}", number + 1
        used.add(name)
        found.append(name)
    return found


def identifier(label: str) -> str:
    """A label as a name of a feature."""
    text = label.lower()
    for letter, plain in {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae"}.items():
        text = text.replace(letter, plain)
    text = text.replace("%", " percent ").replace("#", " number ")
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = re.sub(r"[^a-z0-9]+", "_", text).strip("_")[:70]
    if not text:
        text = "column"
    if not text[0].isalpha():
        text = f"n{text}"
    return f"{text}_" if text in RESERVED else text


def _type_name(name: str, taken: Collection[str]) -> str:
    text = identifier(name).rstrip("_")[:60]
    return f"{text}_table" if text in {*taken, "hidden", "new"} else text


def _feature(column: Column, name: str, numbers_rows: bool = False) -> Feature:
    """The feature of a column; with `numbers_rows` one that numbers the rows is compared too."""
    kind, label = column.kind, column.label
    if numbers_rows and kind == kinds.IDENTIFIER and column.is_number:
        kind = kinds.NUMBER
    about: dict[str, Any] = {"name": name, "label": label if label != name else ""}
    if kind == kinds.NUMBER:
        return Feature(range=column.span(), unit=_unit(column), **about)
    if kind in {kinds.CATEGORY, kinds.BOOLEAN}:
        return Feature(values=column.values, **about)
    if kind == kinds.ORDERED:
        return Feature(values=column.values, similarity="ordered", **about)
    return Feature(indexed=False, **about)


def _unit(column: Column) -> str:
    """The unit that the label or every cell names."""
    beside = column.units - {""}
    if beside:
        return next(iter(beside))
    return unit_in(column.label)


def _is_class(column: Column) -> bool:
    """Whether the values of a column of numbers are classes."""
    few = column.distinct <= min(_CLASSES, max(2, column.known // 2))
    return few and column.whole and not column.units - {""}


def _problem(column: Column) -> str:
    """Why a column cannot be the solution, as a clause; empty if it can."""
    if column.kind == kinds.EMPTY:
        return "is empty, so there is nothing to propose"
    if column.kind == kinds.CONSTANT:
        value = next(iter(column.texts))
        return f"is {value!r} in all rows, so there is nothing to propose"
    if column.is_number:
        return ""
    if words := _among_numbers(column):
        return f"is no column of numbers because of {words}; --na makes such words count as missing"
    if column.many or column.distinct > MOST_SOLUTIONS or column.distinct == column.known > 2:
        return (
            f"has a different text in nearly every row ({column.distinct:,} in {column.known:,} "
            "rows), so it names the rows and is no solution; choose another column"
        )
    return ""


def solution_fields(column: Column, source: str, reuse: str = "") -> dict[str, Any]:
    """The fields of a case type that tell its solutions: their values, or the range of numbers."""
    if problem := _problem(column):
        raise BadValue(f"column {column.label!r} of {source} {problem}")
    if column.is_number and not _is_class(column):
        number = Number((column.low, column.high), _unit(column))
        return {"solutions": (), "solution": number, "reuse": reuse or REUSE_NUMBER}
    return {"solutions": solutions_in(column), "solution": None, "reuse": reuse or REUSE}


def solutions_in(column: Column) -> tuple[str, ...]:
    """The solutions of a column of classes, in the order in which they are shown."""
    if column.is_number:
        from cbr.tables.cells import number_in

        words = [text for text in column.texts if number_in(text) is not None]
        return tuple(sorted(words, key=lambda text: (number_in(text), text)))
    return column.values


def _notes(
    columns: Iterable[Column], solution: Column | None, kept: Collection[str]
) -> Iterable[str]:
    """Sentences on what is not as one might expect."""
    for column in columns:
        kind = column.kind
        if column.label.startswith(UNNAMED):
            yield f"a column has no name and is called {column.label!r}"
        if column.label in kept:
            more = ""
            if kind == kinds.DATE and len(column.dates) > 0:
                more = _date_forms(column)
            yield f"{column.label!r} is kept but not compared: {_WHY_NOT[kind]}{more}"
        words = [word for word in column.missing if word] + list(column.odd)
        if words and column.is_number:
            yield f"{', '.join(map(repr, words))} in {column.label!r} counts as missing"
        yield from _about_cells(column)
    if solution is not None and solution.missing.total():
        number = solution.missing.total()
        rows = "row has" if number == 1 else "rows have"
        cases = "a case" if number == 1 else "cases"
        yield f"{number:,} {rows} no {solution.label!r} and cannot be {cases}"


def _why_not(column: Column) -> str:
    """Why a column is not compared, in a few words."""
    words = _among_numbers(column)
    reason = f"not all numbers, because of {words}" if words else _WHY_NOT.get(column.kind, "")
    return f"{column.label!r}: {reason}"


def _among_numbers(column: Column) -> str:
    """The texts because of which a column that is mostly numbers is none of numbers."""
    others = [text for text in column.not_numbers if text not in column.odd]
    count = sum(column.not_numbers[text] for text in others)
    if column.is_number or column.padded or not len(column.numbers) > count > 0:
        return ""
    return ", ".join(map(repr, others[:3])) + (" ..." if others[3:] else "")


def _about_cells(column: Column) -> Iterable[str]:
    """Sentences on numbers among texts, on different spellings, and on very long numbers."""
    label, kind = column.label, column.kind
    if kind in {kinds.CATEGORY, kinds.BOOLEAN, kinds.ORDERED}:
        for text, meant in column.spellings.items():
            yield f"{text!r} in {label!r} counts as {meant!r}"
    if words := _among_numbers(column):
        yield (
            f"{label!r} is no column of numbers because of {words}; --na makes such words count as "
            "missing"
        )
    if kind == kinds.NUMBER and column.loses_digits:
        yield f"numbers in {label!r} are compared by their first seven digits, so some are alike"


def _date_forms(column: Column) -> str:
    total = sum(column.texts.values())
    whole = [form for form, count in column.dates.items() if count >= total]
    if len(whole) == 1:
        return f" (dates such as {whole[0]})"
    if whole:
        return f" (dates that may be {' or '.join(whole)})"
    return f" (dates in several forms: {', '.join(sorted(column.dates))})"
