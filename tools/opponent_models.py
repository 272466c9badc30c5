"""How well players are predicted, by the grid and with trees: `python tools/habits.py FILE.db`.

Learns from the first half of the hands of a casebase, and predicts those decisions of the other
half of which the cards are known. It is what simulated play of `cbr label` rests on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from cbr import BadValue, Casebase
from cbr_holdem.table import STREETS
from cbr_opponents.boosting import log_loss, refined
from cbr_opponents.frequencies import Counts, count_moves, hides_folds
from experiment import run
from results import Page, Table, add_option, show, write


def main() -> None:
    parser = argparse.ArgumentParser(description="How well players are predicted.")
    parser.add_argument("file", type=Path, help="a casebase of hold'em")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    with Casebase.open(given.file) as base:
        counts = count_moves(base)
    if hides_folds(counts.decisions.counted(counts.seen.shape[-1]), counts.seen):
        raise BadValue(f"{given.file} hides most cards of those who fold, so trees learn nothing")
    found = losses(counts)
    page = _page(found)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(page)


def _page(found: list[dict[str, str | int | float]]) -> Page:
    rows = [(one["street"], one["decisions"], one["grid"], one["trees"]) for one in found]
    columns = ["street", "decisions", "by the grid", "with trees"]
    about = (
        "How well opponent models predict the players of a casebase: learned from the first half "
        "of its hands, tested on decisions of the other half whose cards are known."
    )
    table = Table("Log-loss of held-out moves", columns, rows, "Lower is better.")
    return Page("opponent-models", "Opponent models", about, [table])


def losses(counts: Counts) -> list[dict[str, str | int | float]]:
    """By street, of the second half by the first."""
    decisions, (players, _, _, moves) = counts.decisions, counts.seen.shape
    first = decisions.hand <= np.median(np.unique(decisions.hand))
    known = decisions.take(first)
    learned = Counts(known, known.seen(players, moves)).players()
    found: list[dict[str, str | int | float]] = []
    for number, street in enumerate(STREETS):
        asked = decisions.take(~first & (decisions.cell[:, 0] == number))
        start = np.log(np.maximum(learned.grid[tuple(asked.cell.T.astype(np.int64))], 1e-9))
        more = refined(learned.refined_by(number), asked.codes, start)
        found.append(
            {
                "street": street,
                "decisions": len(asked.move),
                "grid": round(log_loss(start, asked.move), 4),
                "trees": round(log_loss(more, asked.move), 4),
            }
        )
    return found


if __name__ == "__main__":
    run(main)
