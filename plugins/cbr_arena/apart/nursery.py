"""Imported by the process that the processes of bots are forked from, and nowhere else.

It imports what all of them need: our own plugins only, because code of others is to run in the
processes of their bots.
"""

from __future__ import annotations

import os
from importlib.metadata import entry_points

import numpy as np

import cbr_arena.apart.inside  # noqa: F401
from cbr.plugging import OURS, Plugins
from cbr_arena.chance import Numbers
from cbr_arena.guests import shown
from cbr_holdem.situation import Pending, View
from cbr_holdem.table import Game, Table


def _warm() -> None:
    """Decide once on each street: the first use of compiled code takes a second in a process."""
    table = Table(Game(), [1_000] * 2, "AhAs KdKc", "2s 7d 9h Jc 3d")
    while not table.over:
        situations = shown(Pending(table.rows, table.game, np.zeros(1, np.int64)))
        view = View(situations.seen(), table.game)
        for name in ("pot_odds", "hand_rank", "ihs"):
            view[name]
        _ = view.raise_to, view.call, situations.call, situations.hole
        table.play("c")
    Numbers(np.zeros(1, np.uint64)).random()


def _load() -> None:
    before = dict(os.environ)
    ours = [one.name for one in entry_points(group="cbr") if one.dist and one.dist.name == OURS]
    os.environ["CBR_LOAD_PLUGINS"] = ",".join(ours)
    os.environ.pop("CBR_PLUGINS_DIR", None)
    try:
        Plugins().load().named("bot")
    finally:
        os.environ.clear()
        os.environ.update(before)


_load()
_warm()
