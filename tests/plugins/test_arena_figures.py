"""Published and computed figures of limit tables: the rows that need no free parameter, and those
of the small formula players. Each is a wide net around a few thousand hands; the README has the
commands for narrow ones."""

from __future__ import annotations

import numpy as np
import pytest

from cbr_arena import Match, lines_of, play, players_of, rate_of


def lines(*specs: str, hands: int):
    match = Match(players_of(specs), hands=hands, seed=11)
    return lines_of(match, play(match))


@pytest.mark.parametrize(
    ("spec", "sd", "showdown"),
    [("call", 0.979, 1.0), ("raise", 23.50, 1.0), ("random", 3.26, 0.10)],
)
def test_one_against_itself(spec: str, sd: float, showdown: float) -> None:
    first, second = lines(spec, spec, hands=20_000)
    assert (first.rate, second.rate) == (0, 0)
    assert first.sd == pytest.approx(sd, rel=0.03)
    assert first.showdown == pytest.approx(showdown, abs=0.01)


def test_always_raising_fills_every_pot() -> None:
    played = play(Match(players_of(["raise", "raise"]), hands=400, duplicate=False))
    assert set(np.abs(played.won[:, 0]).tolist()) == {0.0, 24.0}


def test_folding() -> None:
    first, _ = lines("fold", "call", hands=20_000)
    assert first.rate == pytest.approx(-0.249, abs=0.02)
    first, second = lines("fold", "raise", hands=400)
    assert (first.rate, second.rate) == (-0.75, 0.75)


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "others", "rate", "sd"),
    [
        ("miniloki?style=loose", "call", 0.990, 4.28),
        ("miniloki?style=loose", "random", 0.871, 4.09),
        ("miniloki?style=loose", "lag", 0.127, 6.42),
        ("miniloki", "call*8", 0.907, 7.36),
        ("miniloki", "lag*8", 0.254, None),
        ("call", "miniloki*8", -2.233, 6.71),
        ("random", "miniloki*8", -1.436, 5.16),
        ("random", "lag*8", -2.596, 7.73),
    ],
)
def test_small_formula_players(first: str, others: str, rate: float, sd: float | None) -> None:
    match = Match(players_of([first, others]), hands=18_000, seed=12)
    played = play(match)
    found = rate_of(played.won[:, 0])
    assert found.ci95 is not None
    assert abs(found.rate - rate) < 0.10 + found.ci95
    if sd is not None:
        assert lines_of(match, played)[0].sd == pytest.approx(sd, rel=0.06)


@pytest.mark.long
@pytest.mark.parametrize(("spec", "vpip", "pfr"), [("lag", 0.53, 0.21), ("miniloki", 0.17, 0.07)])
def test_how_they_play_at_nine_seats(spec: str, vpip: float, pfr: float) -> None:
    first, *_ = lines(f"{spec}*9", hands=9_000)
    assert (first.vpip, first.pfr) == (pytest.approx(vpip, abs=0.03), pytest.approx(pfr, abs=0.03))


def test_ace1_looks_at_its_cards_only() -> None:
    """Gerritsen's table over all hands: 6.9 % bet, 33.9 % call, 59.1 % fold before the flop."""
    first, _ = lines("ace1", "call", hands=20_000)
    assert first.pfr == pytest.approx(0.069, abs=0.01)
