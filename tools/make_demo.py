"""Makes the files of `make demo`: a log of strong bots, weights learned from it, and labels.

python tools/make_demo.py            # some minutes; writes casebases/demo.*

Strong bots play nine-seat limit hands. The log is built into a casebase, weights are learned from
its cases, and values of actions are estimated for some cases of each street.
"""

from __future__ import annotations

import lzma
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).parent.parent / "casebases"
#: The bots, the number of hands, and the seed of the deals.
PLAYERS, HANDS, SEED = ("loki*6", "sim?trials=50*3"), 5_000, 20_240_602
#: Cases of each street that are labelled.
CASES = 8_000


def cbr(*words: object) -> None:
    print("cbr", *words, flush=True)
    subprocess.run([Path(sys.executable).with_name("cbr"), *map(str, words)], check=True)


def main() -> None:
    log, weights, labels = (FOLDER / f"demo.{end}" for end in ("phhs.xz", "weights.json", "npz"))
    with TemporaryDirectory() as place:
        plain, base = Path(place) / "demo.phhs", Path(place) / "demo.db"
        game = ("--hands", HANDS, "--independent", "--seed", SEED, "--workers", 2)
        cbr("match", *PLAYERS, *game, "--log", plain)
        log.write_bytes(lzma.compress(plain.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
        cbr("build", log, "--out", base)
        cbr("learn-weights", base, "--out", weights)
        cbr("label", base, "--cases", CASES, "--workers", 2, "--save", labels)
    for path in (log, weights, labels):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
