"""Clusters of players who act alike, and what they hold: K-models (van der Kleij 2010).

differences   situations in which players differ, as trees
clustering    players clustered by expectation maximisation
model         clusters as a player model, `kmodels:FILE`
model_file    clusters saved to a file and read again
training      clusters of the players of a log, from several starts
hidden_cards  what players hold who do not show it
folds         folds that fall with the strength of the hand
evaluation    how well clusters predict players who were held out; the number of clusters
sizes         classes of sizes of bets and raises, found in a log
report        what the players of a cluster are like
pictures      pictures of clusters and of their accuracy
commands      the command `cbr cluster`
kinds         the player model by name
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import typer

    from cbr_opponents import PlayerModelKind

# Not its __dir__: pluggy reads every name that dir() lists, which would import all modules.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_player_models() -> Iterable[PlayerModelKind]:
    from cbr_kmodels.kinds import KIND

    return [KIND]


@hook
def cbr_commands(app: typer.Typer) -> None:
    from cbr_kmodels.commands import add

    add(app)
