"""Tree search against a player who always calls: `python tools/baseline.py [--hands N]`.

Van der Kleij's bot won 17.5 small blinds a game from such a player with 100 big blinds, Kuendig's
UZHoldem 20.5 with 200. What a best response wins is computed beside (`tools/expectimax.py`).
"""

from __future__ import annotations

import argparse
import json

from expectimax import best_response
from experiment import folder_of, run, say
from results import Page, Table, add_option, show, write
from search_matches import UNSEEN, Row, as_json, options, played, table

_NAMES = {
    100: ("", "", "", "van der Kleij +8.75"),
    200: ("", "", "", "UZHoldem +10.25"),
}
ROWS = tuple(
    Row(f"{name}, {stack} bb", spec, "call", stack=stack, known=known)
    for stack, known in _NAMES.items()
    for name, spec in (
        ("no model", "mcts?model=none"),
        ("model", f"mcts?model={UNSEEN}"),
        ("shipped model", "mcts"),
    )
)
#: Sizes that the bot considers by default.
_SIZES = ["1/2", "1", "2", "all-in"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Tree search against a player who always calls.",
        epilog="Example: python tools/baseline.py --hands 1000 --only 'model, 100 bb'",
    )
    options(parser)
    parser.add_argument("--flops", type=int, default=24, help="of the best response; 0: none (24)")
    add_option(parser)
    given = parser.parse_args()
    folder_of(given.out)
    found = played(ROWS, given)
    shares = []
    for stack in dict.fromkeys(one.row.stack for one in found) if given.flops else ():
        say(f"a best response to call with {stack} big blinds")
        worth = best_response("call", _SIZES, stack, given.flops, given.seed)
        for one in found:
            if one.row.stack == stack:
                value = f"{worth.value:+.2f} ± {worth.ci95:.2f}"
                shares.append((one.row.what, value, f"{one.won / worth.value:.0%}"))
    page = Page(
        "baseline",
        "Tree search against a player who always calls",
        "Heads-up no-limit, big blinds per hand with 95 % intervals. *Model* was learned from "
        "games without `call`, and goes on learning. Figures of others stand in brackets, half of "
        "what they state in small blinds.",
        [
            table("Against call", found),
            Table(
                "Share of what a best response wins",
                ["bot", "best response, bb/h", "share"],
                shares,
                "By expectimax over sampled flops and all turns and rivers.",
            ),
        ],
        given.seed,
    )
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps({"matches": as_json(found), "shares": shares}, indent=2))
    else:
        show(page)


if __name__ == "__main__":
    run(main)
