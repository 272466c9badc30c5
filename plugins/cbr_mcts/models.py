"""Models of opponents for a search, by spec.

`trees:FILE.db` and the like are fitted to the games of a casebase; `file:MODEL.npz` was fitted
before, which saves that time in every process.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from cbr import BadValue, Casebase
from cbr.plugging import default_plugins
from cbr.spec import Spec, several
from cbr.typing import Floats
from cbr_holdem.situation import BETTING
from cbr_holdem.table import RAISE
from cbr_mcts.options import NONE, SHIPPED
from cbr_opponents import RAISE_SIZES, ModelPart, OpponentModel, model_maker, read_model

#: The models that ship: learned from games of our own bots (`tools/make_prior.py`).
PRIORS = {betting: Path(__file__).with_name(f"prior_{betting}.npz") for betting in RAISE_SIZES}
#: Most models of a search.
_MOST = 12


class Model(NamedTuple):
    """A model in array form, the counts `usual` [SEEN] that its profiles are shrunk towards (None
    if it uses no profiles), and its spec; and the `share`, `trust` and `hands` of a `ModelPart`."""

    arrays: OpponentModel
    usual: Floats | None
    spec: str
    share: float = 1.0
    trust: float = 1.0
    hands: float = 0.0


def games_of(text: str) -> tuple[str, ...]:
    """The kinds of games that models can be had for; they are fitted now, unless they ship."""
    if text in (SHIPPED, NONE):
        return tuple(RAISE_SIZES)
    found, why = [], None
    for betting in RAISE_SIZES:
        try:
            models_of(text, betting)
            found.append(betting)
        except BadValue as error:
            why = why or error
    if why is not None and not found:
        raise why
    return tuple(found)


def number_of(text: str) -> int:
    """The number of models that a text names."""
    return 1 if text in (SHIPPED, NONE) else len(models_of(text, games_of(text)[0]))


@lru_cache(maxsize=8)
def models_of(text: str, betting: str) -> tuple[Model, ...]:
    """The models that a text names, for a kind of game."""
    if text == SHIPPED:
        saved = read_model(PRIORS[betting])
        return (Model(saved.arrays, saved.usual, SHIPPED),)
    specs = ["uniform"] if text == NONE else several(text)
    found = [model for spec in specs[: _MOST + 1] for model in _made(spec, betting)]
    if not 1 <= len(found) <= _MOST:
        raise BadValue(f"model={text!r} of mcts names {len(found)} models; give 1 to {_MOST}")
    return tuple(found)


@lru_cache(maxsize=16)
def _made(text: str, betting: str) -> tuple[Model, ...]:
    """The model of one spec, or its `parts` if it consists of several."""
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
    arrays = model.arrays
    if arrays is None:
        raise BadValue(
            f"model={text} has no array form, which a search reads; trees, frequencies, ponsen "
            "and file have"
        )
    if arrays.grid.shape[-1] != moves:
        raise BadValue(f"model={text} is of another game than {betting}")
    usual = getattr(model, "usual", None)
    usual = getattr(observed, "usual", None) if usual is None else usual
    parts = getattr(model, "parts", (ModelPart(arrays),))
    return tuple(Model(part.arrays, usual, text, *part[1:]) for part in parts)


@lru_cache(maxsize=2)
def _observed(file: str) -> Any:
    from cbr_opponents.learning import observe

    with Casebase.open(Path(file)) as base:
        if base.domain not in BETTING:
            raise BadValue(f"{file} is a casebase of {base.domain!r}, not of hold'em")
        return observe(base)
