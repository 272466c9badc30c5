"""The player model that a spec names, fitted to the casebase that it names: `trees:FILE.db`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from cbr import BadValue, Casebase
from cbr.plugging import default_plugins
from cbr.spec import Spec
from cbr.typing import Floats
from cbr_holdem.situation import BETTING
from cbr_holdem.table import RAISE
from cbr_opponents.abstraction import RAISE_SIZES
from cbr_opponents.learning.observing import observe
from cbr_opponents.player_models import PlayerModel, model_maker


class Fitted(NamedTuple):
    """A model, and the counts `usual` [SEEN] that profiles of players are shrunk towards (None if
    it uses none)."""

    model: PlayerModel
    usual: Floats | None


@lru_cache(maxsize=16)
def model_of_spec(text: str, betting: str) -> Fitted:
    """The model of a spec for a kind of game. `trees:FILE.db` and the like are fitted to the games
    of a casebase; `file:MODEL.npz` was fitted before, which saves that time in every process."""
    spec = Spec.parse(text)
    name, _, argument = spec.name.partition(":")
    kind = default_plugins().get("player model", name)
    moves = RAISE + len(RAISE_SIZES[betting])
    observed: Any = SimpleNamespace(moves=moves)
    if kind.learns and name != "uniform":
        first = list(inspect.signature(kind.make).parameters)[1:2]
        file = argument or str(spec.parameters.get("file", ""))
        if not file:
            raise BadValue(f"model={text} learns from a casebase: write {name}:FILE.db")
        observed = _observed(file)
        if first != ["file"]:
            text = str(Spec(name, spec.parameters))
        if observed.moves != moves:
            raise BadValue(f"{file} has no games of {betting}, so it makes no model of them")
    model = model_maker(text)(observed)
    if model.arrays is not None and model.arrays.grid.shape[-1] != moves:
        raise BadValue(f"model={text} is of another game than {betting}")
    usual = getattr(model, "usual", None)
    return Fitted(model, getattr(observed, "usual", None) if usual is None else usual)


def games_where(make: Callable[[str], object]) -> tuple[str, ...]:
    """The kinds of games for which a model can be made; the first error if there are none."""
    found, why = [], None
    for betting in RAISE_SIZES:
        try:
            make(betting)
            found.append(betting)
        except BadValue as error:
            why = why or error
    if why is not None and not found:
        raise why
    return tuple(found)


@lru_cache(maxsize=2)
def _observed(file: str) -> Any:
    with Casebase.open(Path(file)) as base:
        if base.domain not in BETTING:
            raise BadValue(f"{file} is a casebase of {base.domain!r}, not of hold'em")
        return observe(base)
