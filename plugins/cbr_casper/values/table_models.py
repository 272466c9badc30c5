"""Tables that play otherwise than the casebase's players: worlds, and which of them we are in.

The habits of all players of the casebase are one world. Others are the same with hands taken for
better or worse, and with more or fewer raises; and where the casebase has players of several kinds,
each of these. A world has its own answer, found by simulated play when cases are labelled.
At a table the bot sees what the others do, and so how likely each world is. A move is then worth
what cases say, as far as the table is likely one of the casebase's own, and what the grid says in
the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr import BadValue, Casebase
from cbr.typing import Floats, Ints, Progress
from cbr_casper.values.best_response import HANDS, ROUNDS, answers, starts_of
from cbr_holdem.situation import BETTING
from cbr_holdem.table import (
    ACTOR,
    HISTORY,
    HOLE,
    MOST_SEATS,
    MOVES,
    PAID,
    POST,
    RAISE,
    SEATS,
    STACK,
    STREET,
    act,
    deal_posted,
    unpacked,
)
from cbr_opponents.abstraction import CLASSES, CONTEXTS, SIZES, class_of, context, mark_of, move_of
from cbr_opponents.boosting import DEPTH
from cbr_opponents.frequencies import count_moves, groups_of
from cbr_opponents.opponent_model import CODES, Players, rooms


class Tilt(NamedTuple):
    """How a world differs from habits: players take their hands for so many times as good (those
    in the best 40 % for the best 20 % with `loose` 2); then shares of calls that are raises there,
    and of raises that are calls."""

    name: str
    loose: float = 1.0
    push: float = 0.0
    ease: float = 0.0


#: The first is the casebase's own.
TILTS = (
    Tilt("as logged"),
    Tilt("tighter", loose=0.6),
    Tilt("looser", loose=1.7),
    Tilt("loose and passive", loose=2.5, ease=0.5),
    Tilt("loose and aggressive", loose=2.5, push=0.15),
    Tilt("calling", loose=8.0, ease=0.9),
    Tilt("wild", loose=6.0, push=0.4),
)
#: What is kept of the casebase's own players, and the names of all parts.
_OF_PLAYERS = ("grid", "feature", "cut", "leaf", "trees")
NAMES = (*_OF_PLAYERS, "own", "value", "seen")
#: How much of what a hand tells of the world counts: moves of one hand depend on one another.
_TRUST = 0.03
#: What is left of it after another hand.
_FADE = 0.99
#: Hands that a casebase needs for a bot to adapt by its worlds.
_ENOUGH = 1_000
#: The least that a move is seen, as logarithms are taken of it.
_LEAST = 1e-6
#: How likely the casebase's own world is before anything was seen.
_OWN = 0.6


@dataclass(frozen=True, eq=False)
class Worlds:
    """The players of the casebase and our answer to them, `own` [4, CONTEXTS, CLASSES, moves], by
    which cases are labelled; and for each world what moves are worth to who answers to it, `value`
    [worlds, 4, CONTEXTS, CLASSES, moves], and how often they are `seen`, [worlds, 4, CONTEXTS,
    moves]."""

    players: Players
    own: Floats
    value: Floats
    seen: Floats

    @classmethod
    def find(
        cls,
        base: Casebase,
        seed: int = 0,
        rounds: int = ROUNDS,
        hands: int = HANDS,
        pool: Executor | None = None,
        progress: Progress | None = None,
    ) -> Worlds:
        """Answers to what a casebase's players do and might do, found in so many rounds of hands;
        with 0 rounds we act as they do. In no-limit there is one world: the grid is too coarse for
        pots of such different sizes, and who adapted by it lost."""
        counts, betting = count_moves(base), BETTING[base.domain]
        everybody = counts.players()
        worlds, exact = [everybody], bool(everybody.trees.any())
        if betting == "limit":
            # What is exact about the players of the log is not known of strangers. With trees it
            # took longer, and won no more.
            plain = everybody.plain()
            tilts = TILTS if exact else TILTS[1:]  # without trees the first is everybody again
            worlds += [plain.tilted(tilt.loose, tilt.push, tilt.ease) for tilt in tilts]
            groups = groups_of(counts.seen[:-1])
            worlds += [counts.players(group, exact=False) for group in groups if len(groups) > 1]
        found = answers(starts_of(base), worlds, betting, seed, rounds, hands, pool, progress)
        first = int(exact and betting == "limit")
        players = everybody._replace(grid=_as_kept(everybody.grid))
        own, value, seen = map(_as_kept, (found.own[0], found.value[first:], found.seen[first:]))
        return cls(players, own, value, np.maximum(seen, _LEAST))

    def parts(self) -> dict[str, NDArray[Any]]:
        """Arrays by name, from which it can be made again."""
        kept = {name: getattr(self.players, name) for name in _OF_PLAYERS}
        return kept | {"own": self.own, "value": self.value, "seen": self.seen}

    @classmethod
    def of(cls, parts: Mapping[str, NDArray[Any] | None], base: Casebase) -> Worlds | None:
        """From arrays by name, if all are there; checked, as they may come from any file."""
        given = {name: parts.get(name) for name in NAMES}
        known = {name: part for name, part in given.items() if part is not None}
        if len(known) < len(NAMES):
            return None
        moves = RAISE + len(SIZES[BETTING[base.domain]])
        most, worlds = known["feature"].shape[1:2], known["value"].shape[:1] or (1,)
        cells = (4, CONTEXTS, CLASSES, moves)
        shapes = {
            "grid": cells,
            "feature": (4, *most, DEPTH),
            "cut": (4, *most, DEPTH),
            "leaf": (4, *most, 1 << DEPTH, moves),
            "trees": (4,),
            "own": cells,
            "value": (*worlds, *cells),
            "seen": (*worlds, *cells[:2], moves),
        }
        for name, part in known.items():
            whole = name in {"feature", "cut", "trees"}
            right = part.shape == shapes[name] and part.dtype.kind in ("iu" if whole else "f")
            # A tree that asked for more than there is would read what is not its own.
            top = {"feature": CODES - 1, "cut": 255, "trees": max(most, default=0)}.get(name)
            if right and top is not None:
                right = not part.size or bool(part.min() >= 0 and part.max() <= top)
            if right and name in {"grid", "own", "seen"}:  # chances
                right = bool(part.min() >= 0.0 and (part.sum(axis=-1) > 0.0).all())
            if not right or not worlds[0] or not np.isfinite(part).all():
                raise BadValue(
                    f"what {base.path} or its labels keep as {name!r} of worlds does not fit its "
                    "game; label it again from its log"
                )
        players = Players.of(known["grid"].astype(np.float64))._replace(
            feature=known["feature"].astype(np.uint8),
            cut=known["cut"].astype(np.uint8),
            leaf=known["leaf"].astype(np.float32),
            trees=known["trees"].astype(np.int64),
        )
        own, value, seen = (known[name].astype(np.float64) for name in ("own", "value", "seen"))
        return cls(players, own, value, np.maximum(seen, _LEAST))

    @classmethod
    def load(cls, base: Casebase) -> Worlds | None:
        """Those that a casebase keeps."""
        return cls.of({name: base.learned(f"worlds.{name}") for name in NAMES}, base)

    @classmethod
    def fitting(cls, base: Casebase) -> Worlds | None:
        """Those that a casebase keeps, if they are of its game and of this version."""
        try:
            return cls.load(base)
        except BadValue:
            return None

    @classmethod
    def to_adapt_by(cls, base: Casebase) -> Worlds | None:
        """Those that a casebase keeps, if it has enough hands, there are several, and somebody
        found answers to them: with few hands, what players do is not known well enough."""
        if cls.fewer_hands(base, _ENOUGH):
            return None
        found = cls.load(base)
        return found if found is not None and len(found.value) > 1 and found.value.any() else None

    @staticmethod
    def fewer_hands(base: Casebase, number: int) -> bool:
        """Whether a casebase's worlds were found from fewer hands than this."""
        hands = base.learned("worlds.hands")
        return hands is not None and hands.dtype.kind in "iu" and bool((hands < number).any())

    @staticmethod
    def are_stale(base: Casebase) -> bool:
        """Whether a casebase has other hands than those that its worlds were found from."""
        known = base.learned("worlds.hands")
        return known is None or known.tolist() != [base.count_records()]

    def save(self, base: Casebase) -> None:
        """Keep them, inside a transaction."""
        for name, part in self.parts().items():
            short = part.astype(np.float32) if part.dtype.kind == "f" else part
            base.put_learned(f"worlds.{name}", short)
        base.put_learned("worlds.hands", np.array([base.count_records()]))

    def likely(self, told: Floats) -> Floats:
        """How likely worlds are [n, worlds], by what was told of them."""
        prior = np.full(len(self.value), (1.0 - _OWN) / max(1, len(self.value) - 1))
        prior[0] = _OWN
        weight = prior * np.exp(told - told.max(axis=-1, keepdims=True))
        likely: Floats = weight / weight.sum(axis=-1, keepdims=True)
        return likely

    def said(self, likely: Floats) -> str:
        """The likeliest worlds [worlds], in words."""
        kinds = range(1, len(likely) - len(TILTS) + 1)
        names = [tilt.name for tilt in TILTS] + [f"like players of kind {kind}" for kind in kinds]
        first = np.argsort(-likely, kind="stable")[:3]
        return ", ".join(f"{names[at]} ({likely[at]:.0%})" for at in first if likely[at] >= 0.05)

    def worth(self, seen: Ints, terms: Ints, likely: Floats) -> Floats:
        """What moves are worth by the grid in each world, times how `likely` [n, worlds] it is,
        [n, worlds, moves], for the players to act at some tables."""
        out = np.empty((*likely.shape, self.value.shape[-1]))
        _worth(seen, terms, self.value, out)
        out *= likely[..., None]
        return out

    def listen(self, tables: Ints, terms: Ints, seats: Ints, told: Floats) -> None:
        """Add to `told` [n, worlds] what others than the `seats` [n] did in hands that are over."""
        new = np.zeros_like(told)
        _listen(tables, terms, seats, np.log(self.seen), new)
        told *= _FADE
        told += _TRUST * (new - new[:, :1])


def _as_kept(array: Floats) -> Floats:
    """As a casebase keeps it: whoever labels on from there finds the same."""
    return array.astype(np.float32).astype(np.float64)


@njit(cache=True)
def _worth(tables: Any, terms: Any, value: Any, out: Any) -> None:
    known, space, _, _ = rooms(1)
    for i in range(len(tables)):
        r = tables[i]
        known[:] = -1
        street, at = r[STREET], context(r, terms)
        cards = class_of(street, mark_of(r, known, space))
        for world in range(len(value)):
            out[i, world] = value[world, street, at, cards]


@njit(cache=True)
def _listen(tables: Any, terms: Any, seats: Any, chances: Any, told: Any) -> None:
    """Logarithms of chances [worlds, 4, CONTEXTS, moves] of what was done, in sum."""
    r, moves = tables[0].copy(), chances.shape[-1]
    for i in range(len(tables)):
        end = tables[i]
        stacks = end[STACK : STACK + MOST_SEATS] + end[PAID : PAID + MOST_SEATS]
        nothing = np.zeros(MOST_SEATS, np.int64)
        deal_posted(r, terms, end[SEATS], stacks, end[POST:], nothing, end[HOLE:])
        for m in range(end[MOVES]):
            _street, _seat, kind, amount = unpacked(end[HISTORY + m])
            if r[ACTOR] != seats[i]:
                street, at = r[STREET], context(r, terms)
                move = move_of(r, terms, kind, amount, moves)
                for world in range(len(told[i])):
                    told[i, world] += chances[world, street, at, move]
            if m + 1 < end[MOVES]:  # after the last one hands would be compared
                act(r, terms, kind, amount)
