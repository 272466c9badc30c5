"""Opponent models: how players act, and which hands they may hold, given their moves.

abstraction         a grid of situations and hand classes, and the moves in a cell
decision_features   features of a decision for boosted trees
profiles            what was seen of a player in earlier hands, as counts and as features
frequencies         chances of moves from counts, smoothed
boosting            boosted trees that refine these chances
tree_bits           trees as they are evaluated: many at once; `tree_code` has the inner loops
tilts               ways in which players may differ from those of a log
opponent_model      OpponentModel, the array form: the chance of each move, given table and hand
corrective          how one player's moves differ from those of a prior (Ponsen)
ranges              the posterior over a player's hands, given its moves
simulation          a table played to its end by a model and a strategy
player_models       PlayerModel, the interface of all models; `hookspecs` is the hook for more
context_model       the context-action table with back-off, and strengths to expect
array_models        player models in array form; `kinds` names those that ship
model_files         fitted models saved to files and opened again
bot                 a bot that plays as a model says
starter, testing    a model to start from, and a check for authors of models
logged_hands        logged hands replayed to decisions and moves
learning/           models learned from a casebase
prediction/         how well models predict: `cbr predict`
remembering/        what was seen of opponents, kept from match to match: `--remember`

Roll-outs, best responses, labels, search and clustering share these. Only `learning/` and
`prediction/` read a casebase, so rule bots may use the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import pluggy
    import typer

    from cbr_arena import BotKind, WatcherKind
    from cbr_opponents.player_models import PlayerModelKind

# Not its __dir__: pluggy reads every name that dir() lists, which would import all modules.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str]:
    from cbr_opponents import hookspecs

    manager.add_hookspecs(hookspecs)
    return ["player model"]


@hook
def cbr_player_models() -> Iterable[PlayerModelKind]:
    from cbr_opponents.kinds import KINDS
    from cbr_opponents.model_files import FILE_KIND

    return [*KINDS, FILE_KIND]


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_arena import BotKind
    from cbr_opponents.bot import ModelPlayer

    return [BotKind("model", ModelPlayer, "plays as a player model: model:trees:FILE.db")]


@hook
def cbr_watchers() -> Iterable[WatcherKind]:
    from cbr_arena import WatcherKind
    from cbr_opponents.remembering import open_memory

    return [WatcherKind("opponents", open_memory, "What was seen of opponents, by name.")]


@hook
def cbr_starters() -> Mapping[str, tuple[str, str]]:
    from cbr_opponents.starter import STARTER, TEST

    return {"player-model": (STARTER, TEST)}


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_opponents.prediction.commands import add
    from cbr_opponents.remembering.commands import add as add_opponents

    add(app)
    add_opponents(app)
