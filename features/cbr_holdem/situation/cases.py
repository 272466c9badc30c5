"""From logged hands to cases: CASPER's four casebases for limit, and their no-limit relatives.

A case is one decision of one player, in the casebase of its street. Limit cases have CASPER's
features (table 3.3 before the flop, 3.4 after it), similarities and hand-picked weights. No-limit
cases describe amounts as shares of the pot and of what can be lost, and have the size of a bet or
raise in the solution (`b1/2`: half the pot).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import Batch, BuildOption, CaseType, Feature, Situated
from cbr.errors import BadValue
from cbr_holdem.cards.card import DECK, UNKNOWN, name
from cbr_holdem.situation.replay import ACTIONS, Replayed, replay_arrays
from cbr_holdem.situation.situations import Situations
from cbr_holdem.situation.sizes import SIZES
from cbr_holdem.table.game import LIMIT as GAME_LIMIT
from cbr_holdem.table.game import MOST_SEATS, POT_LIMIT, STREETS
from cbr_holdem.table.hand_arrays import HandArrays

LIMIT, NO_LIMIT = "holdem", "holdem-nolimit"
_BETTING = {LIMIT: "limit", NO_LIMIT: "nolimit"}

#: Fold, check, call; and a bet or raise for each class of size.
NO_LIMIT_ACTIONS = (*ACTIONS[:3], *(a + size for a in ACTIONS[3:] for size in SIZES))

_NO_FOLDS = (
    "where a log shows cards only at a showdown, nobody knows the cards of those who folded, and a "
    "player that learns from these cases alone never folds"
)

OPTIONS = (
    BuildOption("players", "Take only the decisions of these players: NAME,NAME,..."),
    BuildOption(
        "min_hands", "Take only players with so many hands in the files.", type=int, survey=True
    ),
    BuildOption("variant", "Take only hands of limit or nolimit; the others are left out."),
    BuildOption("seats", "Take only hands with so many players: 9, or 2-6."),
)


# --- what cases look like ---------------------------------------------------------------------


def _limit_features(street: int) -> list[Feature]:
    """CASPER's features with the weights that its author picked (figure 4.1)."""
    first = street == 0
    weigh = _picker(street)
    features = [
        Feature(
            "players",
            "players dealt in" if first else "players at the start of the round",
            range=(1, 10),
            similarity="groups?cuts=3/5/8" if first else "linear",
            weight=5,
        ),
        Feature("position", "0 first to 1 last to act", range=(0, 1), weight=weigh(10, 10, 5, 5)),
    ]
    if not first:
        features.append(
            Feature(
                "previous_bets",
                "bets of the previous round",
                range=(0, 5),
                similarity="exponential?k=1",
                weight=5,
            )
        )
    features += [
        Feature(
            "players_in",
            "opponents who have acted and are in",
            range=(0, 9),
            weight=weigh(10, 5, 5, 5),
        ),
        Feature("yet_to_act", "opponents who must still act", range=(0, 9), weight=5),
        Feature(
            "committed",
            "what we put in on this street",
            range=(0, 5),
            unit="bets",
            similarity="exponential?k=1",
            weight=weigh(5, 10, 20, 10),
        ),
        Feature(
            "to_call",
            "what it costs to stay in",
            range=(0, 5),
            unit="bets",
            similarity="exponential?k=4",
            weight=weigh(10, 10, 20, 10),
        ),
    ]
    if not first:
        features.append(
            Feature(
                "pot", "in the pot", range=(0, 300), unit="small bets", weight=weigh(0, 5, 5, 15)
            )
        )
    features.append(
        Feature("pot_odds", "to call / (to call + pot)", range=(0, 0.5), weight=weigh(5, 5, 5, 40))
    )
    return features + _card_features(street)


def _card_features(street: int) -> list[Feature]:
    """What only the player who decides knows."""
    if street == 0:
        return [
            Feature(
                "hand_rank",
                "rank of the hand, 1 (aces) to 169",
                range=(1, 169),
                similarity="ranged-exponential?k=4",
                weight=50,
                private=True,
            )
        ]
    features = [
        Feature("ihs", "chance to be ahead of all now", range=(0, 1), weight=80, private=True)
    ]
    if street < 3:
        features += [
            Feature(
                f"{sign}pot",
                meaning,
                range=(0, top),
                similarity="exponential?k=1",
                weight=80,
                private=True,
            )
            for sign, meaning, top in (
                ("p", "chance to get ahead if behind", 0.4),
                ("n", "chance to fall behind if ahead", 0.3),
            )
        ]
    return features


def _no_limit_features(street: int) -> list[Feature]:
    """As for limit, with amounts as shares of the pot and of what can be lost."""
    weigh = _picker(street)
    features = [
        feature
        for feature in _limit_features(street)
        if feature.name in {"players", "position", "previous_bets", "players_in", "yet_to_act"}
    ]
    features += [
        Feature(
            "bets", "bets of this round", range=(0, 5), similarity="exponential?k=1", weight=10
        ),
        Feature(
            "pot_odds", "to call / (to call + pot)", range=(0, 0.5), weight=weigh(10, 20, 20, 40)
        ),
        Feature(
            "call_share",
            "to call, as a share of what we can lose",
            range=(0, 1),
            weight=10,
            compute=_call_share,
        ),
        Feature(
            "pot_share",
            "pot / (pot + what we can lose)",
            range=(0, 1),
            weight=10,
            compute=_pot_share,
        ),
        Feature(
            "committed_share",
            "what we put in on this street, as a share of the pot",
            range=(0, 1),
            weight=5,
            compute=_committed_share,
        ),
    ]
    return features + _card_features(street)


def _picker(street: int) -> Callable[..., float]:
    """Chooses this street's of four weights."""
    return lambda *weights: float(weights[street])


def _call_share(situations: Mapping[str, Any]) -> Any:
    return np.minimum(1.0, situations["to_call"] / np.maximum(situations["effective"], 1e-9))


def _pot_share(situations: Mapping[str, Any]) -> Any:
    return situations["pot"] / (situations["pot"] + situations["effective"])


def _committed_share(situations: Mapping[str, Any]) -> Any:
    # On a street of a no-limit game a bet is the big blind, as it is for the pot.
    return situations["committed"] / situations["pot"]


def _kept(street: int) -> list[Feature]:
    """What is kept with a case and not compared."""
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


def case_types() -> list[CaseType]:
    """The stages of both domains."""
    described = (
        (LIMIT, "limit hold'em", _limit_features, ACTIONS),
        (NO_LIMIT, "no-limit hold'em", _no_limit_features, NO_LIMIT_ACTIONS),
    )
    return [
        CaseType(
            f"{domain}/{street}",
            [*features(number), *_kept(number)],
            actions,
            meaning=f"a decision on the {street} in {what}",
            feature_set="casper",
            retrieval="threshold?above=0.97&cap=100&fallback=20",
            record="hand",
            situate=situate,
            survey=survey,
            options=OPTIONS,
            if_missing={"f": _NO_FOLDS},
        )
        for domain, what, features, actions in described
        for number, street in enumerate(STREETS)
    ]


# --- from hands to cases ----------------------------------------------------------------------


class Decisions(Situations):
    """Situations with whose they were and what was on the table, as texts."""

    def __init__(self, situations: Situations, player: NDArray[Any]) -> None:
        super().__init__(situations.place, situations.bets, situations.hole, situations.board)
        self.player = player

    def __iter__(self) -> Iterator[str]:
        return iter((*super().__iter__(), "player", "hole", "board"))

    def __contains__(self, name: object) -> bool:
        return name in {"player", "hole", "board"} or super().__contains__(name)

    def __getitem__(self, name: str) -> Any:
        if name == "player":
            return self.player
        if name == "hole":
            return _texts(self.hole)
        if name == "board":
            return _texts(self.board)
        return super().__getitem__(name)


_NAMES = np.array([*(name(card) for card in range(DECK)), ""], object)


def _texts(cards: NDArray[np.uint8]) -> NDArray[Any]:
    """Rows of cards as texts such as AhKs; cards that nobody saw are left out."""
    return _NAMES[np.minimum(cards, UNKNOWN)].sum(axis=1)


def survey(bodies: Sequence[str]) -> Counter[str]:
    """In how many hands each player sits."""
    return Counter(player for body in bodies for player in body.split("\t")[9:])


def situate(
    bodies: Sequence[str],
    case_types: Sequence[CaseType],
    *,
    players: str = "",
    min_hands: int = 0,
    variant: str = "",
    seats: str = "",
    counted: Mapping[str, int] | None = None,
) -> Situated:
    """The decisions of hands, by street; options as ``cbr build`` has them."""
    wanted = _Wanted(case_types[0].domain, players, min_hands, variant, seats, counted or {})
    hands = HandArrays.read(bodies)
    hands, left_out, other = wanted.of(hands)
    played = replay_arrays(hands)
    names = np.full((len(bodies), MOST_SEATS), "", object)
    names[hands.place] = hands.players
    player = names[played.hand, played.situations.place[:, 1]]
    chosen = wanted.decisions(player)
    batches = {}
    for case_type in case_types:
        street = STREETS.index(case_type.stage)
        here = np.flatnonzero((played.situations.place[:, 0] == street) & chosen)
        batches[case_type.stage] = _batch(played, here, player, case_type.domain)
    return Situated(batches, played.rejected | other, left_out)


def _batch(played: Replayed, here: NDArray[np.int64], player: NDArray[Any], domain: str) -> Batch:
    number = played.action[here]
    if domain == NO_LIMIT:
        sized = number + (number == 4) * (len(SIZES) - 1) + np.maximum(played.size[here], 0)
        solution = np.array(NO_LIMIT_ACTIONS, object)[sized]
    else:
        solution = np.array(ACTIONS, object)[number]
    return Batch(
        situations=Decisions(played.situations.take(here), player[here]),
        solution=solution.tolist(),
        outcome=played.outcome[here],
        record=played.hand[here],
        step=played.step[here],
    )


class _Wanted:
    """What the options of a build ask for."""

    def __init__(
        self,
        domain: str,
        players: str,
        min_hands: int,
        variant: str,
        seats: str,
        counted: Mapping[str, int],
    ) -> None:
        self.betting = _BETTING[domain]
        self.players = {player for player in players.split(",") if player}
        self.min_hands, self.counted = min_hands, counted
        self.filter_betting = bool(variant)
        if variant and variant != self.betting:
            if variant not in _BETTING.values():
                raise BadValue(f"--variant is {variant!r}; it must be limit or nolimit")
            raise BadValue(f"--variant {variant} goes with another --type than {domain}")
        self.seats = _span(seats)

    def of(self, hands: HandArrays) -> tuple[HandArrays, dict[int, str], dict[int, str]]:
        """The hands that are wanted; those left out and those of other betting, with reasons."""
        left_out: dict[int, str] = {}
        other: dict[int, str] = {}
        kinds = hands.terms[:, GAME_LIMIT] + 2 * hands.terms[:, POT_LIMIT]
        betting = np.array(["nolimit", "limit", "potlimit"])[kinds].tolist()
        keep = np.ones(len(hands.place), bool)
        for at, place in enumerate(hands.place.tolist()):
            reason = self._excludes(betting[at], hands.players[at, : hands.seats[at]].tolist())
            if reason:
                left_out[place] = reason
            elif betting[at] != self.betting:
                other[place] = self._other(betting[at])
            else:
                continue
            keep[at] = False
        return (hands if keep.all() else hands.taken(np.flatnonzero(keep))), left_out, other

    def _other(self, betting: str) -> str:
        domain = next((d for d, b in _BETTING.items() if b == betting), "")
        build = f"; build those with --type {domain}" if domain else ""
        return f"a hand of {betting} betting, not {self.betting}{build}"

    def _excludes(self, betting: str, players: list[str]) -> str:
        """Why the options leave a hand out; nothing if they do not."""
        if self.filter_betting and betting != self.betting:
            return "other betting than --variant asks for"
        if self.seats and len(players) not in self.seats:
            return "another number of players than --seats asks for"
        if self.players and not self.players.intersection(players):
            return "none of --players sits there"
        if self.min_hands and not any(self.counted.get(p, 0) >= self.min_hands for p in players):
            return "nobody with --min-hands sits there"
        return ""

    def decisions(self, player: NDArray[Any]) -> NDArray[np.bool_]:
        """Which decisions are wanted, by who took them."""
        chosen = np.ones(len(player), bool)
        if self.players:
            chosen &= np.isin(player, sorted(self.players))
        if self.min_hands:
            often = sorted(p for p, hands in self.counted.items() if hands >= self.min_hands)
            chosen &= np.isin(player, often)
        return chosen


def _span(seats: str) -> range | None:
    if not seats:
        return None
    low, _, high = seats.partition("-")
    if not low.isdecimal() or not (high or low).isdecimal() or int(high or low) < int(low):
        raise BadValue(f"--seats is {seats!r}; it must be a number or a span such as 2-6")
    return range(int(low), int(high or low) + 1)
