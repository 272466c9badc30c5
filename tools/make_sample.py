"""Make casebases/sample.phhs: limit hands of six players who act at random, to try `cbr build` on.

python tools/make_sample.py
"""

from __future__ import annotations

from pathlib import Path

from cbr_holdem.table.game import Game
from cbr_holdem.table.random_hands import random_hands
from cbr_logs.phh_writer import write

OUT = Path(__file__).parent.parent / "casebases" / "sample.phhs"

if __name__ == "__main__":
    hands = random_hands(150, 6, Game(), stack=1000, seed=20_240_601)
    print(f"{OUT}: {write((hand.text for hand in hands), OUT)} hands")
