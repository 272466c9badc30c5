"""SIGKILL at any moment leaves a sound casebase of whole batches, and the next build goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import CARS_CSV, CARS_PLUGIN

from cbr.building.pipeline import build
from cbr.store.casebase import Casebase
from cbr.upkeep.soundness import check

HEAD, *ROWS = CARS_CSV.read_text().splitlines(keepends=True)
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


def many_cars(path: Path, rows: int) -> Path:
    rng = random.Random(1)
    path.write_text(HEAD + "".join(rng.choice(ROWS) for _ in range(rows)))
    return path


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_kill_at_any_time(tmp_path: Path, plugins) -> None:
    table, out = many_cars(tmp_path / "many.csv", 6_000), tmp_path / "many.db"
    rng = random.Random(2)
    seen = []
    for attempt in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(table), str(out)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"begin\n"
        for _ in range(rng.randint(1, 25) if attempt else 0):  # so many batches, and a moment more
            process.stdout.readline()
            process.stdin.write(b"\n")
        time.sleep(rng.uniform(0, 0.02))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
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
