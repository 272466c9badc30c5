"""Models of opponents for a search, by spec.

`trees:FILE.db` and the like are fitted to the games of a casebase; `file:MODEL.npz` was fitted
before, which saves that time in every process.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from cbr import BadValue
from cbr.spec import several
from cbr.typing import Floats
from cbr_mcts.options import NONE, SHIPPED
from cbr_opponents import RAISE_SIZES, ModelPart, OpponentModel, read_model
from cbr_opponents.learning import games_where, model_of_spec

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
    return games_where(partial(models_of, text))


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
    model, usual = model_of_spec(text, betting)
    if model.arrays is None:
        raise BadValue(
            f"model={text} has no array form, which a search reads; trees, frequencies, ponsen "
            "and file have"
        )
    parts = getattr(model, "parts", (ModelPart(model.arrays),))
    return tuple(Model(part.arrays, usual, text, *part[1:]) for part in parts)
