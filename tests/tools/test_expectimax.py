"""Best responses to bots that act by their two cards alone."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import expectimax
import experiment
from cbr.errors import BadValue
from cbr_holdem.cards import hand_class, hands_of
from cbr_holdem.strength import preflop_odds


@pytest.mark.long
def test_from_one_who_folds_it_takes_the_blinds() -> None:
    """It raises as the small blind and wins the big one; as the big blind it wins half of that."""
    worth = expectimax.best_response("fold", ["1"], 100, 4, 0, "72o,AsAh")
    assert (worth.value, worth.least) == (pytest.approx(0.75), pytest.approx(0.75))
    assert worth.ci95 == pytest.approx(0.0)


@pytest.mark.long
def test_with_one_big_blind_it_calls_where_that_costs_less() -> None:
    """A stack of one big blind is all in with the first call, and the other hand is any."""
    worth = expectimax.best_response("call", ["all-in"], 1, 40, 3, "TT,32o")
    names = [hand_class(*hand) for hand in hands_of("TT,32o").tolist()]
    won = np.array([2.0 * preflop_odds(name, 1)[2] - 1.0 for name in names])
    exact = (np.maximum(-0.5, won).mean() + won.mean()) / 2.0
    assert abs(worth.value - exact) < 2.0 * worth.ci95
    assert 0.0 < worth.ci95 < 0.2
    assert worth.least <= worth.value


def test_the_bot_is_asked_at_each_of_its_decisions() -> None:
    """ACE1 answers by the street's thresholds: the fewer hands are left the later the street."""
    from cbr_arena import build
    from cbr_holdem.table import WIDTH, Game, deal

    game, row = Game("nolimit"), np.zeros(WIDTH, np.int64)
    deal(row, game.terms, 2, np.full(2, 1_000, np.int64), np.arange(9, dtype=np.uint8))
    bot = build("ace1", "nolimit")
    class_of, examples = expectimax._classes(bot, game, row)
    growing = expectimax._Growing(bot, game, 1, (1.0,), examples)
    growing.grow(row, np.ones(len(examples), np.bool_))
    tree = growing.tree()
    theirs = np.flatnonzero(tree.kind == expectimax.THEIRS)
    for node in theirs:
        parts = tree.hands[tree.child[tree.first[node] : tree.first[node] + tree.children[node]]]
        np.testing.assert_array_equal(parts.sum(axis=0), tree.hands[node])
    often = np.bincount(class_of)
    left = [tree.hands[theirs[tree.street[theirs] == street]] @ often for street in range(4)]
    assert [some.max() for some in left] == sorted((some.max() for some in left), reverse=True)
    assert left[3].min() < left[0].max() / 4


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with pytest.raises(BadValue, match="draws its moves"):
        expectimax.best_response("triple:0.2,0.5,0.3", ["1"], 100, 4, 0)
    for words, says in ((["--sizes", "7/8"], "size of bets"), (["--flops", "2"], "4 flops")):
        monkeypatch.setattr(sys, "argv", ["expectimax", "call", *words])
        with pytest.raises(SystemExit):
            experiment.run(expectimax.main)
        assert says in capsys.readouterr().err
    monkeypatch.setattr(
        sys, "argv", ["expectimax", "fold", "--hands", "32o", "--flops", "4", "--json"]
    )
    experiment.run(expectimax.main)
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(0.75)
