"""Waterman's player (1968, 1970), after the lecture on poker programs: a production system.

Its structure is published. A state vector describes the decision: the value of our hand (VDHAND),
the pot (POT), the last bet (LASTBET), the probability that the opponent can be bluffed, the cards
he replaced, and how conservative he is. Interpretation rules name ranges of these values, for
example POT > 50 is BIGPOT. Action rules are tried in order; the first whose names all hold gives
the action and changes the vector. One of them is published, and is the first here. It was made for
five-card draw with two players, and learned its rules. Our choices, where nothing is published:

- All other rules, and the bounds of all names, which were tuned in matches (the unit of the
  original's 50 chips is unknown).
- VDHAND is the probability that no opponent has a better hand now: the hand's strength against one
  opponent (before the flop its percentile by equity) to the power of the number of opponents.
- POT and LASTBET are in small bets (big blinds in no-limit). LASTBET is the amount to call, POT the
  pot without it, so that a call makes it POT + 2 LASTBET as published. After a raise LASTBET is
  that raise. The changed vector is only a prediction: each decision starts from the actual table.
- Nobody replaces cards in hold'em. They were evidence of the opponent's hand; RAISED, the number of
  bets and raises of the others in this round, replaces them.
- BLUFF and STYLE are learned from earlier hands of the session, by opponent (`waterman_memory`).
- In no-limit games `size` is its bet size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.typing import Floats, Ints
from cbr_arena import CALL, FOLD, RAISE, Actions, Chance
from cbr_bots.sizes import size_of, verify_size
from cbr_bots.two_cards import standings
from cbr_bots.waterman_memory import MEMORY, learn, recall
from cbr_holdem.situation import Pending
from cbr_holdem.table import BET_SIZES

#: The columns of the state vector.
VARIABLES = ("VDHAND", "POT", "LASTBET", "BLUFF", "RAISED", "STYLE")
VDHAND, POT, LASTBET, BLUFF, RAISED, STYLE = range(len(VARIABLES))

_ANY = np.inf

#: Interpretation rules: a name holds where its variable is above the first bound and at most the
#: second.
NAMES = {
    "SUREWIN": (VDHAND, 0.85, _ANY),
    "GOODHAND": (VDHAND, 0.70, 0.85),
    "FAIRHAND": (VDHAND, 0.45, 0.70),
    "WEAKHAND": (VDHAND, 0.25, 0.45),
    "BIGPOT": (POT, 20.0, _ANY),
    "FAIRPOT": (POT, 3.0, _ANY),
    "NOBET": (LASTBET, -_ANY, 0.0),
    "POSITIVEBET": (LASTBET, 0.0, _ANY),
    "SMALLBET": (LASTBET, 0.0, 1.0),
    "BLUFFABLE": (BLUFF, 0.30, _ANY),
    "QUIET": (RAISED, -_ANY, 0.0),
    "RAISEDTWICE": (RAISED, 1.0, _ANY),
    "CONSERVATIVE": (STYLE, 0.80, _ANY),
    "BOLD": (STYLE, -_ANY, 0.65),
}


class Rule(NamedTuple):
    """An action rule: the names that must hold, separated by spaces, and the action."""

    when: str
    action: int


#: The action rules in order. The table turns a fold into a check where a check is free.
RULES = (
    Rule("SUREWIN BIGPOT POSITIVEBET", CALL),  # the published one
    Rule("SUREWIN", RAISE),
    Rule("GOODHAND NOBET", RAISE),
    Rule("GOODHAND QUIET", RAISE),
    Rule("GOODHAND RAISEDTWICE CONSERVATIVE", FOLD),
    Rule("GOODHAND BOLD SMALLBET", RAISE),
    Rule("GOODHAND", CALL),
    Rule("FAIRHAND NOBET", RAISE),
    Rule("FAIRHAND QUIET", CALL),
    Rule("FAIRHAND CONSERVATIVE", FOLD),
    Rule("FAIRHAND", CALL),
    Rule("NOBET BLUFFABLE", RAISE),
    Rule("WEAKHAND SMALLBET QUIET", CALL),
    Rule("WEAKHAND FAIRPOT BOLD", CALL),
    Rule("", FOLD),
)

_ORDER = tuple(NAMES)
_VARIABLE = np.array([NAMES[name][0] for name in _ORDER])
_ABOVE = np.array([NAMES[name][1] for name in _ORDER])
_UP_TO = np.array([NAMES[name][2] for name in _ORDER])
_NEEDS = np.array([[name in rule.when.split() for rule in RULES] for name in _ORDER], np.int64)
_ACTION = np.array([rule.action for rule in RULES])


def fire(vector: Floats) -> Ints:
    """The index in `RULES` of the first rule that matches each state vector [n, 6]."""
    value = vector[:, _VARIABLE]
    fails = (value <= _ABOVE) | (value > _UP_TO)
    found: Ints = (fails.astype(np.int64) @ _NEEDS == 0).argmax(axis=1)
    return found


def changed(vector: Floats, action: Ints, bet: Any) -> Floats:
    """State vectors [n, 6] after actions [n]; `bet` is the amount of a raise above the last bet.

    >>> vector = np.array([[0.95, 30.0, 2.0, 0.1, 1.0, 0.5]])
    >>> changed(vector, np.array([CALL]), 2.0)[0, [POT, LASTBET]].tolist()
    [34.0, 0.0]
    """
    after, pays = vector.copy(), action != FOLD
    after[pays, POT] += 2 * vector[pays, LASTBET]
    after[:, LASTBET] = np.select([action == CALL, action == RAISE], [0.0, bet], vector[:, LASTBET])
    return after


class Waterman:
    memory = MEMORY

    def __init__(self, size: str = "min") -> None:
        self.size = verify_size(size)
        self.before_flop = standings()

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
        action = _ACTION[fire(self.vector(situations, memory))]
        # An illegal raise becomes a call.
        action[(action == RAISE) & (situations.raise_to == 0)] = CALL
        return Actions(action, size_of(self.size, situations))

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        learn(tables, seats, memory["seen"])

    def vector(self, situations: Pending, memory: Any) -> Floats:
        """The state vectors of decisions, [n, 6]."""
        small = float(situations.game.terms[BET_SIZES])
        out = np.empty((situations.count, len(VARIABLES)))
        out[:, LASTBET] = situations.call / small
        out[:, POT] = (situations.chips - situations.call) / small
        opponents = recall(situations.seen(), memory["seen"], out[:, BLUFF:])
        out[:, VDHAND] = self.strength(situations) ** opponents
        return out

    def strength(self, situations: Pending) -> Floats:
        """The probability to have a better hand than one opponent now, [n]."""
        one, two = situations.hole.T
        found: Floats = self.before_flop[one, two]
        later = np.flatnonzero(situations.street > 0)
        if len(later):
            found[later] = situations.take(later).standing()
        return found
