"""What was seen of opponents while playing: the memory of the bot, and profiles made of it.

A session keeps for each other player the counts of `cbr_opponents.profiles`, which trees read as
features, and how well each model explained its moves. Players are counted from our own seat on: the
first is the one to our left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_holdem.table import ACTOR, MOST_SEATS, SEATS, Game
from cbr_mcts.models import Model
from cbr_opponents import PROFILE, SEEN, profile_features
from cbr_opponents.remembering import Opponent, OpponentMemory

#: What a session keeps of the players from our left on.
MEMORY = np.dtype([("seen", np.float64, (MOST_SEATS, SEEN)), ("hands", np.int64, (MOST_SEATS,))])


def watch(tables: Ints, seats: Ints, game: Game, forget: float, memory: NDArray[Any]) -> None:
    """Count finished hands, in sessions of their own each: tables as our seats saw them."""
    counts = OpponentMemory(game.betting, forget)
    names = []
    for at, (table, own) in enumerate(zip(tables, seats, strict=True)):
        seated = [""] * int(table[SEATS])
        for turn in range(1, len(seated)):
            name = f"{at}.{turn}"
            seated[(own + turn) % len(seated)] = name
            before = memory["seen"][at, turn], int(memory["hands"][at, turn])
            counts.opponents[name] = Opponent(before[0].copy(), before[1])
        names.append(seated)
    counts.watch(tables, names, game)
    for name, one in counts.opponents.items():
        at, turn = map(int, name.split("."))
        memory["seen"][at, turn], memory["hands"][at, turn] = one.seen, one.hands


def recall(opponents: OpponentMemory, names: Any, memory: NDArray[Any]) -> None:
    """Begin with what was seen of players in earlier matches; `names` from our own seat on."""
    for turn, name in enumerate(names):
        if turn:
            one = opponents.of(name)
            memory["seen"][:, turn], memory["hands"][:, turn] = one.seen, one.hands


def profiles_at(rows: Ints, models: tuple[Model, ...], memory: Any) -> NDArray[np.uint8]:
    """The profiles of the seats at tables as each model knows them, uint8 [n, M, 10, PROFILE]; all
    are strangers without a memory."""
    out = np.empty((len(rows), len(models), MOST_SEATS, PROFILE), np.uint8)
    for at, model in enumerate(models):
        out[:, at] = model.arrays.stranger
        if memory is not None and model.usual is not None:
            _profiles(rows, memory["seen"], model.usual, out[:, at])
    return out


@njit
def _profiles(rows: Any, seen: Any, usual: Floats, out: Any) -> None:
    for i in range(len(rows)):
        own, n = rows[i, ACTOR], rows[i, SEATS]
        for turn in range(1, n):
            if seen[i, turn, 0] > 0.0:  # hands
                profile_features(seen[i, turn], usual, out[i, (own + turn) % n])
