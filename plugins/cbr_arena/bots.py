"""What a bot is, in its two forms, and how it is named.

The fast form decides many situations at once (`Bot`); a class marked with `@bot` whose `act` takes
one view is the short form, which the arena wraps. Both see what their seat may see and no more, and
both get the same table: a test holds them to the same decisions.
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
from cbr.plugging import guarded
from cbr.spec import Spec, settle
from cbr_arena.chance import Chance
from cbr_holdem.situation import Pending
from cbr_holdem.table import CALL as CALL
from cbr_holdem.table import FOLD as FOLD
from cbr_holdem.table import RAISE as RAISE

GAMES = ("limit", "nolimit")


class Actions(NamedTuple):
    """What a bot does in each of some situations: `kind` [n] is FOLD, CALL or RAISE; `to` [n] what
    a raise goes to in chips, 0 for the least that is legal. A fold that costs nothing is a check.
    """

    kind: NDArray[np.int64]
    to: NDArray[np.int64] | None = None


class Triples(NamedTuple):
    """How often a bot folds, calls and raises in each of some situations, `shares` [n, 3], and `to`
    as in `Actions`. The arena draws, so it knows what was luck. A share of what is not legal goes
    to the call.
    """

    shares: NDArray[np.float64]
    to: NDArray[np.int64] | None = None


class Figure(NamedTuple):
    """What a bot tells of its play, as a mean: a sum, and what it is divided by."""

    total: float
    weight: float


class Bot(Protocol):
    """A player for many tables at once.

    `memory` is what it keeps from hand to hand, as one element of an array: its dtype, or None. The
    arena holds an array for each session and gives `act` the elements of the sessions that the
    situations are of, [n]; what is written there stays. `remember` is asked after every hand that
    the bot sat in, with the tables as its seat saw them at the end [n, WIDTH] and its seats [n].
    A bot may have `figures` with a method `take` that gives a `Figure` by name and begins anew:
    matches add them up and show them. And it may have `explain(situations, memory) -> str`, which
    tells why it acts as it does in one situation (a batch of 1, as `act` gets it): some lines of at
    most 76 characters for a person (`cbr play` shows them). It changes nothing, and it need not
    tell the bot's cards. With `doubts(seats) -> str` it warns of tables that it knows nothing of.
    """

    memory: np.dtype[Any] | None

    def act(
        self, situations: Any, memory: Any, chance: Any
    ) -> Actions | Triples | NDArray[np.int64]: ...

    def remember(
        self, tables: NDArray[np.int64], seats: NDArray[np.int64], memory: Any
    ) -> None: ...


class Decided(NamedTuple):
    """What is done: `kind` and `to` [n] as in `Actions`, and the shares [n, 3] that it was drawn by
    where the bot gave them."""

    kind: NDArray[np.int64]
    to: NDArray[np.int64]
    shares: NDArray[np.float64] | None


def decided(given: Any, situations: Pending, chance: Chance) -> Decided:
    """What a bot's answer comes to; `chance` is what the arena draws by, and no bot has seen it."""
    if not isinstance(given, Triples):
        kind, to = given if isinstance(given, Actions) else (given, None)
        return Decided(_whole(kind, situations.count), _raised(to, situations.count), None)
    shares = np.array(given.shares, np.float64)
    if shares.shape != (situations.count, 3):
        raise BadValue(f"shares of fold, call and raise must be [n, 3], not {shares.shape}")
    kind = np.empty(len(shares), np.int64)
    if not _draw(shares, situations.call, situations.raise_to, chance.random(), kind):
        raise BadValue("shares of fold, call and raise must be 0 or more, and one of them above")
    return Decided(kind, _raised(given.to, situations.count), shares)


def _whole(given: Any, count: int) -> NDArray[np.int64]:
    """A whole number for each of so many decisions."""
    found = np.asarray(given)
    if not np.issubdtype(found.dtype, np.integer):
        raise BadValue(f"actions and amounts must be whole numbers, not {found.dtype}")
    if found.shape != (count,):
        raise BadValue(f"{count} decisions need as many answers, not {found.shape}")
    return found.astype(np.int64)


def _raised(given: Any, count: int) -> NDArray[np.int64]:
    return np.zeros(count, np.int64) if given is None else _whole(given, count)


@njit
def _draw(shares: Any, call: Any, raise_to: Any, drawn: Any, kind: Any) -> bool:
    """Make shares those of what is legal, in sum 1, and draw by them; False if they are none."""
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
        if shares[i, kind[i]] == 0.0:  # the last digit of a sum
            kind[i] = CALL if stay > 0.0 else FOLD
    return True


Make = Callable[..., Any]
C = TypeVar("C", bound=type[Any])


@dataclass(frozen=True)
class BotKind:
    """A bot by name. `make(**options)` builds it; a spec may give options (`loki?style=tight`),
    and one text after a colon, `make`'s first argument (`triple:0.1,0.6,0.3`), where it has no
    default. `games` are those it can play; `views` says that its `act` takes one view.
    """

    name: str
    make: Make
    help: str = ""
    games: Sequence[str] = GAMES
    views: bool = False

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
    """Mark a class as a bot. If its `act` takes one view, it gives one action: "f", "c", "r", or
    ("r", 40) for a raise to 40; or how often it does what, {"c": 0.7, "r": 0.3}. If it takes
    situations, memory and chance, it is a `Bot`."""

    def mark(made: C) -> C:
        wanted = list(inspect.signature(made.act).parameters)
        if len(wanted) not in {2, 4}:
            raise BadValue(
                f"act of bot {name!r} must take a view, or situations, memory and chance"
            )
        plays = (games,) if isinstance(games, str) else tuple(games)
        said = help or inspect.cleandoc(made.__doc__ or "").partition("\n")[0]
        made.__cbr__ = BotKind(name, made, said, plays, len(wanted) == 2)
        return made

    return mark
