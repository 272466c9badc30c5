"""CASPER's three sets of weights for limit hold'em, by street and feature.

The first set, picked by CASPER's author (figure 4.1), is also the default of the case types.
"""

from __future__ import annotations

from cbr import Weights

HAND_PICKED, GENERAL, OPPONENT = "hand-picked", "general", "opponent"
#: How each set was made.
SETS = {
    HAND_PICKED: "CASPER's author, by hand",
    GENERAL: "CASPER, evolved by self-play: 100 generations, 500,000 hands",
    OPPONENT: "CASPER, evolved against Pokibots: 65 generations, 325,000 hands",
}

#: Feature, and for each street the three weights in the order of `SETS`.
_FIGURES = """
                preflop     flop       turn       river
players         5/15/97     5/9/71     5/26/46    5/38/36
position        10/61/62    10/23/56   5/14/1     5/1/7
previous_bets   -           5/62/32    5/22/73    5/55/6
players_in      10/54/82    5/45/93    5/15/22    5/37/4
yet_to_act      5/62/78     5/54/53    5/16/41    5/6/79
committed       5/53/49     10/82/5    20/55/55   10/98/94
to_call         10/83/3     10/70/34   20/7/100   10/99/98
pot             -           5/52/85    5/35/93    15/1/55
pot_odds        5/93/42     5/39/3     5/32/27    40/26/52
hand_rank       50/94/73    -          -          -
ihs             -           80/99/39   80/96/32   80/98/69
ppot            -           80/74/45   80/72/33   -
npot            -           80/51/18   80/71/13   -
"""


def casper_weights(name: str) -> Weights:
    """One of the sets, by its name.

    >>> casper_weights("general").stages["river"]["ihs"]
    98.0
    """
    place = list(SETS).index(name)
    streets, *rows = (line.split() for line in _FIGURES.strip().splitlines())
    stages: dict[str, dict[str, float]] = {street: {} for street in streets}
    for feature, *figures in rows:
        for street, three in zip(streets, figures, strict=True):
            if three != "-":
                stages[street][feature] = float(three.split("/")[place])
    return Weights(stages, "holdem", {"made_by": SETS[name]}, called=name)
