"""Bots that ask other bots: which of them decides, and what becomes of its answer.

Each bot inside plays as it does alone: it gets the situations that are its own with the random
numbers of these decisions, and its memory is kept beside those of the others. If one fails, only
its own decisions are faults.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.plugging import one_line
from cbr.typing import Flags, Floats, Ints
from cbr_arena.analysis import Analysis, analysis_of
from cbr_arena.asking import NOT_LEGAL
from cbr_arena.bots import (
    FOLD,
    RAISE,
    Actions,
    Figure,
    Triples,
    Wrapper,
    has_kept,
    memory_of,
    plain,
)

#: Columns of an explanation.
_WIDTH = 76


class Inner(NamedTuple):
    """A bot inside another one: its spec, the bot, and the games that it plays."""

    spec: str
    bot: Any
    games: Sequence[str]


class Nested(Wrapper):
    """A bot that asks others. A subclass tells in `turn` who decides, and may change the answer in
    `changed`; `fields` are those of its own memory, which `sat` updates after each hand."""

    fields: ClassVar[Sequence[tuple[str, Any]]] = ()

    def __init__(self, inner: Sequence[Inner]) -> None:
        self.inner = tuple(inner)
        self.games = tuple(
            game for game in self.inner[0].games if all(game in one.games for one in self.inner)
        )
        if not self.games:
            plays = ", ".join(f"{one.spec!r} {' and '.join(one.games)}" for one in self.inner)
            raise BadValue(f"there is no game that all bots inside play: {plays}")
        kept = [(f"bot{n}", memory_of(one.bot)) for n, one in enumerate(self.inner)]
        fields = [*self.fields, *((name, dtype) for name, dtype in kept if dtype is not None)]
        self.memory: np.dtype[Any] | None = np.dtype(fields) if fields else None
        self._faults: list[tuple[int, str]] = []

    def turn(self, memory: Any, count: int) -> Ints:
        """Which of the bots inside plays, [count], given their memories."""
        return np.zeros(count, np.int64)

    def changed(self, situations: Any, shares: Floats) -> Floats:
        """The probabilities [n, 3] of fold, call and raise, in place of those of the bots inside,
        which may be overwritten."""
        return shares

    def sat(self, memory: Any) -> None:
        """Update the own memory [n] after a hand."""

    # --- what the arena asks ----------------------------------------------------------------------

    def act(self, situations: Any, memory: Any, chance: Any) -> Triples:
        count = situations.count
        shares, to = np.zeros((count, 3)), np.zeros(count, np.int64)
        turn = self.turn(memory, count)
        for number in np.unique(turn).tolist():
            places = np.flatnonzero(turn == number)
            mine = self._recalled(number, memory, places)
            try:
                asked = self._asked(number, situations.take(places), mine, chance.take(places))
                shares[places], to[places], wrong = asked
                self._faults += [(place, NOT_LEGAL) for place in places[wrong].tolist()]
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # the others inside have not failed
                shares[places, FOLD] = 1.0
                self._faults += [(place, one_line(error)) for place in places.tolist()]
            self._note_faults(number, places)
            self._keep(number, memory, places, mine)
        return Triples(self.changed(situations, shares), to)

    def _asked(
        self, number: int, situations: Any, memory: Any, chance: Any
    ) -> tuple[Floats, Ints, Flags]:
        """The answer of a bot as probabilities, the amounts of raises, and where it is not legal,
        which is a fold (or check)."""
        count = situations.count
        given = plain(self.inner[number].bot.act(situations, memory, chance), count)
        to = np.zeros(count, np.int64) if given.to is None else given.to
        if isinstance(given, Actions):
            wrong = (given.kind == RAISE) & (situations.raise_to == 0)
            shares = np.zeros((count, 3))
            shares[np.arange(count), np.where(wrong, FOLD, given.kind)] = 1.0
            return shares, to, wrong
        total = given.shares.sum(axis=1)
        if not ((given.shares >= 0.0).all() and (total > 0.0).all() and (total < np.inf).all()):
            raise BadValue(
                "shares of fold, call and raise must be 0 or more, and not all of them 0"
            )
        return given.shares, to, np.zeros(count, np.bool_)

    def remember(self, tables: Ints, seats: Ints, memory: Any) -> None:
        """Show the bot that played a hand how it ended."""
        turn = self.turn(memory, len(tables))
        self.sat(memory)
        for number, one in enumerate(self.inner):
            places = np.flatnonzero(turn == number)
            mine = self._recalled(number, memory, places)
            if mine is None or not len(places) or not hasattr(one.bot, "remember"):
                continue
            try:
                one.bot.remember(tables[places], seats[places], mine)
            finally:
                self._keep(number, memory, places, mine)

    def recall(self, opponents: Any, names: Sequence[str], memory: Any) -> None:
        """Tell the bots inside what was seen of the players in earlier matches."""
        places = np.arange(len(memory))
        for number, one in enumerate(self.inner):
            mine = self._recalled(number, memory, places)
            if mine is not None and hasattr(one.bot, "recall"):
                one.bot.recall(opponents, names, mine)
                self._keep(number, memory, places, mine)

    def take_faults(self) -> list[tuple[int, str]]:
        faults, self._faults = self._faults, []
        return faults

    def remembered(self, kept: NDArray[Any]) -> bool:
        """Whether a bot inside kept anything: only then do hands depend on those before."""
        for number, one in enumerate(self.inner):
            if memory_of(one.bot) is not None:
                mine, wraps = kept[f"bot{number}"], isinstance(one.bot, Wrapper)
                if one.bot.remembered(mine) if wraps else has_kept(mine):
                    return True
        return False

    def end(self) -> None:
        for one in self.inner:
            if isinstance(one.bot, Wrapper):
                one.bot.end()

    def doubts(self, seats: int) -> str:
        found = [one.bot.doubts(seats) for one in self.inner if hasattr(one.bot, "doubts")]
        return "; ".join(filter(None, found))

    @property
    def figures(self) -> _Figures | None:
        found = {
            one.spec: one.bot.figures
            for one in self.inner
            if getattr(one.bot, "figures", None) is not None
        }
        return _Figures(found) if found else None

    def __getattr__(self, name: str) -> Any:
        # There is an explanation only if one of the bots inside has one.
        if name == "explain" and any(hasattr(one.bot, name) for one in vars(self)["inner"]):
            return self._explain
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def _explain(self, situations: Any, memory: Any, chance: Any) -> Analysis:
        number = int(self.turn(memory, 1)[0])
        one, mine = self.inner[number], self._recalled(number, memory, np.zeros(1, np.int64))
        told: Any = ""
        if hasattr(one.bot, "explain"):
            told = one.bot.explain(situations, mine, chance)
        found = analysis_of(told)
        shares = found.shares
        if shares is not None and (self.changed(situations, shares.copy()) != shares).any():
            found = found.without_actions()  # which are not this bot's
        text = [textwrap.shorten(f"as {one.spec}", _WIDTH), found.why]
        return replace(found, why="\n".join(filter(None, text)))

    # --- the memories of the bots inside ----------------------------------------------------------

    def _recalled(self, number: int, memory: Any, places: Ints) -> Any:
        if memory_of(self.inner[number].bot) is None:
            return None
        return memory[f"bot{number}"][places]

    def _keep(self, number: int, memory: Any, places: Ints, mine: Any) -> None:
        if mine is not None:
            memory[f"bot{number}"][places] = mine

    def _note_faults(self, number: int, places: Ints) -> None:
        bot = self.inner[number].bot
        if isinstance(bot, Wrapper):
            self._faults += [(int(places[at]), reason) for at, reason in bot.take_faults()]


class _Figures:
    """The figures of bots by spec, with the spec before each name."""

    def __init__(self, figures: Mapping[str, Any]) -> None:
        self._figures = figures

    def take(self) -> dict[str, Figure]:
        return {
            f"{spec} {name}": figure
            for spec, figures in self._figures.items()
            for name, figure in figures.take().items()
        }
