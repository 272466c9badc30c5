"""Decisions of logged hands as compact columns: what models of players are fitted to and tested on.

Hands are taken in the order of the log, so that the profile of a player at a decision has what was
seen of it in earlier hands, and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue, EmptyStage
from cbr.jit import njit
from cbr.store import Casebase
from cbr.typing import Floats, Ints, Progress
from cbr_holdem.cards import DECK
from cbr_holdem.situation import BETTING
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    HOLE,
    MOST_SEATS,
    MOVES,
    RAISE,
    STREET,
    raise_limits,
    to_call,
)
from cbr_opponents.abstraction import (
    CLASSES,
    CONTEXTS,
    RAISE_SIZES,
    context_given_raiser,
    hand_class,
    last_to_raise,
    packed_strength,
)
from cbr_opponents.decision_features import decision_features
from cbr_opponents.logged_hands import BATCH, logged_moves, replay_decisions
from cbr_opponents.opponent_model import COLUMNS
from cbr_opponents.profiles import (
    IN_HAND,
    PROFILE,
    SEEN,
    count_move,
    end_hand,
    player_features,
    profile_features,
    situation_of,
    usual_counts,
)

#: Hands from which the usual rates of players are taken, before all others.
_FIRST = 10_000


@dataclass(frozen=True, eq=False)
class Observed:
    """n decisions of players, in the order of the log.

    `place` [n, 2] is street and context, `hand_class` [n] the class of the hand (-1 where the cards
    are unknown), `features` [n, COLUMNS] what trees split on. `move` [n] is the move of the
    abstraction, `facing` [n] whether there was something to call, `may_raise` [n] whether a raise
    was legal. `player` [n] is a place in `names`, `hand` [n] the number of the record. `moves` is
    the number of moves of the game, and `stranger` [PROFILE] the profile of a player never seen.
    `usual` [SEEN] are the counts of the average player, which profiles are shrunk towards.
    """

    place: NDArray[np.int64]
    hand_class: NDArray[np.int64]
    features: NDArray[np.uint8]
    move: NDArray[np.int64]
    facing: NDArray[np.bool_]
    may_raise: NDArray[np.bool_]
    player: NDArray[np.int64]
    hand: NDArray[np.int64]
    names: Sequence[str]
    moves: int
    stranger: NDArray[np.uint8]
    usual: Floats | None = None

    def __len__(self) -> int:
        return len(self.move)

    def take(self, places: NDArray[Any]) -> Observed:
        """The decisions at these places, or where a mask is true."""
        columns = {name: getattr(self, name)[places] for name in _COLUMNS}
        return dataclasses.replace(self, **columns)

    @classmethod
    def joined(cls, parts: Sequence[Observed]) -> Observed:
        """The decisions of several parts of one log, one after the other."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS
        }
        return dataclasses.replace(parts[0], **columns)

    @property
    def kind(self) -> Ints:
        """FOLD, CALL or RAISE, [n]."""
        return np.minimum(self.move, RAISE)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether the cards are known, [n]."""
        return self.hand_class >= 0


#: The columns of `Observed` with a value for each decision.
_COLUMNS = ("place", "hand_class", "features", "move", "facing", "may_raise", "player", "hand")


def observe(base: Casebase, progress: Progress | None = None) -> Observed:
    """All decisions in the records of a casebase of hold'em."""
    if base.domain not in BETTING:
        raise BadValue(f"{base.path} is a casebase of {base.domain!r}, not of hold'em")
    moves = RAISE + len(RAISE_SIZES[BETTING[base.domain]])
    total, log = base.count_records(), _Log()
    parts: list[Observed] = []
    done = 0
    for numbers, bodies in base.read_records(BATCH):
        if not done:
            log.start(_usual(base))
        parts.append(log.read(numbers, bodies, moves))
        done += len(numbers)
        if progress:
            progress(done, total, done)
    if not any(len(part) for part in parts):
        raise EmptyStage(f"{base.path} has no hands; build some into it with `cbr build`")
    return dataclasses.replace(Observed.joined(parts), names=list(log.players), usual=log.usual)


def _usual(base: Casebase) -> Floats:
    """The counts of the average player of the first hands, for one hand."""
    log, done = _Log(), 0
    for numbers, bodies in base.read_records(BATCH):
        log.read(numbers, bodies, RAISE + 1)
        done += len(numbers)
        if done >= _FIRST:
            break
    return usual_counts(log.seen.sum(axis=0))


class _Log:
    """What was seen of each player so far."""

    def __init__(self) -> None:
        self.players: dict[str, int] = {}
        self.seen = np.zeros((64, SEEN))
        self.start(usual_counts(np.ones(SEEN)))

    def start(self, usual: Floats) -> None:
        self.usual = usual
        self.stranger = np.zeros(PROFILE, np.uint8)
        profile_features(np.zeros(SEEN), usual, self.stranger)

    def read(self, numbers: Sequence[int], bodies: Sequence[str], moves: int) -> Observed:
        """The decisions of some hands, which then count as seen."""
        played, terms, names = replay_decisions(bodies)
        assert played.tables is not None
        player = np.array(
            [self.players.setdefault(name, len(self.players)) for name in names], np.int64
        )
        if len(self.players) > len(self.seen):
            more = np.zeros((2 * len(self.players) - len(self.seen), SEEN))
            self.seen = np.concatenate([self.seen, more])
        count = len(player)
        place = np.empty((count, 2), np.int64)
        held = np.full(count, -1, np.int64)
        features = np.zeros((count, COLUMNS), np.uint8)
        free = np.zeros((2, count), np.bool_)
        size = np.maximum(played.size, 0).astype(np.float64)
        kind = np.minimum(logged_moves(played, RAISE + 1), RAISE)
        _describe(
            played.tables,
            terms,
            (player, kind, size),
            (self.seen, self.usual),
            (place, held, features, free),
        )
        hand = np.array(numbers, np.int64)[played.hand]
        made = logged_moves(played, moves)
        return Observed(
            place, held, features, made, free[0], free[1], player, hand, [], moves, self.stranger
        )


@njit
def _describe(tables: Any, terms: Any, done: Any, seen: Any, out: Any) -> None:
    """Fill the columns of decisions, hand after hand, and count each hand after its decisions."""
    player, kind, size = done
    counts, usual = seen
    place, held, features, free = out
    hole, board, ranks = np.empty(2, np.uint8), np.empty(5, np.uint8), np.empty(3, np.int64)
    profile = np.zeros((MOST_SEATS, PROFILE), np.uint8)
    fresh = np.zeros(MOST_SEATS, np.bool_)
    in_hand = np.zeros((MOST_SEATS, IN_HAND))
    situation = np.empty(len(tables), np.int64)
    who = np.zeros(MOST_SEATS, np.int64)
    first = 0
    for i in range(len(tables)):
        r, seat = tables[i], tables[i, ACTOR]
        street, raiser = r[STREET], last_to_raise(r)
        place[i, 0], place[i, 1] = street, context_given_raiser(r, terms[i], raiser)
        for card in range(2):
            hole[card] = r[HOLE + 2 * seat + card]
        strength = np.int64(-1)
        if hole[0] < DECK and hole[1] < DECK:
            for card in range(5):
                board[card] = r[BOARD + card]
            strength = packed_strength(hole, board, BOARD_CARDS[street], ranks)
            held[i] = hand_class(street, strength)
        decision_features(r, terms[i], raiser, strength, features[i])
        if not fresh[seat]:
            who[seat], fresh[seat] = player[i], True
            profile_features(counts[player[i]], usual, profile[seat])
        situation[i] = situation_of(r, features[i])
        player_features(profile, seat, raiser, situation[i], features[i])
        free[0, i] = to_call(r) > 0
        free[1, i] = raise_limits(r, terms[i])[1] > 0
        if i + 1 == len(tables) or tables[i + 1, MOVES] == 0:
            for j in range(first, i + 1):
                at = tables[j, ACTOR]
                mine = counts[player[j]]
                count_move(mine, in_hand[at], tables[j], situation[j], kind[j], size[j])
            for at in range(MOST_SEATS):
                if fresh[at]:
                    end_hand(counts[who[at]], in_hand[at], 1.0)
            fresh[:] = False
            first = i + 1


def counted(observed: Observed) -> Ints:
    """How often each move was made with known cards, [4, CONTEXTS, CLASSES, moves]."""
    mine = observed.take(observed.known)
    shape = (4, CONTEXTS, CLASSES, observed.moves)
    at = np.ravel_multi_index((*mine.place.T, mine.hand_class, mine.move), shape)
    return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)


def counted_by_context(observed: Observed) -> Ints:
    """How often each move was made, [4, CONTEXTS, moves]."""
    shape = (4, CONTEXTS, observed.moves)
    at = np.ravel_multi_index((*observed.place.T, observed.move), shape)
    return np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)
