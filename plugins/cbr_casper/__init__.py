"""The CBR bot: it plays hold'em from cases of logged games.

options             its options: names, defaults, checks
bot                 CaseBot, in the arena's protocol
streets             retrieval and reuse for one street
solutions           which solutions are legal, and the actions they stand for
acting              from chances of solutions to actions
values/             values of actions: roll-outs, best responses, table models, labels
retention/          cases that it adds while it plays
explanation         a decision in words
feature_sets        features that CASPER's case lacks
evolution_arena     the arena of `cbr evolve`; `plans` has CASPER's genetic algorithms
kinds, commands, figures, row_cache   the bot by name, `cbr label`, figures of play, a cache

`style=casper` is CASPER as published (Rubin 2007). This module is loaded by every command, so it
imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import typer

    from cbr import Arena, Casebase, ExtraFeature
    from cbr.evolve import Plan
    from cbr_arena import BotKind
    from cbr_opponents import PlayerModelKind


# Not its __dir__: pluggy reads every name that dir() lists, which would import all modules.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_casper.kinds import KINDS

    return KINDS


@hook
def cbr_player_models() -> Iterable[PlayerModelKind]:
    from cbr_casper.kinds import LABELLED

    return [LABELLED]


@hook
def cbr_check(casebase: Casebase) -> list[str]:
    if not casebase.learned_names():
        return []
    from cbr_casper.values.table_models import findings

    return findings(casebase)


@hook
def cbr_features() -> Iterable[ExtraFeature]:
    from cbr_casper.feature_sets import extra_features

    return extra_features()


@hook
def cbr_reuse_policies() -> Iterable[Any]:
    from cbr_casper.values.value_reuse import worth

    return [worth]


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
