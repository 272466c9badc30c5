"""Specs: the notation for a name with parameters, ``exponential?k=4&span=10``.

Measures, policies and (in plugins) bots are all written this way, on the command line and in files.
A spec inside a spec uses ``;`` for ``&``: ``cbr:FILE.db?policy=threshold?above=0.9;cap=50``; or it
stands in parentheses, as it is written alone: ``switch:(loki?style=tight),(lag)?every=100``.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cbr.errors import BadJson, BadValue, NoSuchName
from cbr.files.json_text import read_json

Parameter = int | float | bool | str


@dataclass(frozen=True)
class Spec:
    """A name and its parameters.

    >>> Spec.parse("exponential?k=4")
    Spec(name='exponential', parameters={'k': 4})
    >>> str(Spec.parse("top?k=5"))
    'top?k=5'
    """

    name: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read ``name?key=value&key=value``; numbers and true/false get their types. What stands in
        parentheses is part of a name or value.

        >>> Spec.parse("switch:(loki?style=tight),(lag)?every=100")
        Spec(name='switch:(loki?style=tight),(lag)', parameters={'every': 100})
        """
        name, *more = split(text.strip(), "?")
        rest = "?".join(more)
        if not name:
            raise BadValue(f"{text!r} has no name; write NAME or NAME?key=value&key=value")
        parameters: dict[str, Parameter] = {}
        for pair in filter(None, split(rest, "&")):
            key, equals, value = pair.partition("=")
            if not equals or not key:
                raise BadValue(f"{pair!r} in {text!r} is not key=value")
            if key in parameters:
                raise BadValue(f"{key!r} is given twice in {text!r}")
            parameters[key] = _typed(value)
        return cls(name, parameters)

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return self.name + "?" + "&".join(f"{k}={_plain(v)}" for k, v in self.parameters.items())


def split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks of one character, except where these stand in parentheses;
    a parenthesis without a partner is a character like others.

    >>> split("(a,b),c", ","), split("(a,b", ",")
    (['(a,b)', 'c'], ['(a', 'b'])
    """
    partner = _partners(text)
    parts, begin, place = [], 0, 0
    while place < len(text):
        if text[place] == mark:
            parts.append(text[begin:place])
            begin = place + 1
        place = partner.get(place, place) + 1
    return [*parts, text[begin:]]


def _partners(text: str) -> dict[int, int]:
    """Where each parenthesis that is opened is closed."""
    opened: list[int] = []
    found: dict[int, int] = {}
    for place, character in enumerate(text):
        if character == "(":
            opened.append(place)
        elif character == ")" and opened:
            found[opened.pop()] = place
    return found


def nest(text: str) -> str:
    """A spec as it is written inside a parameter of another spec: ``;`` in place of ``&``.

    >>> nest("threshold?above=0.9&cap=50")
    'threshold?above=0.9;cap=50'
    >>> unnest("threshold?above=0.9;cap=50")
    'threshold?above=0.9&cap=50'
    """
    return ";".join(split(text, "&"))


def unnest(text: str) -> str:
    """The inverse of `nest`: a spec from a parameter of another one, as it is written alone. One in
    parentheses is that already."""
    inside = bare(text)
    return inside if inside != text else "&".join(split(text, ";"))


def bare(text: str) -> str:
    """A text without the parentheses around it, if there are any.

    >>> bare("(a),(b)"), bare("(triple:1,2,3)")
    ('(a),(b)', 'triple:1,2,3')
    """
    return text[1:-1] if text and _partners(text).get(0) == len(text) - 1 else text


def several(text: str) -> list[str]:
    """Specs that are separated by commas, each as it is written alone.

    >>> several("loki?style=tight;model=frequencies, (triple:0.2,0.5,0.3)")
    ['loki?style=tight&model=frequencies', 'triple:0.2,0.5,0.3']
    """
    return [unnest(part.strip()) for part in split(text, ",") if part.strip()]


def settle(function: Callable[..., Any], skip: int, spec: Spec) -> dict[str, Any]:
    """The parameters of a plugin's function after its first `skip` arguments: the defaults,
    overridden by those of the spec.

    >>> settle(lambda ranking, k=20: None, 1, Spec.parse("top?k=5"))
    {'k': 5}
    """
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    settled = {p.name: p.default for p in parameters}
    for name, value in spec.parameters.items():
        if name not in settled:
            raise NoSuchName(f"parameter of {spec.name!r} named", name, settled)
        default = settled[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(default, int | float) and not isinstance(default, bool) and not number:
            raise BadValue(f"{name} of {spec.name!r} is {value!r}, not a number")
        if isinstance(default, bool) and not isinstance(value, bool):
            raise BadValue(f"{name} of {spec.name!r} is {value!r}; it must be true or false")
        if isinstance(default, int) and isinstance(value, float) and not value.is_integer():
            raise BadValue(f"{name} of {spec.name!r} is {value}; it must be a whole number")
        if isinstance(value, float) and not math.isfinite(value):
            raise BadValue(f"{name} of {spec.name!r} is {value}; it must be finite")
        if isinstance(default, str) and not isinstance(value, str):
            value = _plain(value)  # a text parameter may look like a number
        settled[name] = value
    for name, value in settled.items():
        if value is inspect.Parameter.empty:
            raise BadValue(f"{spec.name!r} needs {name!r}: write {spec.name}?{name}=VALUE")
    return settled


def _typed(text: str) -> Parameter:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _plain(value: Parameter) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def pairs(text: str, what: str) -> dict[str, str]:
    """``"price=4000,fuel=diesel"`` as a dict of strings; `what` is named in errors.

    >>> pairs("price=4000, fuel=diesel", "--case")
    {'price': '4000', 'fuel': 'diesel'}

    A text with commas goes into a JSON object: ``{"note": "small, red"}``.
    """
    if text.lstrip().startswith("{"):
        return _json_pairs(text, what)
    found: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key:
            hint = "; write decimals with a point" if found and part.isdecimal() else ""
            raise BadValue(f"{part!r} in {what} is not NAME=VALUE{hint}")
        if key in found:
            raise BadValue(f"{key!r} is given twice in {what}")
        found[key] = value
    return found


def _json_pairs(text: str, what: str) -> dict[str, str]:
    try:
        given = read_json(text, unique=True)
    except BadJson as error:
        raise BadValue(f"{what} begins with {{ and is not JSON: {error}") from None
    for key, value in given.items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise BadValue(f"{key!r} in {what} is {json.dumps(value)}; give a number or a string")
    return {key: str(value) for key, value in given.items()}
