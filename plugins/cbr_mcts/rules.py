"""Rules of the search by name: which move of our own is tried next, and what a node is worth.

Authors write a plain function of numbers, which is compiled with numba when a search first uses it:

    @selection_rule("greedy")
    def greedy(value, variance, visits, all_visits, prior, c):
        "Tries each move once, then the best so far."
        return math.inf if visits == 0 else value

    @backup_rule("median")
    def median(visits, values, errors): ...

A selection rule scores a move, and the highest score is played: `value` is the mean reward of the
move, or of the node as long as the move has no `visits`; `variance` that of its rewards;
`all_visits` those of the node; `prior` a chance from 0 to 1; `c` the option of the search. Rewards
are scaled as the option `scale` says. A back-up rule gives the value of one of our own nodes from
its moves, of which those with `visits` above 0 count: backed-up `values`, and standard `errors`.

The search calls rules through pointers, so it is compiled once for all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, TypeVar

from cbr.errors import BadValue, NoSuchName, PluginFailure
from cbr.marks import mark
from cbr.plugging import default_plugins, one_line

F = TypeVar("F", bound=Callable[..., Any])
_SELECTION = "float64(float64, float64, float64, float64, float64, float64)"
_BACKUP = "float64(float64[::1], float64[::1], float64[::1])"
SELECTION_ARGUMENTS = ("value", "variance", "visits", "all_visits", "prior", "c")
BACKUP_ARGUMENTS = ("visits", "values", "errors")


@dataclass(frozen=True)
class SelectionRule:
    """A selection rule; `reads_prior` is true if it uses the prior, which costs time, and `c` is
    the default of that option."""

    name: str
    function: Callable[..., float]
    c: float = 1.0
    reads_prior: bool = False
    help: str = ""

    kind: ClassVar[str] = "search rule"

    @property
    def compiled(self) -> Any:
        return _compiled(self.function, _SELECTION, f"selection rule {self.name!r}")


@dataclass(frozen=True)
class BackupRule:
    """A back-up rule; `is_mean` is true of the mean, which the search need not call."""

    name: str
    function: Callable[..., float]
    is_mean: bool = False
    help: str = ""

    kind: ClassVar[str] = "search rule"

    @property
    def compiled(self) -> Any:
        return _compiled(self.function, _BACKUP, f"back-up rule {self.name!r}")


def selection_rule(
    name: str, *, c: float = 1.0, reads_prior: bool = False, help: str = ""
) -> Callable[[F], F]:
    """Mark a function as a selection rule."""

    def make(function: F) -> SelectionRule:
        _verify(function, SELECTION_ARGUMENTS, f"selection rule {name!r}")
        return SelectionRule(name, function, c, reads_prior, help or _summary(function))

    return mark(make)


def backup_rule(name: str, *, is_mean: bool = False, help: str = "") -> Callable[[F], F]:
    """Mark a function as a back-up rule."""

    def make(function: F) -> BackupRule:
        _verify(function, BACKUP_ARGUMENTS, f"back-up rule {name!r}")
        return BackupRule(name, function, is_mean, help or _summary(function))

    return mark(make)


R = TypeVar("R", SelectionRule, BackupRule)


def rule_named(name: str, role: type[R]) -> R:
    """The rule of a role by name."""
    rules = default_plugins().named("search rule")
    known = {one: rule for one, rule in rules.items() if isinstance(rule, role)}
    if name not in known:
        what = "selection rule" if role is SelectionRule else "back-up rule"
        raise NoSuchName(what, name, sorted(known))
    return known[name]


def _summary(function: Callable[..., Any]) -> str:
    return inspect.cleandoc(function.__doc__ or "").partition("\n")[0]


def _verify(function: Callable[..., Any], wanted: tuple[str, ...], whose: str) -> None:
    if tuple(inspect.signature(function).parameters) != wanted:
        raise BadValue(f"the function of {whose} must take ({', '.join(wanted)})")


@cache
def _compiled(function: Callable[..., float], signature: str, whose: str) -> Any:
    import numba

    try:
        make: Any = numba.cfunc  # whose types do not know a text as signature
        return make(signature, cache=_has_file(function), error_model="numpy")(function)
    except Exception as error:
        raise PluginFailure(f"{whose} cannot be compiled by numba: {one_line(error)}") from None


def _has_file(function: Callable[..., Any]) -> bool:
    """Whether the compiled function can be kept; one that was typed in has no file."""
    try:
        inspect.getsourcelines(function)
    except (OSError, TypeError):
        return False
    return True
