"""Compiled functions that write bytes and numbers into a buffer, for the fast readers."""

from __future__ import annotations

from typing import Any

from cbr.jit import njit

_MINUS, _ZERO = ord("-"), ord("0")


@njit
def put_bytes(given: Any, out: Any, at: Any) -> Any:
    """Write bytes; returns the position after them."""
    for i in range(len(given)):
        out[at + i] = given[i]
    return at + len(given)


@njit
def put_byte(sign: Any, out: Any, at: Any) -> Any:
    """Write one byte; returns the position after it."""
    out[at] = sign
    return at + 1


@njit
def put_whole(amount: Any, out: Any, at: Any) -> Any:
    """Write an integer in decimal; returns the position after it."""
    if amount < 0:
        out[at] = _MINUS
        at += 1
        amount = -amount
    size = 1
    rest = amount // 10
    while rest:
        size += 1
        rest //= 10
    for place in range(at + size - 1, at - 1, -1):
        out[place] = _ZERO + amount % 10
        amount //= 10
    return at + size
