"""The player models that ship, by name."""

from __future__ import annotations

from typing import Any

from cbr_opponents.array_models import ArrayModel, uniform_arrays
from cbr_opponents.player_models import PlayerModelKind


def uniform(observed: Any) -> ArrayModel:
    """Fold, call and raise are equally likely where they are legal."""
    return ArrayModel(uniform_arrays(observed.moves))


def frequencies(observed: Any) -> ArrayModel:
    """How often the players of a log made each move, by street, price, opponents and hand."""
    from cbr_opponents.learning import fit_frequencies

    return ArrayModel(fit_frequencies(observed))


def trees(observed: Any, trees: int = 128, profiles: bool = True) -> ArrayModel:
    """Boosted trees on the frequencies, by the betting, the board and what was seen of a player."""
    from cbr_opponents.learning import fit_trees

    return ArrayModel(fit_trees(observed, trees, profiles))


def context(observed: Any, levels: int = 5, weight: float = 10.0) -> Any:
    """A context-action table, backed off from fine contexts to coarse ones; files shown hands."""
    from cbr_opponents.learning import fit_contexts

    return fit_contexts(observed, levels, weight)


def ponsen(
    observed: Any,
    prior: str = "trees?profiles=false",
    spread: float = 0.3,
    drift: float = 0.002,
) -> Any:
    """A prior from all players, and for each player a correction learned from its earlier hands."""
    from cbr_opponents.learning import fit_ponsen

    return fit_ponsen(observed, prior, spread, drift)


def casebase(observed: Any, file: str, policy: str = "", prior: float = 2.0) -> Any:
    """What similar cases of a casebase did: casebase:FILE.db."""
    from cbr_opponents.learning import RetrievedMoves

    return RetrievedMoves.of(file, policy, prior, observed.moves)


KINDS = [
    PlayerModelKind(make.__name__, make, help=(make.__doc__ or "").partition("\n")[0])
    for make in (uniform, frequencies, trees, context, ponsen, casebase)
]
