"""What a cell of a table means: numbers as people write them, dates, and missing values."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cbr.case import Feature

#: Cells that stand for nothing at all, in any column.
MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "?", "nil", "nat", "<na>"}
#: Cells that do so in a column of numbers.
NO_NUMBER = MISSING | {
    *("none", "missing", "unknown", "not available", "no data", "k.a.", "k. a.", "n. a.", "n.v."),
    *("-", "--", "---", "–", "—", ".", "...", "…", "*", "x", "inf", "-inf", "infinity"),
    *("#div/0!", "#value!", "#ref!", "#num!", "#name?"),
}

_GROUPED = re.compile(r"[-+]?\d{1,3}([, '\u00a0\u202f]\d{3})+(\.\d+)?\Z")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+|\d{1,3}([ '\u00a0\u202f]\d{3})+),\d+\Z")
_COMMA_EXPONENT = re.compile(r"[-+]?\d+,\d+[eE][-+]?\d+\Z")
_POINT_GROUPS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+\Z")
_WITH_UNIT = re.compile(
    r"([$€£¥₹]|USD|EUR|GBP|CHF|)\s*([-+]?[\d.,' \u00a0\u202f]*\d(?:[eE][-+]?\d+)?)\s*([^\d]{0,8})\Z"
)
_SPACES = re.compile(r"[, '\u00a0\u202f]")
_IN_GROUPS = re.compile(r"[. '\u00a0\u202f]")

#: Forms of dates that are recognised, by their name for the user.
DATE_FORMS = {
    "2024-12-31": ("%Y-%m-%d",),
    "2024-12-31 23:59": ("%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
    "2024/12/31": ("%Y/%m/%d",),
    "31.12.2024": ("%d.%m.%Y", "%d.%m.%y"),
    "31/12/2024": ("%d/%m/%Y", "%d/%m/%y"),
    "12/31/2024": ("%m/%d/%Y", "%m/%d/%y"),
    "31 Dec 2024": ("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y"),
    "Dec 31, 2024": ("%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
}


def is_missing(cell: object) -> bool:
    """Whether a cell holds nothing: empty, NaN, or one of the usual words for it.

    >>> is_missing(""), is_missing("NA"), is_missing(float("nan")), is_missing(0)
    (True, True, True, False)
    """
    if cell is None:
        return True
    if isinstance(cell, float):
        return math.isnan(cell)
    return isinstance(cell, str) and cell.strip().lower() in MISSING


def stands_for_nothing(cell: object, feature: Feature) -> bool:
    """Whether a cell is one of the words for a missing value, and not a value of the feature."""
    if not isinstance(cell, str) or feature.is_text or cell in feature.values:
        return False
    return cell.strip().lower() in (NO_NUMBER if feature.is_number else MISSING)


def number_in(cell: object) -> float | None:
    """The number that a cell holds; None if it holds none.

    Thousands may be grouped, and a currency or unit may stand beside it. A comma that can be
    nothing but a decimal mark is one; where 1,234 is 1.234, the comma is turned into a point when
    the table is read (`with_point`).

    >>> number_in("1,234.5"), number_in("$ 12"), number_in("7 %"), number_in("-3e2"), number_in("x")
    (1234.5, 12.0, 7.0, -300.0, None)
    >>> number_in("1,5"), number_in("1.234,50 EUR"), number_in("1,234"), number_in("1,2,3")
    (1.5, 1234.5, 1234.0, None)
    """
    if isinstance(cell, bool):
        return float(cell)
    if isinstance(cell, int | float):
        return _finite(cell)
    text = str(cell).strip()
    if "_" in text or not text:
        return None
    try:
        return _finite(float(text)) if text.isascii() else _grouped(text)
    except ValueError:
        return _grouped(text)


def _finite(number: float) -> float | None:
    try:
        number = float(number)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _grouped(text: str) -> float | None:
    """A number with groups of thousands, or with a unit beside it."""
    found = _WITH_UNIT.match(text)
    if found is None:
        return None
    digits = found[2].strip()
    if _GROUPED.match(digits):
        digits = _SPACES.sub("", digits)
    elif _COMMA.match(digits) or _COMMA_EXPONENT.match(digits):
        digits = with_point(digits)
    try:
        return _finite(float(digits)) if digits.isascii() else None
    except ValueError:
        return None


def unit_of(cell: str) -> str:
    """What stands beside the number in a cell.

    >>> unit_of("12 kg"), unit_of("$3"), unit_of("4")
    ('kg', '$', '')
    """
    found = _WITH_UNIT.match(cell.strip())
    return (found[1] or found[3]).strip() if found else ""


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number that must have a decimal comma, not groups of thousands.

    >>> has_decimal_comma("3,5"), has_decimal_comma("1.234,50"), has_decimal_comma("1,234")
    (True, True, False)
    """
    return bool(_COMMA.match(cell)) and not _GROUPED.match(cell)


def with_point(cell: str) -> str:
    """A number with a decimal comma, written with a point; any other cell unchanged.

    >>> with_point("1.234,5 kg"), with_point("3,5"), with_point("1.234"), with_point("a, b")
    ('1234.5 kg', '3.5', '1234', 'a, b')
    """
    found = _WITH_UNIT.match(cell)
    if found is None:
        return cell
    digits = found[2]
    if _COMMA.match(digits) or _COMMA_EXPONENT.match(digits):
        digits = _IN_GROUPS.sub("", digits).replace(",", ".")
    elif _POINT_GROUPS.match(digits):
        digits = digits.replace(".", "")
    return cell[: found.start(2)] + digits + cell[found.end(2) :]


def decimal_mark(cell: str) -> str:
    """The decimal mark that a number must have: a comma or a point; empty if it has none, or if
    what it has may also divide thousands.

    >>> decimal_mark("3,5 kg"), decimal_mark("3.5"), decimal_mark("1,234"), decimal_mark("1.234")
    (',', '.', '', '')
    """
    found = _WITH_UNIT.match(cell.strip())
    if found is None:
        return ""
    digits = found[2].strip()
    if has_decimal_comma(digits):
        return ","
    is_point = "." in digits and not _POINT_GROUPS.match(digits)
    return "." if is_point and number_in(cell) is not None else ""


def date_forms(cell: str) -> set[str]:
    """The forms of `DATE_FORMS` in which a cell is a date.

    >>> sorted(date_forms("03/04/2024")), sorted(date_forms("2024-02-30"))
    (['12/31/2024', '31/12/2024'], [])
    """
    text = cell.strip()
    if not 6 <= len(text) <= 30 or not any(sign.isdigit() for sign in text):
        return set()
    return {name for name, forms in DATE_FORMS.items() if any(_parsed(text, f) for f in forms)}


def _parsed(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()
    except ValueError:
        return None


def plain(cell: Any) -> Any:
    """A cell of a typed table (Parquet, a frame) as JSON can hold it."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else ""
    if hasattr(cell, "item") and getattr(cell, "shape", None) == ():  # numpy's scalars
        return plain(cell.item())
    if hasattr(cell, "isoformat"):
        return (
            ""
            if cell != cell
            else cell.isoformat(sep=" ")
            if isinstance(cell, datetime)
            else cell.isoformat()
        )
    text = str(cell)
    return "" if text in {"<NA>", "NaT"} else text
