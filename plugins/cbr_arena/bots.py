"""The two forms of a bot, their actions, and how bots are named.

The fast form decides many situations at once (`Bot`); a class marked with `@bot` whose `act` takes
one view is the short form, which the arena wraps. Both see only what their seat may see, and a test
checks that a bot written in both forms makes the same decisions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cbr import BadValue
from cbr.jit import njit
from cbr.marks import mark
from cbr.plugging import guarded
from cbr.spec import Spec, settle
from cbr_arena.chance import Chance
from cbr_holdem.situation import Pending
from cbr_holdem.table import CALL as CALL
from cbr_holdem.table import FOLD as FOLD
from cbr_holdem.table import RAISE as RAISE

GAMES = ("limit", "nolimit")
#: Seconds that a call of an isolated bot may take, unless a match says otherwise, and at most.
CALL_LIMIT, LONGEST_CALL = 600.0, 1_000_000


class Actions(NamedTuple):
    """A bot's actions in n situations: `kind` [n] is FOLD, CALL or RAISE; `to` [n] the amount in
    chips that a raise goes to, 0 for the least legal one. A fold where a check is free is a check.
    """

    kind: NDArray[np.int64]
    to: NDArray[np.int64] | None = None


class Triples(NamedTuple):
    """A bot's mixed strategy in n situations: the probabilities `shares` [n, 3] of fold, call and
    raise, and `to` as in `Actions`. The arena draws the action, so it can measure the luck of the
    draw. The share of an action that is not legal is added to the call.
    """

    shares: NDArray[np.float64]
    to: NDArray[np.int64] | None = None


class Figure(NamedTuple):
    """A statistic that a bot reports of its play, as a mean: a sum and its divisor."""

    total: float
    weight: float


class Bot(Protocol):
    """A player for many tables at once.

    `memory` is the dtype of what it keeps from hand to hand in a session, or None. The arena holds
    one element for each session and passes to `act` those of the situations' sessions, [n]; what is
    written there is kept. `remember` is called after every hand that the bot sat in, with the
    tables as its seat saw them at the end [n, WIDTH] and its seats [n].

    Four members are optional. `figures.take()` returns a `Figure` by name and resets them; matches
    add them up and show them. `explain(situations, memory, chance)` explains the action in one
    situation: it gets what `act` got there (a batch of 1), and returns an `Analysis`, or only its
    text, which `cbr ask` and `cbr play` show; it changes nothing and need not reveal the bot's
    cards. `doubts(seats) -> str` is a warning if the bot is not made for a table of this size.
    `recall(opponents, names, memory)` is called when sessions begin, if there is something to
    recall (`--remember`): `opponents` is what was seen of players in earlier matches
    (`cbr_opponents.remembering.OpponentMemory`), `names` are those of the players in the order of
    seats from its own on, and `memory` is its empty memory, [sessions]. That order is the same in
    all hands of a session.
    """

    memory: np.dtype[Any] | None

    def act(
        self, situations: Any, memory: Any, chance: Any
    ) -> Actions | Triples | NDArray[np.int64]: ...

    def remember(
        self, tables: NDArray[np.int64], seats: NDArray[np.int64], memory: Any
    ) -> None: ...


class Wrapper:
    """A bot of the arena that asks another one. What it has beside the members of a `Bot` cannot be
    an attribute of a user's bot by chance, because that is always wrapped."""

    #: Whether the other is in a process of its own.
    apart = False

    def take_faults(self) -> list[tuple[int, str]]:
        """The faults since the last call: index of the decision in its batch, and reason."""
        return []

    def begin(self, sessions: int) -> NDArray[Any] | None:
        """Begin sessions; returns the empty memory, [sessions], or None if it keeps nothing."""
        return blank_memory(self, sessions)

    def remembered(self, kept: NDArray[Any]) -> bool:
        """Whether anything was kept in these sessions."""
        return has_kept(kept)

    def end(self) -> None:
        """No more is asked until sessions begin again."""


def memory_of(bot: Any) -> np.dtype[Any] | None:
    """The dtype of what a bot keeps from hand to hand; None if it keeps nothing."""
    memory: np.dtype[Any] | None = getattr(bot, "memory", None)
    return memory


def blank_memory(bot: Any, sessions: int) -> NDArray[Any] | None:
    """The empty memory of a bot, [sessions]; None if it keeps nothing."""
    dtype = memory_of(bot)
    if dtype is None:
        return None
    made = np.zeros(sessions, dtype)
    _without_objects(made)
    return made


def _without_objects(memory: NDArray[Any]) -> None:
    """Set all objects in a memory to None."""
    for name in memory.dtype.names or ():
        _without_objects(memory[name])
    if memory.dtype == object:
        memory[...] = None


def has_kept(kept: NDArray[Any]) -> bool:
    """Whether a memory, [sessions], holds anything."""
    if kept.dtype.hasobject:
        return any(bool(vars(one)) for one in kept if hasattr(one, "__dict__"))
    return bool(kept.tobytes().strip(b"\0"))


class Decided(NamedTuple):
    """Checked actions: `kind` and `to` [n] as in `Actions`, and the probabilities `shares` [n, 3]
    that they were drawn by if the bot gave any."""

    kind: NDArray[np.int64]
    to: NDArray[np.int64]
    shares: NDArray[np.float64] | None


def plain(given: Any, count: int) -> Actions | Triples:
    """What `act` returned for so many situations, as new arrays of the right kind and shape."""
    if not isinstance(given, Triples):
        kind, to = given if isinstance(given, Actions) else (given, None)
        return Actions(_whole(kind, count), None if to is None else _whole(to, count))
    shares = np.array(given.shares, np.float64)
    if shares.shape != (count, 3):
        raise BadValue(f"shares of fold, call and raise must be [n, 3], not {shares.shape}")
    return Triples(shares, None if given.to is None else _whole(given.to, count))


def decided(given: Any, situations: Pending, chance: Chance) -> Decided:
    """Check what `act` returned, and draw the actions of `Triples` by a chance no bot has seen."""
    given = plain(given, situations.count)
    to = np.zeros(situations.count, np.int64) if given.to is None else given.to
    if isinstance(given, Actions):
        return Decided(given.kind, to, None)
    shares, kind = given.shares, np.empty(situations.count, np.int64)
    if not _draw(shares, situations.call, situations.raise_to, chance.random(), kind):
        raise BadValue("shares of fold, call and raise must be 0 or more, and not all of them 0")
    return Decided(kind, to, shares)


def _whole(given: Any, count: int) -> NDArray[np.int64]:
    """What a bot gave as whole numbers [count]; `BadValue` if it is anything else."""
    found = np.asarray(given)
    if not np.issubdtype(found.dtype, np.integer):
        raise BadValue(f"actions and amounts must be whole numbers, not {found.dtype}")
    if found.shape != (count,):
        raise BadValue(f"{count} decisions need as many answers, not {found.shape}")
    return found.astype(np.int64)


@njit
def _draw(shares: Any, call: Any, raise_to: Any, drawn: Any, kind: Any) -> bool:
    """Normalise shares over the legal actions and draw by them; False if they are invalid."""
    for i in range(len(shares)):
        fold, stay, more = shares[i]
        total = fold + stay + more
        if not (fold >= 0.0 and stay >= 0.0 and more >= 0.0 and 0.0 < total < np.inf):
            return False
        if call[i] == 0:
            stay, fold = stay + fold, 0.0
        if raise_to[i] == 0:
            stay, more = stay + more, 0.0
        shares[i, FOLD], shares[i, CALL], shares[i, RAISE] = (
            fold / total,
            stay / total,
            more / total,
        )
        point = drawn[i] * total
        kind[i] = FOLD if point < fold else (CALL if point < fold + stay else RAISE)
        if shares[i, kind[i]] == 0.0:  # the sum was rounded
            kind[i] = CALL if stay > 0.0 else FOLD
    return True


Make = Callable[..., Any]
C = TypeVar("C", bound=type[Any])


@dataclass(frozen=True)
class BotKind:
    """A bot by name. `make(**options)` builds it; a spec may give options (`loki?style=tight`) and,
    if `make`'s first argument has no default, its value after a colon (`triple:0.1,0.6,0.3`).
    `games` are those it can play; `views` is true if its `act` takes one view; `nests` if its first
    option names other bots (`cbr_arena.nested`).
    """

    name: str
    make: Make
    help: str = ""
    games: Sequence[str] = GAMES
    views: bool = False
    nests: bool = False

    kind: ClassVar[str] = "bot"

    def build(self, argument: str, spec: Spec) -> Any:
        """The bot, with the options of a spec checked."""
        parameters = list(inspect.signature(self.make).parameters.values())
        first = parameters[0] if parameters else None
        needs = first is not None and first.default is inspect.Parameter.empty
        if first is not None and needs and not argument and first.name not in spec.parameters:
            raise BadValue(
                f"bot {self.name!r} needs its {first.name}: write {self.name}:{first.name.upper()}"
            )
        if argument and first is None:
            raise BadValue(f"bot {self.name!r} takes nothing after a colon; write {self.name}")
        if argument and first is not None:
            if first.name in spec.parameters:
                raise BadValue(f"{first.name} of bot {self.name!r} is given twice")
            spec = Spec(spec.name, {first.name: argument, **spec.parameters})
        settled = settle(self.make, 0, spec)
        with guarded(f"making bot {self.name!r}"):
            return self.make(**settled)


def bot(name: str, *, games: Sequence[str] = GAMES, help: str = "") -> Callable[[C], C]:
    """Mark a class as a bot. If its `act` takes one view, it returns one action: "f", "c", "r", or
    ("r", 40) for a raise to 40; or probabilities, {"c": 0.7, "r": 0.3}. If it takes situations,
    memory and chance, it is a `Bot`."""

    def make(made: Any) -> BotKind:
        wanted = list(inspect.signature(made.act).parameters)
        if len(wanted) not in {2, 4}:
            raise BadValue(
                f"act of bot {name!r} must take a view, or situations, memory and chance"
            )
        plays = (games,) if isinstance(games, str) else tuple(games)
        summary = help or inspect.cleandoc(made.__doc__ or "").partition("\n")[0]
        return BotKind(name, made, summary, plays, len(wanted) == 2)

    return mark(make)
