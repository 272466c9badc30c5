"""A situation as a person tells it: features follow from cards and amounts."""

from __future__ import annotations

import pytest

from cbr.case import Value
from cbr.errors import BadValue
from cbr.plugging.plugins import Plugins
from cbr.store.definitions import complete
from cbr_holdem.situation import case_types
from cbr_holdem.strength import strength_of

TYPES = {case_type.name: case_type for case_type in case_types()}
PLUGINS = Plugins().load()


def told(stage: str, **given: Value) -> dict[str, Value]:
    return complete(TYPES[stage], given, PLUGINS)


def test_strengths_follow_from_cards() -> None:
    found = told("holdem/flop", hole="AhKs", board="Qh 7d 2c", players=3)
    strength = strength_of("AhKs", "Qh7d2c")
    assert found["ihs"] == pytest.approx(strength.hs**2)
    assert (found["ppot"], found["npot"]) == (strength.ppot, strength.npot)
    assert found["hole"] == "AhKs"


def test_every_street_and_game() -> None:
    assert told("holdem/preflop", hole="AsAh")["hand_rank"] == 1
    assert told("holdem-nolimit/preflop", hole="2h7s")["hand_rank"] > 150
    river = told("holdem/river", hole="AhKs", board="Qh7d2c9c9d", players=2)
    assert river.keys() >= {"ihs"}
    assert "ppot" not in river
    assert "ihs" not in told("holdem/turn", hole="AhKs", board="Qh7d2c9c")  # against how many?


def test_pot_odds_follow_from_amounts() -> None:
    assert told("holdem/flop", to_call=1, pot=6)["pot_odds"] == pytest.approx(1 / 7)
    assert told("holdem/turn", to_call=1, pot=6)["pot_odds"] == pytest.approx(2 / 8)
    assert told("holdem/turn", to_call=0, pot=6)["pot_odds"] == 0
    assert told("holdem/flop", to_call=1, pot=6, pot_odds=0.15)["pot_odds"] == 0.15


@pytest.mark.parametrize(
    ("stage", "given", "why"),
    [
        ("flop", {"hole": "AhKs"}, "needs the board as well"),
        ("flop", {"board": "Qh7d2c"}, "give hole"),
        ("flop", {"hole": "AhKs", "board": "Qh7d2c9c"}, "4 cards; on the flop there are 3"),
        ("flop", {"hole": "AhKs", "board": "Ah7d2c"}, "Ah is twice"),
        ("preflop", {"hole": "AhKsQs"}, "two different cards"),
        ("preflop", {"hole": "Ax"}, "is not a card"),
    ],
)
def test_what_cannot_be(stage: str, given: dict[str, Value], why: str) -> None:
    with pytest.raises(BadValue, match=why):
        told(f"holdem/{stage}", **given)
