"""Texas Hold'em: cards, what hands are worth, the rules of the table, and a seat's situation.

This module is loaded by every command, so it imports nothing heavy: the kernel is compiled code,
in `cards` and `strength`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cbr import hook

if TYPE_CHECKING:
    import typer

    from cbr.case import CaseType
    from cbr.store import Casebase
    from cbr.weights import Weights


@hook
def cbr_case_types() -> list[CaseType]:
    from cbr_holdem.situation.case_types import case_types

    return case_types()


@hook
def cbr_weights() -> list[Weights]:
    from cbr_holdem.situation.weights import SETS, casper_weights

    return [casper_weights(name) for name in SETS]


@hook
def cbr_info(casebase: Casebase) -> dict[str, Any] | None:
    from cbr_holdem.situation.case_types import BETTING

    if casebase.domain not in BETTING:
        return None
    from cbr_holdem.info import actions, players

    sat = players(casebase)
    return {"actions": actions(casebase), "players": sat, "Hands by player": sat}


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_holdem.commands import add

    add(app)
