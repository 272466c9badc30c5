"""The reader of all JSON that comes out of a file, with limits on its length and its depth.

Python's own reader follows nested lists until its stack ends, and where that is depends on who
calls it. Here a text is refused before it is parsed, so that the answer is always the same.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from cbr.errors import BadJson

#: The most characters of a JSON text.
MOST_CHARACTERS = 1 << 24
#: The most lists and objects inside one another.
DEEPEST = 64

_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: object, *, unique: bool = False) -> Any:
    """The value of a JSON text (`str`, or UTF-8 as `bytes`); with `unique` a name may stand only
    once in an object. Raises `BadJson` with the reason.

    >>> read_json('{"price": [1, 2]}')
    {'price': [1, 2]}
    >>> read_json("[" * 99)
    Traceback (most recent call last):
    cbr.errors.BadJson: more than 64 lists and objects are inside one another
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    if not isinstance(text, str):
        raise BadJson(f"it is {type(text).__name__}, not text")
    if len(text) > MOST_CHARACTERS:
        raise BadJson(f"it has more than {MOST_CHARACTERS:,} characters")
    if _is_deep(text):
        raise BadJson(f"more than {DEEPEST} lists and objects are inside one another")
    try:
        found = json.loads(text, object_pairs_hook=_once if unique else None)
        if _SURROGATE.search(text):  # half a character, which can be neither printed nor stored
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise BadJson("a text in it is not Unicode") from None
    except ValueError as error:
        raise BadJson(str(error)) from None
    return found


def read_json_file(path: Path, *, unique: bool = False) -> Any:
    """The value of a JSON file; raises `BadJson`, or `OSError` if it cannot be read."""
    with path.open("rb") as file:
        return read_json(file.read(4 * MOST_CHARACTERS + 1), unique=unique)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadJson("it is not UTF-8") from None


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    depth = 0
    for found in _BRACKET_OR_STRING.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        if depth > DEEPEST:
            return True
    return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An `object_pairs_hook` of JSON that refuses a name given twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice in one object")
    return found
