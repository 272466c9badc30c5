"""Measures how similar `loki` is to the real programs: `python tools/loki_likeness.py LOGS`.

It predicts the decisions of the named players with cards that the logs show, and compares the
log-loss of `loki` with that of a table of frequencies by street and bets to call. Cards are only
known for players who reached a showdown and so did not fold; the prediction is a bet or raise
against a check or call. The table is learned on the tuning months (--tune); with --search so are
the free constants of `loki`. Both are judged on the test months.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from cbr import CbrError
from cbr.errors import NoSuchName
from cbr_bots import SETTINGS, STYLES, Formula, constants_of
from likeness.decisions import Decisions, decisions_in
from likeness.judging import frequencies, judged
from likeness.search import searched
from results import Page, Table, add_option, show, write

PLAYERS = "loki2b,pokibot1,Poki_GOM"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="How like the real Loki and Poki `loki` plays.",
        epilog="Example: python tools/loki_likeness.py irc_pokibots.tar.xz --tune holdem1/199906",
    )
    parser.add_argument("logs", nargs="+", help="logs, folders of them, or archives")
    parser.add_argument("--players", default=PLAYERS, help=f"names of players ({PLAYERS})")
    parser.add_argument("--tune", nargs="+", metavar="MONTH", default=[], help="default: the first")
    parser.add_argument(
        "--test", nargs="+", metavar="MONTH", default=[], help="default: the others"
    )
    parser.add_argument("--constants", choices=SETTINGS, default="poki", help="of loki (poki)")
    parser.add_argument("--style", choices=STYLES, default="moderate", help="of loki (moderate)")
    parser.add_argument("--search", action="store_true", help="search constants, from those given")
    parser.add_argument("--every", type=int, default=3, help="search on every nth hand only (3)")
    parser.add_argument("--limit", type=int, help="hands of each month to read (all)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    args = parser.parse_args(given)
    try:
        document = _document(args)
    except CbrError as error:
        print(error, file=sys.stderr)
        return 2
    page = _page(document)
    if args.write_results:
        write(page)
    if args.json:
        print(json.dumps(document, indent=2))
        return 0
    show(page)
    if document["searched"]:
        print("constants:", document["constants"])
    return 0


def _document(args: argparse.Namespace) -> dict[str, Any]:
    found = decisions_in(args.logs, args.players.split(","), args.limit)
    months = list(dict.fromkeys(month for decisions in found for month in decisions.months))
    tune = args.tune or months[:1]
    test = args.test or [month for month in months if month not in tune] or tune
    for month in [*tune, *test]:
        if month not in months:
            raise NoSuchName("month", month, months)
    learned = in_months(found, tune)
    constants = constants_of(args.constants)
    if args.search:
        some = [decisions.of(decisions.hand % args.every == 0) for decisions in learned]
        begin, tell = constants, lambda line: print(line, file=sys.stderr, flush=True)
        constants, _ = searched(begin, some, args.style, tell=tell)
    formula, table = Formula(args.style, constants=constants), frequencies(learned)
    return {
        "players": args.players.split(","),
        "tuned_on": tune,
        "searched": args.search,
        "style": args.style,
        "constants": asdict(constants),
        "lines": {
            month: [asdict(line) for line in judged(formula, table, in_months(found, [month]))]
            for month in dict.fromkeys([*tune, *test])
        },
    }


def in_months(found: Sequence[Decisions], months: Sequence[str]) -> list[Decisions]:
    """The decisions in some months."""
    kept = []
    for decisions in found:
        places = [i for i, month in enumerate(decisions.months) if month in months]
        inside = np.isin(decisions.month, places)
        if inside.any():
            kept.append(decisions.of(inside))
    return kept


def _page(document: dict[str, Any]) -> Page:
    def shown(figure: dict[str, float]) -> str:
        return f"{figure['mean']:.3f} ± {figure['ci95']:.3f}"

    tuned, lines = document["tuned_on"], document["lines"]
    tables = [
        Table(
            f"{month} ({'tuned on' if month in tuned else 'tested on'})",
            ["street", "hands", "decisions", "loki", "table", "gain"],
            [
                (
                    line["street"],
                    line["hands"],
                    line["decisions"],
                    *(shown(line[name]) for name in ("formula", "table", "gain")),
                )
                for line in found
            ],
        )
        for month, found in lines.items()
    ]
    about = (
        f"Decisions of {', '.join(document['players'])} with shown cards, all from hands that "
        "reached a showdown, so that only a bet or raise against a check or call is predicted. "
        "Log-loss of `loki` beside that of a table of frequencies by street and bets to call, "
        "which was learned on the tuning months; 95 % intervals over hands."
    )
    return Page("loki-likeness", "How like the real programs loki plays", about, tables)


if __name__ == "__main__":
    sys.exit(main())
