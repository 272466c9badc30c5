"""Rule bots: players that follow published rules, without any casebase.

    simple            always one thing, or chance
    sizes             how much to bet in no-limit, an option of bots
    two_cards         what two cards are worth before the flop
    proxies           lag and miniloki: small formula players
    ace1              Gerritsen's table
    findler           Findler's player: a price against a hand
    waterman          Waterman's production system; `waterman_memory` is what it learns
    loki_constants    the constants of the formula player
    loki_preflop      its strategies before the flop
    betting_line      the betting of a hand, followed move by move
    board_values      what every hand is worth on a board
    triples           how often it folds, calls and raises with a hand
    weight_tables     what the moves of others say about their hands
    loki              the formula player
    sim               the formula player with simulation after the flop
    kinds             all of them by name

Every command loads this module, so it imports nothing heavy: a bot is made where it plays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    from cbr_arena import BotKind

# Plugins are searched for hooks with `dir`, which must list what stands here: no lazy `__dir__`.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_bots.kinds import KINDS

    return KINDS
