"""Texas Hold'em: cards, hand strength, the rules of the game, and features of decisions.

    cards/       cards, sets of hands, and the evaluator
    strength/    hand strength, potential and equity
    table/       the rules
    situation/   what the player to act sees, and the features computed from it
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
    from collections.abc import Sequence

    import typer

    from cbr import Casebase, CaseType, Weights

# The plugin manager finds hooks with `dir`; a lazy `__dir__` would list the public names only.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_case_types() -> Sequence[CaseType]:
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
