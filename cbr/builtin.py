"""The engine's own parts, registered through the same hooks as those of any plugin.

Each hook imports its modules only when it is called, because every command loads this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cbr.plugging.hookspecs import hook

if TYPE_CHECKING:
    from cbr.evolve.arena import Arena
    from cbr.evolve.plans import Plan
    from cbr.retrieval.index.base import IndexKind
    from cbr.store.records import CaseSource


@hook
def cbr_case_sources() -> list[CaseSource]:
    from cbr.building.tables import TABLE

    return [TABLE]


@hook
def cbr_retrieval_policies() -> list[Callable[..., Any]]:
    from cbr.retrieval.policies import radius, threshold, top

    return [threshold, top, radius]


@hook
def cbr_reuse_policies() -> list[Callable[..., Any]]:
    from cbr.reusing import numbers
    from cbr.reusing import proposal as reuse

    return [
        reuse.proportional,
        reuse.majority,
        reuse.similarity_weighted,
        reuse.best_outcome,
        reuse.outcome_weighted,
        reuse.best_value,
        numbers.mean,
        numbers.median,
        numbers.local_linear,
    ]


@hook
def cbr_indices() -> list[IndexKind]:
    from cbr.retrieval.index.kinds import KINDS

    return list(KINDS)


@hook
def cbr_arenas() -> list[Arena]:
    from cbr.evolve.accuracy import ARENA

    return [ARENA]


@hook
def cbr_plans() -> list[Plan]:
    from cbr.evolve.plans import GENETIC, ROBUST

    return [ROBUST, GENETIC]
