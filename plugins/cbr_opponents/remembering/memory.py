"""What was seen of opponents, by name: the memory of a bot or of a spectator at the table.

    memory = OpponentMemory("limit")
    memory.watch(tables, [["ann", "", "bob"]] * len(tables), game)  # after each hand; "": myself
    space.profiles[:3] = memory.profiles_of(["ann", "", "bob"], model.usual)

All of it is public: how often a player folded, called and raised, and the moves that it made with
cards which it showed. Memories of one player can be merged, so hands may be watched in parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.typing import Floats, Ints
from cbr_holdem.table import MOST_SEATS, RAISE, Game
from cbr_opponents.abstraction import CLASSES, CONTEXTS, RAISE_SIZES
from cbr_opponents.profiles import PROFILE, SEEN, profile_features
from cbr_opponents.remembering.counting import Counts, count_hands, decay_of


@dataclass
class Opponent:
    """What was seen of one player: the counts `seen` [SEEN] of `profiles`, the number of `hands` in
    which it acted, of `showdowns` at which it showed its cards, and how often it made a move in a
    cell with cards that it showed (`shown`, by cell; see `OpponentMemory.cells`)."""

    seen: Floats = field(default_factory=lambda: np.zeros(SEEN))
    hands: int = 0
    showdowns: int = 0
    shown: dict[int, float] = field(default_factory=dict)

    def then(self, later: Opponent, forget: float) -> Opponent:
        """What was seen of a player in these hands and in later ones, which were watched alone:
        earlier counts are multiplied by `forget` for each later hand."""
        faded = forget**later.hands
        shown = {cell: faded * count for cell, count in self.shown.items()}
        for cell, count in later.shown.items():
            shown[cell] = shown.get(cell, 0.0) + count
        return Opponent(
            decay_of(forget) ** later.hands * self.seen + later.seen,
            self.hands + later.hands,
            self.showdowns + later.showdowns,
            shown,
        )


class OpponentMemory:
    """What was seen of opponents in one game, by name. In each hand of a player its earlier counts
    are multiplied by `forget`, so that with less than 1 recent hands weigh more."""

    def __init__(self, betting: str, forget: float = 1.0) -> None:
        if betting not in RAISE_SIZES:
            raise BadValue(f"opponents are remembered in limit and no-limit, not in {betting!r}")
        verify_forget(forget)
        self.betting, self.forget = betting, forget
        self.opponents: dict[str, Opponent] = {}

    @property
    def cells(self) -> tuple[int, int, int, int]:
        """The shape of an array of all cells: street, context, hand class and move."""
        return 4, CONTEXTS, CLASSES, RAISE + len(RAISE_SIZES[self.betting])

    def watch(self, tables: Ints, names: Sequence[Sequence[str]], game: Game) -> None:
        """Count finished hands, in their order: tables [n, WIDTH] as a seat or a spectator saw them
        at the end, and the names of each table's seats. A seat without a name is not counted."""
        if game.betting != self.betting:
            raise BadValue(f"a hand of {game.betting} for what was seen in {self.betting}")
        if not len(tables):
            return
        places: dict[str, int] = {}
        who = np.full((len(tables), MOST_SEATS), -1, np.int64)
        for at, seated in enumerate(names):
            for seat, name in enumerate(seated):
                if name:
                    who[at, seat] = places.setdefault(name, len(places))
        mine = [self.opponents.setdefault(name, Opponent()) for name in places]
        counts = Counts(
            np.array([one.seen for one in mine]).reshape(len(mine), SEEN),
            np.array([one.hands for one in mine], np.int64),
            np.array([one.showdowns for one in mine], np.int64),
        )
        before = counts.hands.copy()
        shown = count_hands(tables, game, who, counts, self.cells[-1], self.forget)
        weight = self.forget ** (counts.hands[shown.player] - shown.hands)
        for at, one in enumerate(mine):
            faded = self.forget ** int(counts.hands[at] - before[at])
            if faded < 1.0:
                one.shown = {cell: faded * count for cell, count in one.shown.items()}
            one.seen = counts.seen[at].copy()
            one.hands, one.showdowns = int(counts.hands[at]), int(counts.showdowns[at])
        for at, cell, count in zip(
            shown.player.tolist(), shown.cell.tolist(), weight.tolist(), strict=True
        ):
            mine[at].shown[cell] = mine[at].shown.get(cell, 0.0) + count

    def of(self, name: str) -> Opponent:
        """What was seen of a player; of a stranger nothing."""
        return self.opponents.get(name) or Opponent()

    def counts_of(self, names: Sequence[str]) -> Floats:
        """The counts of some players, [n, SEEN]; those of a stranger are 0."""
        return np.array([self.of(name).seen for name in names]).reshape(len(names), SEEN)

    def profiles_of(self, names: Sequence[str], usual: Floats) -> NDArray[np.uint8]:
        """The profiles of some players, [n, PROFILE], as a model knows them: `usual` [SEEN] are the
        counts of the average player that it was fitted with. A stranger's is that player's."""
        profiles = np.zeros((len(names), PROFILE), np.uint8)
        for profile, seen in zip(profiles, self.counts_of(names), strict=True):
            profile_features(seen, usual, profile)
        return profiles

    def shown_of(self, name: str) -> tuple[Ints, Floats]:
        """Moves of a player with cards that it showed: street, context, hand class and move of each
        cell [m, 4], and how often [m]."""
        shown = sorted(self.of(name).shown.items())
        cells = np.array([cell for cell, _ in shown], np.int64)
        places = np.stack(np.unravel_index(cells, self.cells), axis=1)
        return places.astype(np.int64), np.array([count for _, count in shown], np.float64)

    def fresh(self) -> OpponentMemory:
        """A memory of the same game and options in which nothing was seen."""
        return OpponentMemory(self.betting, self.forget)

    def copy(self) -> OpponentMemory:
        """The same memory, which can go on apart from this one."""
        made = self.fresh()
        made.merge(self)
        return made

    def merge(self, later: OpponentMemory) -> None:
        """Add what another memory saw in later hands. Sums of `S_LATELY` may differ in the last
        digit from those of one memory that watched all hands."""
        if (later.betting, later.forget) != (self.betting, self.forget):
            raise BadValue("memories of different games or options cannot be merged")
        for name, one in later.opponents.items():
            self.opponents[name] = self.of(name).then(one, self.forget)


def verify_forget(forget: Any) -> None:
    """Raise if counts cannot be multiplied by this in each hand."""
    number = isinstance(forget, int | float) and not isinstance(forget, bool)
    if not number or not 0.0 < forget <= 1.0:
        raise BadValue(f"forget is {forget!r:.40}; it must be above 0, and at most 1")
