"""Cases from logged hands: one case for every decision, by street."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue, Batch, CaseType, Situated
from cbr_holdem.cards.numbering import DECK, UNKNOWN, name
from cbr_holdem.situation.actions import ACTIONS, SIZES
from cbr_holdem.situation.features import BETTING, NO_LIMIT, NO_LIMIT_ACTIONS
from cbr_holdem.situation.replays import Replayed, replay_arrays
from cbr_holdem.situation.situations import Situations
from cbr_holdem.table.game import LIMIT, MOST_SEATS, POT_LIMIT, STREETS, UNKNOWN_STACK
from cbr_holdem.table.hand import players_in
from cbr_holdem.table.hand_arrays import HandArrays
from cbr_holdem.table.rake import ANY_RAKE, Rake


class Decisions(Situations):
    """Situations with three more columns as texts: the player, the hole cards and the board."""

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
    """The number of hands of each player."""
    return Counter(player for body in bodies for player in players_in(body))


def situate(
    bodies: Sequence[str],
    case_types: Sequence[CaseType],
    *,
    players: str | None = None,
    min_hands: int | None = None,
    variant: str | None = None,
    seats: str | None = None,
    rake: str | None = None,
    counted: Mapping[str, int] | None = None,
) -> Situated:
    """The decisions of logged hands, by street; the options are those of ``cbr build``.

    Without `rake`, results may contain any rake: hands of a casebase were judged when it was built.
    """
    wanted = _Wanted(case_types[0].domain, players, min_hands, variant, seats, counted or {})
    hands = HandArrays.read(bodies)
    hands, left_out, other = wanted.of(hands)
    played = replay_arrays(hands, rake=ANY_RAKE if rake is None else Rake.read(rake))
    names = np.full((len(bodies), MOST_SEATS), "", object)
    names[hands.place] = hands.players
    deep = np.zeros(len(bodies), bool)
    deep[hands.place] = (hands.stacks == UNKNOWN_STACK).any(axis=1)
    played.situations.forget_stacks(deep[played.hand])
    player = names[played.hand, played.situations.seat]
    chosen = wanted.decisions(player)
    batches = {}
    for case_type in case_types:
        street = STREETS.index(case_type.stage)
        here = np.flatnonzero((played.situations.street == street) & chosen)
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
    """The hands and decisions that the options of a build select."""

    def __init__(
        self,
        domain: str,
        players: str | None,
        min_hands: int | None,
        variant: str | None,
        seats: str | None,
        counted: Mapping[str, int],
    ) -> None:
        self.betting = BETTING[domain]
        self.players = {player for player in (players or "").split(",") if player}
        if players is not None and not self.players:
            raise BadValue("--players names nobody; give names with commas between them")
        if min_hands is not None and min_hands < 1:
            raise BadValue(f"--min-hands is {min_hands}; it must be 1 or more")
        self.min_hands, self.counted = min_hands or 0, counted
        self.filter_betting = variant is not None
        if variant is not None and variant != self.betting:
            if variant not in BETTING.values():
                raise BadValue(f"--variant is {variant!r}; it must be limit or nolimit")
            raise BadValue(f"--variant {variant} does not fit --type {domain}; give another --type")
        self.seats = _span(seats)
        self.filters = bool(players or min_hands or variant or seats)

    def of(self, hands: HandArrays) -> tuple[HandArrays, dict[int, str], dict[int, str]]:
        """The selected hands, and the reasons for those left out and those of other betting."""
        left_out: dict[int, str] = {}
        other: dict[int, str] = {}
        kinds = hands.terms[:, LIMIT] + 2 * hands.terms[:, POT_LIMIT]
        betting = np.array(["nolimit", "limit", "potlimit"])[kinds].tolist()
        keep = np.ones(len(hands.place), bool)
        if not self.filters and set(betting) <= {self.betting}:
            return hands, left_out, other
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
        domain = next((d for d, b in BETTING.items() if b == betting), "")
        build = f"; build those with --type {domain}" if domain else ""
        return f"a hand of {betting} betting, not {self.betting}{build}"

    def _excludes(self, betting: str, players: list[str]) -> str:
        """Why the options leave a hand out; an empty text if they do not."""
        if self.filter_betting and betting != self.betting:
            return "other betting than --variant asks for"
        if self.seats and len(players) not in self.seats:
            return "another number of players than --seats asks for"
        if self.players and not self.players.intersection(players):
            return "none of --players sits there"
        if self.min_hands and not any(self.counted.get(p, 0) >= self.min_hands for p in players):
            return "no player has as many hands as --min-hands asks for"
        return ""

    def decisions(self, player: NDArray[Any]) -> NDArray[np.bool_]:
        """Which decisions [n] are selected, by their players [n]."""
        chosen = np.ones(len(player), bool)
        if self.players:
            chosen &= np.isin(player, sorted(self.players))
        if self.min_hands:
            often = sorted(p for p, hands in self.counted.items() if hands >= self.min_hands)
            chosen &= np.isin(player, often)
        return chosen


def _span(seats: str | None) -> range | None:
    if seats is None:
        return None
    span = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", seats)
    low, high = (int(span[1]), int(span[2] or span[1])) if span else (0, 0)
    if not 2 <= low <= high <= MOST_SEATS:
        raise BadValue(
            f"--seats is {seats!r}; it must be from 2 to {MOST_SEATS}, or a span such as 2-6"
        )
    return range(low, high + 1)
