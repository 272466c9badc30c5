"""The CBR bot: a player that learned from logged games alone.

CASPER (Rubin 2007) as published, and an heir that mixes what was done with what it was worth. This
module is loaded by every command, so it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cbr import hook

if TYPE_CHECKING:
    import typer

    from cbr import Arena, ExtraFeature
    from cbr.evolve import Plan
    from cbr.reusing import ReusePolicy
    from cbr_arena import BotKind


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_casper.kinds import KINDS

    return KINDS


@hook
def cbr_features() -> Iterable[ExtraFeature]:
    from cbr_casper.feature_sets import descriptions

    return descriptions()


@hook
def cbr_reuse_policies() -> Iterable[ReusePolicy]:
    from cbr_casper.values.value_reuse import worth

    return [worth.__cbr__]  # type: ignore[attr-defined]


@hook
def cbr_arenas() -> Iterable[Arena]:
    from cbr_casper.evolution_arena import ARENA

    return [ARENA]


@hook
def cbr_plans() -> Iterable[Plan]:
    from cbr_casper.plans import PLANS

    return PLANS


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_casper.commands import add

    add(app)
