"""Win rates of the formula players: `python tools/loki_matches.py [--hands N]`.

`loki` and `sim` play against other rule bots, on deals that nothing was tuned on: the free
constants of `loki` come from matches on other deals.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from cbr.workers import executor
from cbr_arena import Match, play, players_of, rate_of
from experiment import written
from results import Page, Table, add_option, show, write

#: Tables, of which the first bot is measured, and the hands of each.
MATCHES = (
    ("loki lag*8", 90_000),
    ("loki call", 20_000),
    ("loki miniloki", 20_000),
    ("loki miniloki*8", 45_000),
    ("random loki*8", 27_000),
    ("sim?trials=100 loki*8", 18_000),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What the formula players win.",
        epilog="Example: python tools/loki_matches.py --hands 9000",
    )
    parser.add_argument("--hands", type=int, help="hands of each match; 18,000 to 90,000")
    parser.add_argument("--seed", type=int, default=6001)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    found, rows = [], []
    with executor(given.workers) as pool:
        for bots, usual in MATCHES:
            hands = given.hands or usual
            match = Match(players_of(bots.split()), hands=hands, seed=given.seed, adjust="aivat")
            played = play(match, pool)
            won, reduced = rate_of(played.won[:, 0]), rate_of(played.judged[:, 0])
            hands = int(played.pots[0])
            rows.append((f"`{bots}`", hands, written(won), written(reduced)))
            found.append({"table": bots, "hands": hands, "won": asdict(won)})
            found[-1]["without_luck"] = asdict(reduced)
    columns = ["table", "hands", "sb/h", "without luck"]
    table = Table("What the first bot wins", columns, rows)
    about = (
        "Formula players against other rule bots, in small bets per hand with 95 % intervals; "
        "*without luck* is with variance reduction. The free constants of `loki` were chosen by "
        "matches on other deals."
    )
    page = Page("loki", "What the formula players win", about, [table], given.seed)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(page)


if __name__ == "__main__":
    main()
