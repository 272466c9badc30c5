"""Local similarity measures for categories; `equal` and `table` compare numbers too."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import cbr
from cbr import BadValue, Feature
from cbr_similarity.parameters import as_worth

#: ONE~OTHER:WORTH up to the next / or the end. A name may hold blanks, - and even /.
_PAIR = re.compile(r"\s*([^~]+?)\s*~\s*([^~]+?)\s*:\s*([-+.\w]+)\s*(?:/|\Z)")


@cbr.similarity("equal", falls=True)
def equal(a: object, b: object) -> float:
    """1 for the same value, else 0."""
    return 1.0 if a == b else 0.0


def _table(feature: Feature, pairs: object, otherwise: object) -> Mapping[str, Any]:
    text, at = str(pairs), 0
    found: dict[frozenset[Any], tuple[Any, Any, float]] = {}
    while at < len(text):
        match = _PAIR.match(text, at)
        if match is None:
            raise BadValue(f"pairs has {text[at:]!r}; write ONE~OTHER:WORTH/ONE~OTHER:WORTH")
        one, other = (_stored(feature, word) for word in match.group(1, 2))
        if one == other:
            raise BadValue(f"pairs has {one!r} twice in one pair; give two different values")
        if frozenset((one, other)) in found:
            raise BadValue(f"the pair {one}~{other} stands twice in pairs; give it in one order")
        worth = as_worth(f"the worth of {one}~{other}", match[3])
        found[frozenset((one, other))] = (one, other, worth)
        at = match.end()
    if not found:
        raise BadValue("pairs is empty; write ONE~OTHER:WORTH/ONE~OTHER:WORTH")
    return {"pairs": tuple(found.values()), "otherwise": as_worth("otherwise", otherwise)}


def _stored(feature: Feature, word: str) -> Any:
    """A word of a table as the feature's value; a number with 32 bits, as in arrays."""
    value = feature.read(word)
    return struct.unpack("f", struct.pack("f", value))[0] if feature.is_number else value


@cbr.similarity("table", prepare=_table)
def table(
    a: object, b: object, pairs: Sequence[tuple[Any, Any, float]], otherwise: float = 0.0
) -> float:
    """The similarity that `pairs` gives two different values, in any order; else `otherwise`.

    In a spec: ``table?pairs=red~pink:0.7/red~orange:0.5``.

    >>> colours = (("red", "pink", 0.7), ("red", "orange", 0.5))
    >>> table("pink", "red", pairs=colours), table("pink", "orange", pairs=colours)
    (0.7, 0.0)
    """
    if a == b:
        return 1.0
    for one, other, worth in pairs:
        if (a == one and b == other) or (a == other and b == one):
            return worth
    return otherwise


def _ordered(feature: Feature, order: object) -> Mapping[str, Any]:
    if feature.is_number:
        raise BadValue("it compares categories; for numbers there is linear")
    named = tuple(word.strip() for word in str(order).split("/")) if order != "" else feature.values
    for value in feature.values:
        if value not in named:
            raise BadValue(f"order does not have {value!r}; it must name every value")
    for word in named:
        if word not in feature.values or named.count(word) > 1:
            raise BadValue(f"order has {word!r}, which is not a value or stands there twice")
    return {"order": named}


@cbr.similarity("ordered", prepare=_ordered)
def ordered(a: object, b: object, order: Sequence[object] = "") -> float:
    """Linear in the distance of two words in an order: 0 between the first and the last.

    The order is that of the feature's values, or a spec's: ``ordered?order=low/mid/high``.

    >>> ordered("low", "mid", order=("low", "mid", "high"))
    0.5
    """
    return 1.0 - abs(order.index(a) - order.index(b)) / max(1, len(order) - 1)
