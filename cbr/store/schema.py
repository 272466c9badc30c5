"""The tables of a casebase, and the migrations of an older file to the current schema.

meta            domain, write_version, selection (the build options that selected the decisions)
stages          a row per stage: its case type as JSON, number of cases, digest
sources         a row per file (or other origin) that records came from
<record>s       the records themselves in a compact form (rows, hands ...)
skipped         records that could not be used, with source, line and reason
cases_<stage>   the cases: features (NULL where a feature that may be missing is), solution,
                outcome, and the record and step they came from
solution_values estimated values of solutions in cases; only if there are any
learned         arrays that a plugin learned from the cases; only if there are any
history         cases deleted or revised by hand: when, by whom, and as they were; only if any were
hidden          decisions whose private features are unknown, with their public features; only if
                a case type has private features
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlite_utils import Database, Migrations

from cbr.case import CaseType, Feature

#: Marks the file as a casebase ("CBRe" in ASCII), to tell it from other SQLite files.
APPLICATION_ID = 0x43425265
#: The number of migrations below; a file with a higher number was written by a later version.
SCHEMA_VERSION = 1

#: The table of decisions whose private features are unknown.
HIDDEN = "hidden"
#: The table of estimated values of each solution in a case.
VALUES = "solution_values"
#: The table of arrays that plugins learned.
LEARNED = "learned"
#: Before the name of a stage: its table while `cbr rebuild` writes it.
NEW = "new_"
#: The table of what was done to cases by hand.
HISTORY = "history"
#: Tables that are there only if something was written to them.
OPTIONAL = {VALUES, LEARNED, HISTORY}

MIGRATIONS = Migrations("cbr-casebase")


@MIGRATIONS(name="1: meta, stages, sources, skipped")
def _first(db: Database) -> None:
    db.table("meta").create({"key": str, "value": str}, pk="key", not_null={"value"})
    db.table("stages").create(
        {"stage": str, "position": int, "case_type": str, "cases": int, "digest": str},
        pk="stage",
        not_null={"case_type", "cases", "digest"},
    )
    sources = db.table("sources")
    sources.create({"id": int, "name": str, "reader": str}, pk="id", not_null={"name", "reader"})
    sources.create_index(["name"], unique=True)
    db.table("skipped").create(
        {"source": int, "ordinal": int, "line": int, "reason": str},
        pk=("source", "ordinal"),
        foreign_keys=[("source", "sources", "id")],
    )
    db.execute("PRAGMA user_version = 1")


def case_table(stage: str) -> str:
    return f"cases_{stage}"


def quoted(name: str) -> str:
    """A name as an identifier of SQL, whatever it contains. Not in double quotes: SQLite takes an
    unknown name in these for a string.

    >>> quoted("price"), quoted("a`b]")
    ('`price`', '`a``b]`')
    """
    return "`" + name.replace("`", "``") + "`"


def listed(names: Iterable[str]) -> str:
    """Names as a list of columns in SQL."""
    return ", ".join(map(quoted, names))


def layout(case_types: Sequence[CaseType]) -> dict[str, dict[str, str]]:
    """The tables of a casebase with their columns, and the kinds of values that each may hold, as
    SQLite's `typeof` names them."""
    number = "integer"
    tables = {
        "meta": {"key": "text", "value": "text"},
        "stages": {"stage": "text", "position": number, "case_type": "text", "cases": number}
        | {"digest": "text"},
        "sources": {"id": number, "name": "text", "reader": "text"},
        "skipped": {"source": number, "ordinal": number, "line": "integer null", "reason": "text"},
        case_types[0].record + "s": {"id": number, "source": number, "ordinal": number}
        | {"line": "integer null", "digest": "blob", "body": "text"},
        VALUES: {"stage": "text", "case_id": number, "solution": "text", "value": "real"}
        | {"error": "real null"},
        LEARNED: {"name": "text", "body": "blob"},
        HISTORY: {"id": number, "at": "text", "who": "text", "what": "text", "stage": "text"}
        | {"case_id": number, "before": "text", "note": "text"},
    }
    made = {"solution": "text", "outcome": "real null"}
    for case_type in case_types:
        kinds = {
            f.name: ("real" if f.is_number else "text") + " null" * bool(f.missing)
            for f in case_type.features
        }
        place = {"id": number, "record": "integer null", "step": number}
        solved = {"solution": "real"} if case_type.numeric else {}
        tables[case_table(case_type.stage)] = place | kinds | made | solved
    if has_hidden(case_types):
        seen = public_features(case_types).values()
        kinds = {f.name: "real null" if f.is_number else "text null" for f in seen}
        place = {"id": number, "stage": "text", "record": number, "step": number}
        tables[HIDDEN] = place | kinds | made
    return tables


def create(db: Database, case_types: Sequence[CaseType], selection: str = "") -> None:
    """Create the tables of a new casebase, in one transaction."""
    with db.atomic():
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        MIGRATIONS.apply(db)
        first = case_types[0]
        meta = {"domain": first.domain, "record": first.record, "write_version": "0"}
        meta["selection"] = selection
        db.table("meta").insert_all([{"key": k, "value": v} for k, v in meta.items()])
        _create_records(db, first.record + "s")
        for position, case_type in enumerate(case_types):
            create_cases(db, case_type, case_table(case_type.stage))
            row = {"stage": case_type.stage, "position": position, "cases": 0, "digest": ""}
            db.table("stages").insert(row | {"case_type": case_type.to_json()})
        if has_hidden(case_types):
            create_hidden(db, case_types, HIDDEN)


def _create_records(db: Database, table: str) -> None:
    db.table(table).create(
        {"id": int, "source": int, "ordinal": int, "line": int, "digest": bytes, "body": str},
        pk="id",
        not_null={"source", "ordinal", "digest", "body"},
        foreign_keys=[("source", "sources", "id")],
    )
    db.table(table).create_index(["source", "ordinal"], unique=True)


def has_hidden(case_types: Sequence[CaseType]) -> bool:
    return any(feature.private for case_type in case_types for feature in case_type.features)


def public_features(case_types: Sequence[CaseType]) -> dict[str, Feature]:
    """The public features of all stages together, which hidden decisions have."""
    return {f.name: f for case_type in case_types for f in case_type.features if not f.private}


def create_hidden(db: Database, case_types: Sequence[CaseType], table: str) -> None:
    """Create the empty table of hidden decisions, under the name given."""
    columns: dict[str, type] = {"id": int, "stage": str, "record": int, "step": int}
    features = public_features(case_types).values()
    columns |= {f.name: float if f.is_number else str for f in features}
    columns |= {"solution": str, "outcome": float}
    db.table(table).create(
        columns,
        pk="id",
        not_null={"stage", "record", "step", "solution"},
        foreign_keys=[("record", case_types[0].record + "s", "id")],
    )


def create_values(db: Database) -> None:
    """Create the table of solution values, if it does not exist: most casebases have none."""
    db.table(VALUES).create(
        {"stage": str, "case_id": int, "solution": str, "value": float, "error": float},
        pk=("stage", "case_id", "solution"),
        not_null={"value"},
        if_not_exists=True,
    )


def create_learned(db: Database) -> None:
    """Create the table of learned arrays, if it does not exist."""
    db.table(LEARNED).create(
        {"name": str, "body": bytes}, pk="name", not_null={"body"}, if_not_exists=True
    )


def create_history(db: Database) -> None:
    """Create the table of changes made by hand, if it does not exist."""
    texts = ("at", "who", "what", "stage", "before", "note")
    db.table(HISTORY).create(
        {"id": int, "case_id": int, **dict.fromkeys(texts, str)},
        pk="id",
        not_null={"case_id", *texts},
        if_not_exists=True,
    )


def create_cases(db: Database, case_type: CaseType, table: str) -> None:
    """Create the empty table of one stage, under the name given."""
    columns: dict[str, type] = {"id": int, "record": int, "step": int}
    columns |= {f.name: float if f.is_number else str for f in case_type.features}
    columns |= {"solution": float if case_type.numeric else str, "outcome": float}
    db.table(table).create(
        columns,
        pk="id",
        not_null={f.name for f in case_type.features if not f.missing} | {"solution"},
        foreign_keys=[("record", case_type.record + "s", "id")],
    )
