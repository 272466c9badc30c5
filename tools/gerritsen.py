"""Repeats Gerritsen's experiments with tree search: `python tools/gerritsen.py [--hands N]`.

He played two matches without and with an opponent model, 1,000 iterations a decision: against ACE1
in no-limit, and against Anders, a program of the Poki library. `loki` stands in for Anders; it
plays limit, so that match is played in limit. Each is played with the setting of the thesis (one
raise of the pot, UCT with C = 2 in big blinds, 100 random visits) and with ours.

ACE1 acts by its two cards alone, so what a best response wins from it is computed beside
(`tools/expectimax.py`).
"""

from __future__ import annotations

import argparse
import json

from expectimax import Worth, best_response
from experiment import folder_of, run, say
from results import Page, Table, add_option, show, write
from search_matches import UNSEEN, Found, Row, as_json, bankrolls, options, played, table

ACE1, LOKI = "ace1?size=min", "loki"
_THESIS = "mcts?style=gerritsen&iterations=1000"
_OURS = "mcts?sizes=1,all-in"
ROWS = (
    Row(
        "thesis setting, no model",
        f"{_THESIS}&model=none",
        ACE1,
        known=("0.64", "0.5", "4.7", "+1.09"),
    ),
    Row(
        "thesis setting, model",
        f"{_THESIS}&model={UNSEEN}",
        ACE1,
        known=("0.47", "7311", "8.3", "+1.67"),
    ),
    Row("thesis setting, shipped model", _THESIS, ACE1),
    Row("ours, no model", f"{_OURS}&model=none", ACE1),
    Row("ours, model", f"{_OURS}&model={UNSEEN}", ACE1),
    Row("ours, shipped model", _OURS, ACE1),
    Row(
        "thesis setting, no model, limit",
        f"{_THESIS}&model=none",
        LOKI,
        "limit",
        known=("0.95", "0.7", "1.9", "-0.50"),
    ),
    Row(
        "thesis setting, model, limit",
        f"{_THESIS}&model={UNSEEN}",
        LOKI,
        "limit",
        known=("0.92", "0.2", "0.8", "+0.06"),
    ),
    Row("thesis setting, shipped model, limit", _THESIS, LOKI, "limit"),
    Row("ours, model, limit", f"mcts?model={UNSEEN}", LOKI, "limit"),
    Row("ours, shipped model, limit", "mcts", LOKI, "limit"),
)
#: Sizes of the bets of each setting.
SIZES = {"thesis setting": ["1"], "ours": ["1", "all-in"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Gerritsen's experiments with tree search.",
        epilog="Example: python tools/gerritsen.py --hands 1000 --only 'ours, model'",
    )
    options(parser)
    parser.add_argument("--flops", type=int, default=24, help="of the best response; 0: none (24)")
    add_option(parser)
    given = parser.parse_args()
    folder_of(given.out)
    found = played(ROWS, given)
    best = {}
    for setting, sizes in SIZES.items() if given.flops else ():
        say(f"a best response to {ACE1} with bets of {', '.join(sizes)}")
        best[setting] = best_response(ACE1, sizes, 100, given.flops, given.seed)
    file = given.out / "gerritsen.png"
    bankrolls(file, found)
    page = Page(
        "gerritsen",
        "Gerritsen's experiments",
        "Tree search heads-up, stacks of 100 big blinds in no-limit. Figures of the thesis stand "
        "in brackets; its intervals are about 0.2. *Model* was learned from games in which the "
        "opponent did not play, and goes on learning; the shipped one has seen all our bots. Big "
        "blinds (no-limit) or small bets (limit) per hand with 95 % intervals. The match with "
        "`loki` is in limit, while the thesis played Anders in no-limit.",
        [
            table(f"Against {ACE1}", [one for one in found if one.row.opponent == ACE1]),
            table(f"Against {LOKI}", [one for one in found if one.row.opponent == LOKI]),
            _shares(found, best),
        ],
        given.seed,
        file,
    )
    if given.write_results:
        write(page)
    if given.json:
        worths = {name: worth._asdict() for name, worth in best.items()}
        print(json.dumps({"matches": as_json(found), "best_responses": worths}, indent=2))
    else:
        show(page)


def _shares(found: list[Found], best: dict[str, Worth]) -> Table:
    rows = []
    for setting, worth in best.items():
        value = f"{worth.value:+.3f} ± {worth.ci95:.3f}"
        for one in found:
            if one.row.opponent == ACE1 and one.row.what.startswith(setting):
                rows.append((one.row.what, value, f"{one.won / worth.value:.0%}"))
    return Table(
        f"Share of what a best response wins from {ACE1}",
        ["bot", "best response, bb/h", "share"],
        rows,
        "By expectimax over sampled flops and all turns and rivers, with the bets of the setting; "
        "its value is at least the true one in expectation.",
    )


if __name__ == "__main__":
    run(main)
