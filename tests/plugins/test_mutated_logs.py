"""The soak of mutated logs, in small: what is accepted has the outcome that PokerKit gives."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from made_logs import PHH, random_hands
from soak import logs
from soak.part import Found, dice
from soak.referee import Beyond, faults

from cbr_holdem.situation import replay
from cbr_holdem.table import Hand
from cbr_logs import cbr_case_sources

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.long
def test_no_wrong_outcome_is_accepted(tmp_path: Path) -> None:
    found = Found()
    judged = logs.soak(logs.made_logs(tmp_path), 250, dice("logs", 0, 0), found)
    assert (found.wrong, found.crashed) == ([], [])
    assert judged.accepted > 20
    assert judged.confirmed + judged.beyond.total() == judged.accepted
    assert judged.accepted < judged.read


def outcomes(hand: Hand) -> dict[int, float]:
    played = replay([hand])
    return dict(zip(played.step.tolist(), played.outcome.tolist(), strict=True))


@pytest.mark.parametrize(("seats", "betting"), [(2, "limit"), (3, "nolimit"), (6, "limit")])
def test_the_referee_finds_what_is_wrong(seats: int, betting: str) -> None:
    for text in random_hands(5, seats, betting, seed=4):
        hand = Hand.read(text)
        right = outcomes(hand)
        assert list(faults(hand, right)) == []
        for step in right:
            assert list(faults(hand, right | {step: right[step] + 0.2}))
        assert list(faults(hand, dict(list(right.items())[1:])))


def test_what_the_referee_cannot_play() -> None:
    hand = Hand.read(random_hands(1, 3)[0])
    with pytest.raises(Beyond, match="newcomer"):
        faults(dataclasses.replace(hand, posts=(5, 10, -10)), {})
    with pytest.raises(Beyond, match="PokerKit"):
        faults(dataclasses.replace(hand, actions="fffff"), {})


def test_mutations_depend_on_the_seed_alone() -> None:
    text = PHH.encode()
    once = [logs.mutate(text, dice("logs", 1, number)) for number in range(50)]
    assert once == [logs.mutate(text, dice("logs", 1, number)) for number in range(50)]
    assert len(set(once)) > 30
    assert {source.name for source in cbr_case_sources()} == set(logs.SOURCES)
