"""The hooks of the engine: everything that a plugin can add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import typer

    from cbr.case import CaseType, ExtraFeature
    from cbr.evolve.arena import Arena
    from cbr.evolve.plans import Plan
    from cbr.measure import Similarity
    from cbr.retrieval.index.base import IndexKind
    from cbr.retrieval.policies import RetrievalPolicy
    from cbr.reusing.policies import ReusePolicy
    from cbr.store.casebase import Casebase
    from cbr.store.records import CaseSource
    from cbr.weights import Weights

    Marked = Callable[..., Any]

spec = pluggy.HookspecMarker("cbr")
#: Marks a function of a plugin as the implementation of the hook it is named after.
hook = pluggy.HookimplMarker("cbr")


@spec
def cbr_features() -> Iterable[ExtraFeature | Marked]:  # type: ignore[empty-body]
    """Extra features of case types, which may replace one of their own."""


@spec
def cbr_case_types() -> Iterable[CaseType]:  # type: ignore[empty-body]
    """Case types: the stages of a domain."""


@spec
def cbr_case_sources() -> Iterable[CaseSource]:  # type: ignore[empty-body]
    """Readers that turn files into records for `cbr build`."""


@spec
def cbr_similarities() -> Iterable[Similarity | Marked]:  # type: ignore[empty-body]
    """Local similarity measures."""


@spec
def cbr_retrieval_policies() -> Iterable[RetrievalPolicy | Marked]:  # type: ignore[empty-body]
    """Rules for how much of a ranking is retrieved."""


@spec
def cbr_reuse_policies() -> Iterable[ReusePolicy | Marked]:  # type: ignore[empty-body]
    """Rules for what retrieved cases propose."""


@spec
def cbr_indices() -> Iterable[IndexKind]:  # type: ignore[empty-body]
    """Kinds of index that propose candidates for retrieval."""


@spec
def cbr_weights() -> Iterable[Weights]:  # type: ignore[empty-body]
    """Sets of feature weights by name."""


@spec
def cbr_arenas() -> Iterable[Arena]:  # type: ignore[empty-body]
    """Contests that score feature weights."""


@spec
def cbr_plans() -> Iterable[Plan]:  # type: ignore[empty-body]
    """Plans by which `cbr evolve` searches for weights."""


@spec
def cbr_commands(app: typer.Typer) -> None:
    """Commands of the plugin, added to the command line."""


@spec
def cbr_info(casebase: Casebase) -> Mapping[str, Any] | None:
    """Sections for `cbr info`: a title, and rows or values that JSON can hold."""


@spec
def cbr_check(casebase: Casebase) -> list[str] | None:
    """Findings for `cbr check`: a sentence for each thing that the plugin stored in a casebase and
    could not use."""


@spec
def cbr_starters() -> Mapping[str, tuple[str, str]]:  # type: ignore[empty-body]
    """Starters for `cbr plugins new`, by kind: the texts of a plugin and of its test."""


@spec
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str] | None:
    """Hook specs of the plugin's own, which other plugins implement; returns the kinds of objects
    that they register ("bot" for a hook `cbr_bots`)."""
