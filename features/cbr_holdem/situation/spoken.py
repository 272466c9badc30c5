"""Situations that a person describes: features from cards and amounts, and legal actions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cbr import BadValue, CaseType
from cbr.case import Value
from cbr_holdem.cards.numbering import cards
from cbr_holdem.situation.actions import legal_solutions
from cbr_holdem.situation.features import LIMIT
from cbr_holdem.table.game import STREETS, Game

#: Features that are above 0 where there is something to call.
_COSTS = ("to_call", "pot_odds", "call_share")
_CAP = Game().cap or math.inf
#: Casebases keep numbers to seven digits.
_ROUNDING = 1e-5

_BOARD = {"flop": 3, "turn": 4, "river": 5}


def derive(values: Mapping[str, Value], case_type: CaseType) -> dict[str, Value]:
    """Features computed from `hole` and `board`, and from amounts; in no-limit also the columns of
    amounts from which features are computed (any unit will do).

    Hand strength is against the players at the start of the round, less one: later folds are not
    given.
    """
    found: dict[str, Value] = {}
    if values.get("hole"):
        found |= _from_cards(values, case_type.stage)
    elif values.get("board"):
        raise BadValue("a board without hole cards gives no strength; give hole=... as well")
    if {"to_call", "pot"} <= values.keys():
        # In limit a bet is one small bet before and on the flop, two later.
        large = case_type.domain == LIMIT and case_type.stage in STREETS[2:]
        call = float(values["to_call"]) * (2.0 if large else 1.0)
        found["pot_odds"] = call / (call + float(values["pot"])) if call else 0.0
    if "stack" in values:
        found["effective"] = values["stack"]
    return found


def possible(values: Mapping[str, Value], case_type: CaseType) -> list[str]:
    """The solutions that are legal in a situation, as far as its features tell.

    They tell whether there is something to call. In limit they tell the bets of the round, of which
    there are at most four (`Game.cap`); in no-limit, whether a call is all that can be lost, so
    that nobody can raise.
    """
    costs = [float(values[name]) for name in _COSTS if name in values]
    free = np.array([not any(costs)] if costs else [True, False])
    raises = np.full(len(free), _may_raise(values, case_type.domain))
    preflop = case_type.stage == STREETS[0]
    legal = legal_solutions(case_type.solutions, free, raises, preflop)
    return [name for name, may in zip(case_type.solutions, legal.T, strict=True) if may.any()]


def _may_raise(values: Mapping[str, Value], domain: str) -> bool:
    if domain == LIMIT:
        bets = sum(float(values.get(name, 0.0)) for name in ("committed", "to_call"))
        return bets < _CAP - _ROUNDING
    return float(values.get("call_share", 0.0)) < 1.0 - _ROUNDING


def _from_cards(values: Mapping[str, Value], stage: str) -> dict[str, Value]:
    from cbr_holdem.cards.ranges import hand_class
    from cbr_holdem.strength.hand_strength import strength_of, verify_position
    from cbr_holdem.strength.preflop import RANKED

    hole = cards(str(values["hole"]), "hole")
    if len(hole) != 2 or hole[0] == hole[1]:
        raise BadValue(f"hole {values['hole']!r} must be two different cards, e.g. AhKs")
    if stage not in _BOARD:
        return {"hand_rank": float(RANKED.index(hand_class(*hole)) + 1)}
    if not values.get("board"):
        raise BadValue(f"a hand on the {stage} needs the board as well, e.g. board=Qh7d2c")
    board = cards(str(values["board"]), "board")
    if len(board) != _BOARD[stage]:
        raise BadValue(
            f"board {values['board']!r} has {len(board)} cards; on the {stage} there are "
            f"{_BOARD[stage]}"
        )
    verify_position(hole, board)
    strength = strength_of(hole, board)
    found: dict[str, Value] = {
        name: value
        for name, value in (("ppot", strength.ppot), ("npot", strength.npot))
        if not math.isnan(value)
    }
    if "players" in values:
        found["ihs"] = strength.ihs(max(1, round(float(values["players"])) - 1))
    return found
