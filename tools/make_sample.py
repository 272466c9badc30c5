"""Makes casebases/sample.phhs: limit hands of six players who act at random, to try `cbr build`.

python tools/make_sample.py
"""

from __future__ import annotations

from pathlib import Path

from cbr_holdem.table import Game, random_hands
from cbr_logs import write_phh

OUT = Path(__file__).parent.parent / "casebases" / "sample.phhs"

if __name__ == "__main__":
    hands = random_hands(150, 6, Game(), stack=1000, seed=20_240_601)
    print(f"{OUT}: {write_phh((hand.text for hand in hands), OUT)} hands")
