"""The description of a table: its case type in a TOML or JSON file, to be edited by hand."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cbr.case import Feature, Number
from cbr.errors import BadJson, BadValue, CbrError, NoSuchName, one_line
from cbr.files.atomic import whole_file
from cbr.files.json_text import read_json_file
from cbr.tables.reading import TableOptions

#: Fields of a description, and the fields of a case type that they are.
_OF_TYPE = {
    "name": "name",
    "meaning": "meaning",
    "solution": "solution_label",
    "outcome": "outcome_label",
    "solutions": "solutions",
    "retrieval": "retrieval",
    "reuse": "reuse",
    "missing": "missing",
    "record": "record",
}
#: Fields that describe a number as the solution.
_OF_NUMBER = {"solution_range": "range", "solution_unit": "unit"}
#: Fields of a feature, in the order written.
_OF_FEATURE = (
    *("label", "meaning", "range", "unit", "values"),
    *("similarity", "weight", "indexed", "missing"),
)
_OF_FILE = ("delimiter", "encoding", "decimal", "na")
#: What the fields mean, for those who edit them.
_HEAD = """\
# How cbr reads and compares the rows of {source}. Edit it by hand, then:
#   cbr build {source} --case-type {file}
# `solution` is the column that is proposed; each [features.NAME] is a column that is kept.
# A number has a range (its scale), a category its values (in order, for similarity = "ordered");
# similarity names a measure, weight says how much the column counts, and a column with
# indexed = false is kept but not compared. `cbr plugins` lists measures and policies.
"""


def write_description(
    fields: Mapping[str, Any], path: Path, options: TableOptions | None, source: str
) -> None:
    """Write a description: JSON where the file's name ends in .json, else TOML."""
    text = described(fields, options, path.suffix.lower() == ".json", source, str(path))
    with whole_file(path) as part:
        part.write_text(text, "utf-8")


def described(
    fields: Mapping[str, Any],
    options: TableOptions | None = None,
    as_json: bool = False,
    source: str = "TABLE",
    file: str = "FILE.toml",
) -> str:
    """The description as text; `fields` are those of a case type, as `read_description` gives."""
    plain = plain_description(fields, options)
    if as_json:
        return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"
    return _HEAD.format(source=source, file=file) + "\n" + _toml(plain)


def plain_description(
    fields: Mapping[str, Any], options: TableOptions | None = None
) -> dict[str, Any]:
    """The description in plain values."""
    found: dict[str, Any] = {}
    for name, field in _OF_TYPE.items():
        value = fields.get(field)
        if value and (name, value) != ("record", "row"):
            found[name] = list(value) if isinstance(value, tuple) else value
    if fields.get("solution") is not None:
        for name, field in _OF_NUMBER.items():
            value = getattr(fields["solution"], field)
            if value:
                found[name] = list(value) if isinstance(value, tuple) else value
    if options is not None:
        given = {name: getattr(options, name) for name in _OF_FILE if getattr(options, name)}
        found |= {"file": given} if given else {}
    return found | {"features": {f.name: _fields(f) for f in fields["features"]}}


def _fields(feature: Feature) -> dict[str, Any]:
    """The fields of a feature that are not as by default."""
    usual = {f.name: f.default for f in dataclasses.fields(Feature)}
    found = {}
    for name in _OF_FEATURE:
        value = getattr(feature, name)
        if value != usual[name] or (name == "weight" and feature.indexed):
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def read_description(path: Path) -> tuple[dict[str, Any], TableOptions]:
    """The fields of a case type in a description, with `features` made, and how the file is read.

    They are arguments of `CaseType`; solutions may be missing, and are then found in the table.
    """
    plain = _read(path)
    try:
        return _checked(plain)
    except CbrError as error:
        raise BadValue(f"{path}: {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise BadValue(f"{path} does not describe a table: {one_line(error)}") from None


def _read(path: Path) -> Any:
    try:
        if path.suffix.lower() == ".json":
            return read_json_file(path, unique=True)
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BadValue(f"cannot read {path}: {error.strerror}") from None
    except (BadJson, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadValue(
            f"{path} is not {'JSON' if path.suffix == '.json' else 'TOML'}: {error}"
        ) from None


def _checked(plain: Any) -> tuple[dict[str, Any], TableOptions]:
    if not isinstance(plain, Mapping):
        raise BadValue("it must have fields with names")
    _verify_names("field", plain, [*_OF_TYPE, *_OF_NUMBER, "features", "file"])
    given = _table(plain, "file")
    _verify_names("field of [file]", given, _OF_FILE)
    features = [_feature(name, fields) for name, fields in _table(plain, "features").items()]
    fields = {field: plain[name] for name, field in _OF_TYPE.items() if name in plain}
    number = {field: plain[name] for name, field in _OF_NUMBER.items() if name in plain}
    if number:
        fields["solution"] = Number(**number)
    return fields | {"features": features}, TableOptions(**given)


def _table(plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = plain.get(name, {})
    if not isinstance(found, Mapping):
        raise BadValue(f"{name} must be a table of fields with names")
    return found


def _feature(name: str, fields: Any) -> Feature:
    if not isinstance(fields, Mapping):
        raise BadValue(f"features.{name} must be a table of fields with names")
    _verify_names(f"field of feature {name!r} named", fields, _OF_FEATURE)
    given = dict(fields)
    if "range" not in given and "values" not in given:
        given.setdefault("indexed", False)
    return Feature(name, **given)


def _verify_names(kind: str, given: Mapping[str, Any], known: Any) -> None:
    for name in given:
        if name not in known:
            raise NoSuchName(kind, name, known)


# --- TOML ---------------------------------------------------------------------------------------


def _toml(plain: Mapping[str, Any]) -> str:
    lines = [f"{name} = {_value(v)}" for name, v in plain.items() if not isinstance(v, Mapping)]
    if "file" in plain:
        lines += ["", "[file]", *(f"{name} = {_value(v)}" for name, v in plain["file"].items())]
    for name, fields in plain["features"].items():
        lines += ["", f"[features.{name}]"]
        lines += [f"{key} = {_value(value)}" for key, value in fields.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
