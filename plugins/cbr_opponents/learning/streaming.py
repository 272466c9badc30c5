"""Chances of models that are not made of arrays: table by table, in the order of the log."""

from __future__ import annotations

import numpy as np

from cbr.store import Casebase
from cbr.typing import Flags, Floats
from cbr_holdem.cards import DECK
from cbr_holdem.strength import hand_numbers
from cbr_holdem.table import ACTOR, HOLE, Game
from cbr_opponents.logged_hands import BATCH, replay_decisions
from cbr_opponents.player_models import PlayerModel


def streamed_chances(base: Casebase, model: PlayerModel, chosen: Flags, cards: bool) -> Floats:
    """Chances of moves [n, moves] of the chosen decisions of a casebase, with or without cards."""
    found, first = [], 0
    for _, bodies in base.read_records(BATCH):
        played, terms, _ = replay_decisions(bodies)
        assert played.tables is not None
        mine = np.flatnonzero(chosen[first : first + len(terms)])
        first += len(terms)
        if not len(mine):
            continue
        tables = played.tables[mine]
        at = HOLE + 2 * tables[:, ACTOR]
        rows = np.arange(len(tables))
        hole = np.stack([tables[rows, at], tables[rows, at + 1]], axis=1)
        hands = np.full(len(tables), -1, np.int64)
        seen = (hole < DECK).all(axis=1) & cards
        hands[seen] = hand_numbers(hole[seen])
        # Hands of one log may be of several games; most are of one.
        games, of_game = np.unique(terms[mine], axis=0, return_inverse=True)
        out = None
        for number, game in enumerate(games):
            here = np.flatnonzero(of_game.reshape(-1) == number)
            shares = model.chances(tables[here], Game.of_terms(game), hands[here]).shares
            out = np.empty((len(tables), shares.shape[1])) if out is None else out
            out[here] = shares
        found.append(out)
    return np.concatenate([part for part in found if part is not None])
