"""The soak of matches, for some rounds: it runs, and tells what grows."""

from __future__ import annotations

import pytest
from soak.matches import TABLES, Level, Reading, level


@pytest.mark.long
def test_it_is_level() -> None:
    found = level(0, 1)
    assert found.rounds == 5
    assert type(found.hands) is int  # it is printed as JSON
    assert found.hands >= 5 * 12 * len(TABLES)
    assert not [one for one in found.grew if not one.startswith("files")]  # of other programs


def test_what_grows_is_told() -> None:
    readings = [Reading(10**9 + 10**7 * at, 5 + at // 4, 3, 1, 0) for at in range(9)]
    grew = Level(9, 1, readings).grew
    assert [one.split()[0] for one in grew] == ["rss", "fds"]
    assert not Level(9, 1, readings[:1] * 9).grew
