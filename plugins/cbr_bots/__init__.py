"""Rule bots: players that follow published rules, without any casebase.

    simple            bots with a fixed action or fixed probabilities
    sizes             bet sizes in no-limit games, an option of bots
    two_cards         tables of preflop equity and preflop hand strength
    proxies           lag and miniloki: small formula players
    ace1              Gerritsen's table
    findler           Findler's player: pot price against hand value
    waterman          Waterman's production system; `waterman_memory` counts opponents' actions
    loki_constants    constants of the formula player
    loki_preflop      its strategies before the flop
    betting_line      state of the betting, updated move by move
    lookup            a bounded cache for compiled code
    hand_types        types of hands that are equal on a board
    potential         strength and potential of the types of hands
    board_values      strength and potential of every hand on a board
    triples           probabilities of fold, call and raise for a hand
    weight_tables     probabilities of opponents' hands, given their moves
    readings          weight tables by public history, kept between decisions
    loki              the formula player
    loki_model        what the formula player takes opponents to do, as a player model
    sim               the formula player with simulation after the flop
    switching         plays as one bot after the other
    honest_river      plays as a bot that never bluffs the river
    kinds             all bots by name

Every command loads this module, so it imports nothing heavy: a bot is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    from cbr_arena import BotKind
    from cbr_opponents import PlayerModelKind

# `dir` of a plugin must list its hooks, so the lazy `__dir__` is not used.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_bots.kinds import KINDS

    return KINDS


@hook
def cbr_player_models() -> Iterable[PlayerModelKind]:
    from cbr_bots.loki_model import KIND

    return [KIND]
