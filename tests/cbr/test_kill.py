"""SIGKILL at any moment leaves a sound casebase of whole batches, and the next build goes on.

The soak kills all commands that write (`soak.kills`)."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN
from soak.kills import kill, many_cars, start

from cbr.building.pipeline import build
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

BATCH = 50

#: Builds with small batches, and goes on with the next one only when told, so that kills fall into
#: the writing however busy the machine is.
WRITER = f"""
import sys
from cbr.building.pipeline import build
from cbr.plugging.plugins import Plugins, use_plugins
use_plugins(Plugins().load([{str(CARS_PLUGIN)!r}]))

def tell(done, total, cases):
    print(cases, flush=True)
    sys.stdin.readline()

print("begin", flush=True)
build([sys.argv[1]], sys.argv[2], "car", batch={BATCH}, progress=tell)
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_kill_at_any_time(tmp_path: Path, plugins) -> None:
    table, out = many_cars(tmp_path / "many.csv", 6_000), tmp_path / "many.db"
    rng = random.Random(2)
    seen = []
    for attempt in range(8):
        process = start(WRITER, table, out)
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(rng.randint(1, 25) if attempt else 0):  # so many batches, and a moment more
            process.stdout.readline()
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(rng.uniform(0, 0.02))
        assert kill(process)
        if not out.exists():
            continue
        assert check(out) == []
        with Casebase.open(out) as base:
            count = base.count("car")
            assert count % BATCH == 0 or count == 6_000
            assert count == base.db.execute("SELECT COUNT(*) FROM rows").fetchone()[0]
            seen.append(count)
    assert seen == sorted(seen)
    assert any(0 < count < 6_000 for count in seen), seen
    report = build([table], out, "car")
    assert report.known == seen[-1]
    with Casebase.open(out) as base:
        resumed = base.digest("car")
    build([table], tmp_path / "whole.db", "car")
    with Casebase.open(tmp_path / "whole.db") as base:
        assert base.digest("car") == resumed


def test_a_killed_creation_leaves_nothing_that_looks_like_a_casebase(
    tmp_path: Path, monkeypatch, plugins
) -> None:
    """The file gets its name only when it is complete."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cbr.store.connection._appear", die)
    with pytest.raises(KeyboardInterrupt):
        build([CARS_CSV], tmp_path / "cars.db", "car")
    assert list(tmp_path.iterdir()) == []
