"""Waterman's player (1968, 1970), as the lecture on poker programs has it: a production system.

Published is its shape. A state vector describes the moment: the value of our hand (VDHAND), the pot
(POT), the last bet (LASTBET), the chance that the opponent can be bluffed, the cards he replaced,
and how conservative he is. Interpretation rules name ranges of these values, as POT > 50 is BIGPOT.
Action rules are asked in order; the first whose names all hold gives the action and changes the
vector. One of them is published, and is the first here. It was made for five-card draw with two
players, and learned its rules. Our choices, where nothing is published:

- All other rules, and the bounds of all names, which were set by matches (the original's 50 chips
  have no unit that we know).
- VDHAND is the chance that nobody who is still in has a better hand now: the hand's strength
  against one opponent, or before the flop the share of the hands that win less often than ours, to
  the power of the number of opponents.
- POT and LASTBET are in small bets (big blinds in no-limit). LASTBET is what we have to pay, POT
  what was there without it, so that a call makes it POT + 2 LASTBET as published. After a raise
  LASTBET is that raise. The changed vector is what the player expects to see; what is on the table
  is read anew for each decision.
- Nobody replaces cards in hold'em. What they tell is what the opponent may hold, and RAISED stands
  for that: the bets and raises of the others in this round.
- BLUFF and STYLE are learned from earlier hands of the session, by opponent (`waterman_memory`).
- In no-limit games a bet is that of `size`.
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

#: The state vector, a column for each.
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
    """An action rule: the names that must hold, and what is done then."""

    when: str
    action: int


#: The action rules in their order. Nobody folds where a check is free: the table checks for him.
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
    """The first rule that matches each state vector [n, 6], as its place in `RULES`."""
    value = vector[:, _VARIABLE]
    fails = (value <= _ABOVE) | (value > _UP_TO)
    found: Ints = (fails.astype(np.int64) @ _NEEDS == 0).argmax(axis=1)
    return found


def changed(vector: Floats, action: Ints, bet: Any) -> Floats:
    """State vectors [n, 6] after actions [n]; `bet` is what a raise is above the last bet.

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
        # What may not be raised is called.
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
        """The chance to have a better hand than one opponent now, [n]."""
        one, two = situations.hole.T
        found: Floats = self.before_flop[one, two]
        later = np.flatnonzero(situations.street > 0)
        if len(later):
            found[later] = situations.take(later).standing()
        return found
