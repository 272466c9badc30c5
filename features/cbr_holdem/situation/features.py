"""Case types of hold'em: CASPER's four casebases for limit, and four like them for no-limit.

A case is one decision of one player, in the casebase of its street. Limit cases have CASPER's
features (table 3.3 before the flop, 3.4 after it), similarities and hand-picked weights. No-limit
cases describe amounts as shares of the pot and of the effective stack, and have the size of a bet
or raise in the solution (`b1/2`: half the pot, `rall-in`: the whole stack).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from cbr import BuildOption, CaseType, Feature, Situated
from cbr.case import Value
from cbr_holdem.situation.actions import ACTIONS, SIZES
from cbr_holdem.situation.weights import HAND_PICKED, casper_weights
from cbr_holdem.table.game import STREETS
from cbr_holdem.table.rake import USUAL_RAKE

LIMIT, NO_LIMIT = "holdem", "holdem-nolimit"
BETTING = {LIMIT: "limit", NO_LIMIT: "nolimit"}

#: Fold, check, call; and a bet or raise for each class of size.
NO_LIMIT_ACTIONS = (*ACTIONS[:3], *(a + size for a in ACTIONS[3:] for size in SIZES))

_NO_FOLDS = (
    "where a log shows cards only at a showdown, the cards of folded hands are unknown, and a "
    "player that learns from these cases alone never folds"
)

OPTIONS = (
    BuildOption("players", "Take only the decisions of these players: NAME,NAME,..."),
    BuildOption(
        "min_hands", "Take only players with this many hands or more.", type=int, survey=True
    ),
    BuildOption("variant", "Take only hands of limit or nolimit; the others are left out."),
    BuildOption("seats", "Take only hands with this number of players: 9, or 2-6."),
    BuildOption(
        "rake",
        "The most rake a logged result may contain: share of the pot, big blinds.",
        USUAL_RAKE,
        judges=True,
    ),
)


# --- features of a case -----------------------------------------------------------------------


def _limit_features(street: int) -> list[Feature]:
    """CASPER's features, with the weights that its author picked."""
    weights = casper_weights(HAND_PICKED).stages[STREETS[street]]
    features = [*_open_features(street), *_card_features(street)]
    return [dataclasses.replace(feature, weight=weights[feature.name]) for feature in features]


def _open_features(street: int) -> list[Feature]:
    """Public features: what everybody at the table knows."""
    first = street == 0
    features = [
        Feature(
            "players",
            "players dealt in" if first else "players at the start of the round",
            range=(1, 10),
            similarity="groups?cuts=3/5/8" if first else "linear",
        ),
        Feature(
            "position",
            "0 small blind to 1 button" if first else "0 first to 1 last to act",
            range=(0, 1),
        ),
    ]
    if not first:
        features.append(
            Feature(
                "previous_bets",
                "bets of the previous round",
                range=(0, 5),
                similarity="exponential?k=1",
            )
        )
    features += [
        Feature("players_in", "opponents who have acted and are in", range=(0, 9)),
        Feature("yet_to_act", "opponents who must still act", range=(0, 9)),
        Feature(
            "committed",
            "what we put in on this street",
            range=(0, 5),
            unit="bets",
            similarity="exponential?k=1",
        ),
        Feature(
            "to_call",
            "what it costs to stay in",
            range=(0, 5),
            unit="bets",
            similarity="exponential?k=4",
        ),
    ]
    if not first:
        features.append(Feature("pot", "in the pot", range=(0, 300), unit="small bets"))
    return [*features, Feature("pot_odds", "to call / (to call + pot)", range=(0, 0.5))]


def _card_features(street: int) -> list[Feature]:
    """Private features: what only the player who decides knows."""
    if street == 0:
        return [
            Feature(
                "hand_rank",
                "rank of the hand, 1 (aces) to 169",
                range=(1, 169),
                similarity="ranged-exponential?k=4",
                private=True,
            )
        ]
    features = [Feature("ihs", "chance to be ahead of all now", range=(0, 1), private=True)]
    if street < 3:
        features += [
            Feature(
                f"{sign}pot",
                meaning,
                range=(0, top),
                similarity="exponential?k=1",
                private=True,
            )
            for sign, meaning, top in (
                ("p", "chance to get ahead if behind", 0.4),
                ("n", "chance to fall behind if ahead", 0.3),
            )
        ]
    return features


def _no_limit_features(street: int) -> list[Feature]:
    """As for limit, with amounts as shares of the pot and of the effective stack, which are missing
    where the log does not tell the stacks."""
    common = {"players", "position", "previous_bets", "players_in", "yet_to_act"}
    as_in_limit = _limit_features(street)
    return [
        *(feature for feature in as_in_limit if feature.name in common),
        Feature(
            "bets", "bets of this round", range=(0, 5), similarity="exponential?k=1", weight=10
        ),
        Feature(
            "pot_odds",
            "to call / (to call + pot)",
            range=(0, 0.5),
            weight=(10, 20, 20, 40)[street],
        ),
        Feature(
            "call_share",
            "to call, as a share of what we can lose",
            range=(0, 1),
            weight=10,
            missing="ignore",
            compute=_call_share,
        ),
        Feature(
            "pot_share",
            "pot / (pot + what we can lose)",
            range=(0, 1),
            weight=10,
            missing="ignore",
            compute=_pot_share,
        ),
        Feature(
            "committed_share",
            "what we put in on this street, as a share of the pot",
            range=(0, 1),
            weight=5,
            compute=_committed_share,
        ),
        *(feature for feature in as_in_limit if feature.private),
    ]


def _call_share(situations: Mapping[str, Any]) -> Any:
    return np.minimum(1.0, situations["to_call"] / np.maximum(situations["effective"], 1e-9))


def _pot_share(situations: Mapping[str, Any]) -> Any:
    return situations["pot"] / (situations["pot"] + situations["effective"])


def _committed_share(situations: Mapping[str, Any]) -> Any:
    # Both are in big blinds: in no-limit that is the bet of every street, and the small bet.
    return situations["committed"] / situations["pot"]


#: What a user may say of a no-limit situation, in chips or in big blinds: the features are shares.
_AMOUNTS = tuple(
    Feature(name, meaning, range=(0, 1_000), indexed=False)
    for name, meaning in (
        ("to_call", "what it costs to stay in"),
        ("pot", "in the pot"),
        ("stack", "what we can lose from here on: the effective stack"),
        ("committed", "what we put in on this street"),
    )
)


def _kept(street: int) -> list[Feature]:
    """Features that are stored with a case and not compared."""
    features = [
        Feature("player", "who decided", indexed=False),
        Feature("hole", "the two cards", indexed=False, private=True),
    ]
    if street == 0:
        return [
            *features,
            Feature("off_button", "seats to the button", range=(0, 9), indexed=False),
        ]
    return [*features, Feature("board", "the cards that show", indexed=False)]


@cache
def case_types() -> tuple[CaseType, ...]:
    """The case types of both domains, one for each street."""
    described = (
        (LIMIT, "limit hold'em", "casper", _limit_features, ACTIONS),
        (NO_LIMIT, "no-limit hold'em", "shares", _no_limit_features, NO_LIMIT_ACTIONS),
    )
    return tuple(
        CaseType(
            f"{domain}/{street}",
            [*features(number), *_kept(number)],
            actions,
            meaning=f"a decision on the {street} in {what}",
            feature_set=feature_set,
            retrieval="threshold?above=0.97&cap=100&fallback=20",
            record="hand",
            situate=_situate,
            survey=_survey,
            options=OPTIONS,
            if_missing={"f": _NO_FOLDS},
            derive=_derive,
            possible=_possible,
            inputs=_AMOUNTS if domain == NO_LIMIT else (),
        )
        for domain, what, feature_set, features, actions in described
        for number, street in enumerate(STREETS)
    )


def _situate(bodies: Sequence[str], case_types: Sequence[CaseType], **options: Any) -> Situated:
    from cbr_holdem.situation.cases import situate  # slow to load, and rarely needed

    return situate(bodies, case_types, **options)


def _derive(values: Mapping[str, Value], case_type: CaseType) -> dict[str, Value]:
    from cbr_holdem.situation.spoken import derive

    return derive(values, case_type)


def _possible(values: Mapping[str, Value], case_type: CaseType) -> list[str]:
    from cbr_holdem.situation.spoken import possible

    return possible(values, case_type)


def _survey(bodies: Sequence[str]) -> Mapping[str, int]:
    from cbr_holdem.situation.cases import survey

    return survey(bodies)
