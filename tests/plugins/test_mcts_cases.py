"""Cases and search joined: `cbr:FILE.db?search=N`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cbr import BadValue
from cbr.building import build
from cbr.plugging import default_plugins
from cbr_arena import Match, play, players_of
from cbr_arena import build as build_bot
from cbr_holdem.situation import Pending
from cbr_holdem.table import Game, deal_all, new_tables
from cbr_mcts import SearchBot

SAMPLE = Path(__file__).parents[2] / "casebases/sample.phhs"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    path = tmp_path_factory.mktemp("cases") / "sample.db"
    build([SAMPLE], path)
    return path


def test_cases_propose_and_the_search_decides(base):
    """The prior of the root is what the CBR bot would do."""
    joined = build_bot(f"cbr:{base}?search=40", "limit")
    assert isinstance(joined, SearchBot)
    assert (joined.iterations, joined.select, joined.games) == (40, "puct", ("limit",))
    game, one = Game("limit"), np.zeros(1, np.int64)
    rows = new_tables(1).rows
    deck = np.arange(52, dtype=np.uint8)[None][:, ::-1].copy()
    deal_all(rows, game.terms, 3, np.full((1, 3), 1_000), deck)
    given = Pending(rows, game, one)
    from cbr_arena import Chance

    memory = np.zeros(1, joined.memory)
    joined.search(given, given.seen(), memory, Chance(1, one, one, one))
    tree, _belief, _scene = joined.work_of(game)
    alone = build_bot(f"cbr:{base}", "limit").act(given, None, Chance(1, one, one, one))
    np.testing.assert_allclose(tree.prior[0], 0.9 * alone.shares[0] + 0.1 / 3, atol=1e-12)


def test_it_plays_a_match_without_faults(base):
    played = play(Match(players_of([f"cbr:{base}?search=30", "lag", "call"]), 12, session=2))
    assert not played.faults


def test_what_it_cannot_use_is_refused(base):
    with pytest.raises(BadValue, match="search=-1"):
        build_bot(f"cbr:{base}?search=-1", "limit")
    with pytest.raises(BadValue, match="cbr label"):
        SearchBot(model=f"labelled:{base}")
    with pytest.raises(BadValue, match="part of a spec"):
        default_plugins().get("bot", "cbr").make.__wrapped__(str(base), search=5)
