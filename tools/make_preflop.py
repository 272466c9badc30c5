"""Makes the preflop table: `python tools/make_preflop.py [DEALS]` writes it, in some 20 minutes.

For each of the 169 classes of starting hands and 1 to 9 opponents with random hands: how often it
wins alone, how often it ties for the best, and its equity, from DEALS (2,000,000) random deals.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from cbr_holdem.cards import CLASSES, hands_of, names
from cbr_holdem.strength import odds

OUT = Path(__file__).parent.parent / "features" / "cbr_holdem" / "strength" / "preflop.npz"


def main() -> None:
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    table = np.zeros((len(CLASSES), 9, 3))
    for row, name in enumerate(CLASSES):
        hand = names(hands_of(name)[0]).replace(" ", "")
        for opponents in range(1, 10):
            # A separate seed for each cell, so that errors are independent.
            seed = 1000 * opponents + row
            found = odds([hand], opponents=opponents, error=1e-9, seed=seed, most=deals)[0]
            table[row, opponents - 1] = found.win, found.tie, found.equity
        print(f"{row + 1}/169 {name}", file=sys.stderr, flush=True)
    np.savez_compressed(OUT, table=table.astype(np.float32), deals=np.int64(deals))


if __name__ == "__main__":
    main()
