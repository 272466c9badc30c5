"""Reuse policies as plugins make them: named functions of retrieved cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from cbr.case import CaseType
from cbr.errors import BadValue
from cbr.marks import mark
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.plugging.policy import Policy
from cbr.spec import Spec

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class ReusePolicy(Policy):
    """Turns retrieved cases into a score for each solution of the case type, [s].

    Its argument is a `Retrieved`. A `batched` policy uses only attributes of `Evidence`, and so can
    score many targets at once, [q, s]. A policy `by_value` is also applied where no retrieved case
    has an allowed solution, if the value of an allowed one is known.

    A `numeric` policy is for solutions that are numbers: it turns a `NumbersNear` into the number
    expected for each target, [q].
    """

    batched: bool = False
    by_value: bool = False
    numeric: bool = False

    kind: ClassVar[str] = "reuse policy"


def reuse_policy(name: str, *, batched: bool = False, by_value: bool = False) -> Callable[[F], F]:
    """Make ``f(retrieved, **parameters) -> scores`` a reuse policy of this name."""

    return mark(lambda function: ReusePolicy(name, function, batched=batched, by_value=by_value))


def chosen_policy(case_type: CaseType, policy: str, plugins: Plugins | None = None) -> ReusePolicy:
    """The policy of a spec, or the default of the case type, if it fits its solutions."""
    spec = Spec.parse(policy or case_type.reuse)
    plugins = plugins or default_plugins()
    chosen: ReusePolicy = plugins.get("reuse policy", spec.name).bind(spec)
    if chosen.numeric != case_type.numeric:
        fitting = plugins.named("reuse policy").items()
        names = ", ".join(sorted(name for name, p in fitting if p.numeric == case_type.numeric))
        kind = "numbers" if case_type.numeric else "classes"
        raise BadValue(
            f"reuse policy {spec.name!r} does not fit: solutions of {case_type.name!r} are {kind}; "
            f"choose one of {names}"
        )
    return chosen
