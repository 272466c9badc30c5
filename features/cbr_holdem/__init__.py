"""Texas Hold'em: cards, what hands are worth, the rules of the table, and a seat's situation.

    cards/       cards, sets of hands, and the evaluator
    strength/    what a hand is worth
    table/       the rules
    situation/   what the player to act knows, and the features that follow from it
    chance       random numbers that depend on their key alone
    info         what `cbr info` adds for a casebase of hold'em
    commands     `cbr odds` and `cbr tables`

Each folder lists its public names. Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import typer

    from cbr import Casebase, CaseType, Weights

# Plugins are searched for hooks with `dir`, which must list what stands here: no lazy `__dir__`.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_case_types() -> list[CaseType]:
    from cbr_holdem.situation.features import case_types

    return case_types()


@hook
def cbr_weights() -> list[Weights]:
    from cbr_holdem.situation.weights import SETS, casper_weights

    return [casper_weights(name) for name in SETS]


@hook
def cbr_info(casebase: Casebase) -> dict[str, Any] | None:
    from cbr_holdem.situation.features import BETTING

    if casebase.domain not in BETTING:
        return None
    from cbr_holdem.info import actions, players

    sat = players(casebase)
    return {"actions": actions(casebase), "players": sat, "Hands by player": sat}


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_holdem.commands import add

    add(app)
