"""Conversion of amounts of money in logs to whole chips and back, without floating point."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from cbr import BadValue

#: Most decimals of an amount: one unit of the currency has at most 10**6 chips.
MOST_PLACES = 6
_AMOUNT = re.compile(r"[+-]?(?=\.?[0-9])[0-9]{0,15}(?:\.[0-9]{0,30})?\Z")


def unit_for(amounts: Iterable[str], most: int = MOST_PLACES) -> int:
    """How many chips one unit of the currency has, so that all these amounts are whole chips.

    It depends on the decimals as written, trailing zeros included, so that the hands of one log
    mostly get the same unit.

    >>> unit_for(["5", "10"]), unit_for(["1.00", "2"]), unit_for(["0.5"]), unit_for(["0.125"])
    (1, 100, 100, 1000)
    """
    parts = [amount.partition(".")[2] for amount in amounts if "." in amount]
    places = max(map(len, parts), default=0)
    if places > most:
        places = max(len(part.rstrip("0")) for part in parts)
    if places > most:
        raise BadValue(f"an amount has {places} decimals; at most {most} can be read")
    return 10 ** max(2, places) if places else 1


@lru_cache(maxsize=1 << 16)
def chips(amount: str, unit: int = 1) -> int:
    """An amount in chips; one unit of the currency has `unit` chips.

    >>> chips("1.50", 100), chips("-0.25", 100), chips("20", 100)
    (150, -25, 2000)
    """
    if not _AMOUNT.match(amount):
        raise BadValue(f"{amount[:40]!r} is not an amount of money")
    whole, _, part = amount.partition(".")
    places = len(str(unit)) - 1
    if part[places:].strip("0"):
        raise BadValue(f"{amount} is not a whole number of chips, {unit} of which are 1")
    return int(whole + part[:places].ljust(places, "0"))


def money(amount: int, unit: int = 1) -> str:
    """Chips as an amount of the currency, with as many decimals as `unit` (a power of ten) has.

    >>> money(150, 100), money(-25, 100), money(20)
    ('1.50', '-0.25', '20')
    """
    if unit == 1:
        return str(amount)
    whole, part = divmod(abs(amount), unit)
    return f"{'-' if amount < 0 else ''}{whole}.{part:0{len(str(unit)) - 1}}"
