"""A check for authors of bots; called in a test, it raises AssertionError.

check_bot(MyBot)
check_bot(MyBot, nerve=0.5)
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from cbr.marks import marked
from cbr.plugging import Plugins, default_plugins, use_plugins
from cbr_arena.bots import BotKind
from cbr_arena.match import Match, Played, play
from cbr_arena.players import players_of
from cbr_holdem.table import Game


def check_bot(made: type[Any], *, hands: int = 60, seed: int = 1, **options: Any) -> None:
    """Check that a class marked with `@bot` plays against itself without a fault, in each of its
    games, heads-up and at six seats, and does the same again, also in a shorter match."""
    kind = marked(made)
    assert isinstance(kind, BotKind), f"mark the class {made.__name__} with @cbr_arena.bot"
    given = "&".join(f"{name}={value}" for name, value in options.items())
    spec = f"{kind.name}?{given}" if given else kind.name
    before = default_plugins()
    plugins = use_plugins(Plugins().load([Path(inspect.getfile(made))]))
    try:
        assert not plugins.problems, plugins.problems[0]
        for betting in kind.games:
            for seats in (2, 6):
                _check_match(f"{spec}*{seats}", betting, hands, seed)
    finally:
        use_plugins(before)


def _check_match(spec: str, betting: str, hands: int, seed: int) -> None:
    def won(count: int) -> Played:
        return play(Match(players_of([spec]), count, Game(betting), seed=seed, session=count))

    played = won(hands)
    where = f"{spec} in {betting}"
    for (_, reason), times in played.faults.items():
        raise AssertionError(f"{where}: {reason} ({times} times)")
    again = won(hands)
    assert np.array_equal(again.won, played.won), f"{where} acts otherwise in the same match"
    fewer = won(hands // 2)
    assert np.array_equal(fewer.won, played.won[: len(fewer.won)]), (
        f"{where} acts otherwise in a shorter match: a decision depends on hands that come later"
    )
