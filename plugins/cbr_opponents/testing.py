"""A check for authors of player models; called in a test, it raises AssertionError.

check_player_model(my_model)
check_player_model(my_fitted_model, betting="nolimit")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cbr.marks import marked
from cbr.typing import Ints
from cbr_holdem.cards import HANDS
from cbr_holdem.table import BOARD, BOARD_CARDS, STREET, Game, random_hands
from cbr_opponents.logged_hands import replay_decisions
from cbr_opponents.player_models import PlayerModelKind, legal_at

#: Tables that a model is tried at.
_TABLES = 60


def check_player_model(
    model: Any, *, betting: str = "limit", seats: int = 6, seed: int = 0, **options: Any
) -> None:
    """Check that a marked function or a fitted model gives chances of moves: finite, 1 in all, for
    legal moves only, with and without cards, and the same whether decisions come alone or
    together."""
    kind = marked(model)
    if isinstance(kind, PlayerModelKind):
        name, model = kind.name, kind.make(None, **options)
    else:
        name = getattr(model, "name", type(model).__name__)
    game = Game(betting)
    tables = _tables(game, seats, seed)
    legal = legal_at(tables, game)
    for hands in (np.full(len(tables), -1, np.int64), _some_hands(tables, seed)):
        what = "with cards" if (hands >= 0).any() else "without cards"
        found, support = model.chances(tables.copy(), game, hands)
        assert found.shape == legal.shape, (
            f"{name} gave {found.shape} chances {what}, not {legal.shape}"
        )
        assert np.isfinite(found).all(), f"{name} gave a chance {what} that is not finite"
        assert (found >= 0.0).all(), f"{name} gave a negative chance {what}"
        assert np.allclose(found.sum(axis=1), 1.0, atol=1e-9), (
            f"{name} gave chances {what} that are not 1 in all"
        )
        assert not found[~legal].any(), f"{name} gave a move {what} that is not legal a chance"
        assert support.shape == (len(tables),), f"{name} gave {support.shape} numbers as support"
        assert np.isfinite(support).all(), f"{name} gave a support that is not finite"
        assert (support >= 0.0).all(), f"{name} gave a negative support"
        for at in range(0, len(tables), 7):
            alone = model.chances(tables[at : at + 1].copy(), game, hands[at : at + 1]).shares
            assert np.array_equal(alone, found[at : at + 1]), (
                f"{name} gives other chances for a decision alone than among others"
            )


def _tables(game: Game, seats: int, seed: int) -> Ints:
    """Tables at decisions of players who act at random, on all streets."""
    hands = [hand.text for hand in random_hands(_TABLES, seats, game, seed=seed + 1)]
    tables = replay_decisions(hands)[0].tables
    assert tables is not None
    return tables[:: max(1, len(tables) // _TABLES)].copy()


def _some_hands(tables: Ints, seed: int) -> Ints:
    """A hand for each actor that shares no card with the board."""
    rng = np.random.default_rng(seed)
    found = np.empty(len(tables), np.int64)
    for at, row in enumerate(tables):
        board = row[BOARD : BOARD + BOARD_CARDS[row[STREET]]]
        free = np.flatnonzero(~np.isin(HANDS, board).any(axis=1))
        found[at] = rng.choice(free)
    return found
