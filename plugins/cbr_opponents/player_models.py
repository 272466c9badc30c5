"""Player models: what a player does next, given the table and, where known, the hand.

A model gives the chance of each move of the abstraction, and with it how many observations it rests
on. There are two ways to write one:

- as arrays (`OpponentModel`), which compiled roll-outs and search read: see `array_models`;
- as a plain function of situations, marked with `@player_model`. It works everywhere, slower.

    from cbr_opponents import player_model

    @player_model("timid")
    def timid(situations):
        "Folds to large bets."
        fold = situations["pot_odds"]
        return np.stack([fold, 0.9 - fold, np.full_like(fold, 0.1)], axis=1)

Plugins add kinds of models through the hook `cbr_player_models`; `check_player_model` checks one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cbr.errors import BadValue
from cbr.jit import njit
from cbr.marks import mark
from cbr.plugging import default_plugins, guarded
from cbr.spec import Spec, settle
from cbr.typing import Flags, Floats, Ints
from cbr_holdem.cards import HANDS, UNKNOWN
from cbr_holdem.situation import Pending
from cbr_holdem.table import ACTOR, CALL, HOLE, RAISE, Game
from cbr_opponents.abstraction import RAISE_SIZES, legal_moves
from cbr_opponents.opponent_model import OpponentModel

F = TypeVar("F", bound=Callable[..., Any])


class Chances(NamedTuple):
    """Chances of moves: `shares` [n, moves], 0 for moves that are not legal and 1 in all; and the
    effective number of observations that each rests on, `support` [n]."""

    shares: Floats
    support: Floats


class PlayerModel(Protocol):
    """A model of a player, or of the players of a log.

    `arrays` is its array form, or None if it has none. A model whose array form is only near it
    says so by an attribute `exact` that is false.
    """

    @property
    def arrays(self) -> OpponentModel | None: ...

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        """Chances of the actor's moves at tables [n, WIDTH], with hands [n] (numbers in `HANDS`, -1
        where unknown). Of the cards in the tables only the board is used."""
        ...


@runtime_checkable
class SequentialModel(PlayerModel, Protocol):
    """A model that learns from each player while it is tested: a decision is predicted by the
    player's earlier hands."""

    def in_sequence(self, observed: Any, chosen: Flags, cards: bool) -> Floats:
        """Chances of moves [n, moves] of the `chosen` decisions of a log (`learning.Observed`),
        with the cards or without them. Each may use the decisions of earlier hands, chosen or not,
        and nothing of its own hand or of later ones."""
        ...


@dataclass(frozen=True)
class PlayerModelKind:
    """A kind of player model by name: `make(observed, **options)` fits it to observed decisions
    (`learning.Observed`), or takes None where a model needs none (`learns` is false)."""

    name: str
    make: Callable[..., Any]
    learns: bool = True
    help: str = ""

    kind: ClassVar[str] = "player model"

    def bind(self, spec: Spec) -> Callable[[Any], PlayerModel]:
        """The function that fits the model, with the options of a spec checked."""
        settled = settle(self.make, 1, spec)

        def fitted(observed: Any) -> PlayerModel:
            with guarded(f"player model {self.name!r}"):
                model: PlayerModel = self.make(observed, **settled)
            return model

        return fitted


def player_model(name: str, *, help: str = "") -> Callable[[F], F]:
    """Mark a function as a player model: it takes situations (columns by name, as a bot's; columns
    of the hand are NaN where the cards are unknown) and options, and returns relative chances of
    fold, call and raise, [n, 3], or of all moves."""

    def kind_of(function: F) -> PlayerModelKind:
        summary = help or inspect.cleandoc(function.__doc__ or "").partition("\n")[0]

        def make(observed: Any, **options: Any) -> FunctionModel:
            return FunctionModel(name, function, options)

        parameters = list(inspect.signature(function).parameters.values())[1:]
        make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter("observed", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters]
        )
        return PlayerModelKind(name, make, False, summary)

    return mark(kind_of)


@dataclass(frozen=True)
class FunctionModel:
    """A plain function as a player model; what it returns is checked."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)
    arrays: ClassVar[None] = None

    def chances(self, tables: Ints, game: Game, hands: Ints) -> Chances:
        seen = with_hands(tables, hands)
        situations = Pending(seen, game, np.arange(len(seen)))
        legal = legal_at(tables, game)
        with guarded(f"player model {self.name!r}"):
            given = np.asarray(self.function(situations, **self.options), np.float64)
        return Chances(normalised(given, legal, self.name), np.zeros(len(tables)))


def with_hands(tables: Ints, hands: Ints) -> Ints:
    """Tables at which the actor holds these hands (-1: unknown), and no other hand is known."""
    seen = tables.copy()
    seen[:, HOLE : HOLE + 20] = UNKNOWN
    known = np.flatnonzero(hands >= 0)
    at = HOLE + 2 * seen[known, ACTOR]
    seen[known, at], seen[known, at + 1] = HANDS[hands[known]].T
    return seen


def legal_at(tables: Ints, game: Game) -> NDArray[np.bool_]:
    """Which moves of the abstraction are legal and differ from one another, [n, moves]."""
    sizes = RAISE_SIZES[game.betting]
    legal = np.ones((len(tables), RAISE + len(sizes)), np.bool_)
    _legal(np.ascontiguousarray(tables), game.terms, sizes, legal)
    return legal


@njit
def _legal(tables: Any, terms: Any, sizes: Any, legal: Any) -> None:
    for i in range(len(tables)):
        legal_moves(tables[i], terms, sizes, legal[i])


def normalised(given: Floats, legal: NDArray[np.bool_], name: str) -> Floats:
    """Chances [n, moves] from relative ones [n, 3] or [n, moves]: those of moves that are not legal
    go to the call, or from the fold to the check. `BadValue` names the model if they are not
    chances."""
    count, moves = legal.shape
    if given.shape == (count, 3) and moves > 3:
        sizes = legal[:, RAISE:] / np.maximum(legal[:, RAISE:].sum(axis=1, keepdims=True), 1)
        given = np.concatenate([given[:, :RAISE], given[:, RAISE:] * sizes], axis=1)
        stuck = ~legal[:, RAISE:].any(axis=1)
        given[stuck, CALL] += given[stuck, RAISE:].sum(axis=1)
    if given.shape != (count, moves):
        raise BadValue(
            f"player model {name!r} gave {given.shape} chances; it must be [n, 3] or [n, {moves}] "
            f"for {count} decisions"
        )
    if not (np.isfinite(given).all() and (given >= 0).all() and (given.sum(axis=1) > 0).all()):
        raise BadValue(f"player model {name!r} gave chances that are negative, not finite or all 0")
    illegal = np.where(legal, 0.0, given)
    found = np.where(legal, given, 0.0)
    found[:, CALL] += illegal.sum(axis=1)
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def model_maker(text: str) -> Callable[[Any], PlayerModel]:
    """The function that fits the model of a spec to observed decisions. What follows a colon in the
    name is the first option of its kind: `file:MODEL.npz` stands for `file?path=MODEL.npz`."""
    spec = Spec.parse(text)
    name, _, argument = spec.name.partition(":")
    kind: PlayerModelKind = default_plugins().get("player model", name)
    options = list(inspect.signature(kind.make).parameters.values())[1:]
    first = options[0] if options else None
    if argument and first is None:
        raise BadValue(f"player model {name!r} takes nothing after a colon; write {name}")
    given: dict[str, Any] = dict(spec.parameters)
    if argument and first is not None:
        if first.name in given:
            raise BadValue(f"{first.name} of player model {name!r} is given twice")
        given = {first.name: argument, **given}
    for option in options:
        if option.default is inspect.Parameter.empty and option.name not in given:
            raise BadValue(
                f"player model {name!r} needs its {option.name}: write {name}:{option.name.upper()}"
            )
    return kind.bind(Spec(name, given))
