"""The bot that plays as a player model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_logs import limit_base, no_limit_base

from cbr import Casebase, CbrError
from cbr.plugging import default_plugins
from cbr_arena import Chance, Match, build, lines_of, play, players_of
from cbr_holdem.situation import Pending
from cbr_holdem.strength import hand_numbers
from cbr_holdem.table import ACTOR, HOLE, RAISE, STREET, Game
from cbr_opponents import RAISE_SIZES, replay_decisions
from cbr_opponents.bot import ModelPlayer
from cbr_opponents.learning import model_of_spec


def pending(base: Path, count: int = 300) -> Pending:
    """Decisions of a log, as the players saw them."""
    with Casebase.open(base) as opened:
        [bodies] = [some for _, some in opened.read_records(100)][:1]
    replayed, terms, _ = replay_decisions(bodies)
    assert replayed.tables is not None
    rows = replayed.tables[:count]
    return Pending(rows, Game.of_terms(terms[0]), np.arange(len(rows)))


def streams(count: int) -> Chance:
    return Chance(7, np.arange(count), np.zeros(count, np.int64), np.zeros(count, np.int64))


@pytest.mark.long
@pytest.mark.parametrize("betting", ["limit", "nolimit"])
def test_it_draws_what_the_model_says(tmp_path: Path, betting: str) -> None:
    base = limit_base(tmp_path) if betting == "limit" else no_limit_base(tmp_path)
    bot = ModelPlayer(f"frequencies:{base}")
    assert bot.games == (betting,)
    situations = pending(base)
    found = bot.act(situations, None, streams(situations.count))
    rows, game = situations.seen(), situations.game
    own = np.stack([row[HOLE + 2 * row[ACTOR] :][:2] for row in rows])
    model = model_of_spec(f"frequencies:{base}", betting).model
    shares = model.chances(rows, game, hand_numbers(own)).shares
    np.testing.assert_allclose(found.shares[:, :RAISE], shares[:, :RAISE])
    np.testing.assert_allclose(found.shares[:, RAISE], shares[:, RAISE:].sum(axis=1))
    assert len(set(rows[:, STREET].tolist())) > 2
    # Sizes of raises: each decision as often as there are tries, against the chances of sizes.
    sizes = np.array(
        [situations.raised_by(np.full(situations.count, s)) for s in RAISE_SIZES[betting]]
    )
    sure = np.flatnonzero((situations.raise_to > 0) & (shares[:, RAISE:].sum(axis=1) > 0.05))
    at = int(sure[-1])
    many = situations.take(np.full(4_000, at))
    to = bot.act(many, None, streams(4_000)).to
    assert to is not None
    expected = shares[at, RAISE:] / shares[at, RAISE:].sum()
    for amount in set(sizes[:, at].tolist()):
        share = expected[sizes[:, at] == amount].sum()
        assert np.mean(to == amount) == pytest.approx(share, abs=0.04)


@pytest.mark.long
def test_it_plays_like_the_players_of_the_log(tmp_path: Path) -> None:
    """At a table of its own kind its rates are those of the log that it was made from."""
    base = limit_base(tmp_path)
    rates = {}
    for table in ("model:trees:{base}*5", "miniloki*3 lag*2"):
        specs = table.format(base=base).split()
        match = Match(players_of(specs), hands=300, seed=11)
        lines = lines_of(match, play(match))
        assert not any(line.faults for line in lines)
        rates[table] = np.mean([(line.vpip, line.pfr) for line in lines], axis=0)
    learned, real = rates.values()
    np.testing.assert_allclose(learned, real, atol=0.06)


@pytest.mark.long
def test_it_tells_its_chances_and_writes_options_in_parentheses(tmp_path: Path) -> None:
    base = limit_base(tmp_path)
    [kind] = [kind for name, kind in default_plugins().named("bot").items() if name == "model"]
    bot = ModelPlayer(f"(trees:{base}?profiles=false&trees=4)")
    assert bot.model == f"trees:{base}?profiles=false&trees=4"
    one = pending(base).take(np.array([5]))
    told = bot.explain(one, None, streams(1))
    assert told.shares is not None
    np.testing.assert_allclose(told.shares, bot.act(one, None, streams(1)).shares)
    assert kind.make is ModelPlayer


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("model:trees", "write trees:FILE.db"),
        ("model:tree:FILE.db", "did you mean 'trees'"),
        ("model:trees:none.db", "no casebase none.db"),
        ("model", "write model:MODEL"),
        ("model:uniform?trees=3", "trees"),
    ],
)
def test_what_is_no_model_is_refused(spec: str, reason: str) -> None:
    with pytest.raises(CbrError, match=reason):
        build(spec, "limit")
