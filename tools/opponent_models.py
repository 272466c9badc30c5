"""Measures how well opponent models predict: `python tools/opponent_models.py FILE.db`.

It learns a model from the first half of the hands of a casebase, and predicts the decisions of the
other half in which the cards are known, by frequencies alone and with boosted trees. `cbr label`
uses this model.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from cbr import BadValue, Casebase
from cbr_holdem.table import STREETS
from cbr_opponents import hides_folds, log_loss, refined
from cbr_opponents.learning import MoveCounts, count_moves
from experiment import run
from results import Page, Table, add_option, show, write


def main() -> None:
    parser = argparse.ArgumentParser(description="How well opponent models predict.")
    parser.add_argument("file", type=Path, help="a casebase of hold'em")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    with Casebase.open(given.file) as base:
        counts = count_moves(base)
    if hides_folds(counts.decisions.counted(counts.totals.shape[-1]), counts.totals):
        raise BadValue(
            f"{given.file} hides most cards of players who fold, so trees cannot be learned from it"
        )
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
    columns = ["street", "decisions", "by frequencies", "with trees"]
    about = (
        "How well opponent models predict the players of a casebase: learned from the first half "
        "of its hands, tested on decisions of the other half whose cards are known."
    )
    table = Table("Log-loss of held-out moves", columns, rows, "Lower is better.")
    return Page("opponent-models", "Opponent models", about, [table])


def losses(counts: MoveCounts) -> list[dict[str, str | int | float]]:
    """Log-losses by street on the second half of the hands, of a model learned on the first."""
    decisions, (players, _, _, moves) = counts.decisions, counts.totals.shape
    first = decisions.hand <= np.median(np.unique(decisions.hand))
    known = decisions.take(first)
    model = MoveCounts(known, known.counted_by_player(players, moves)).model()
    found: list[dict[str, str | int | float]] = []
    for number, street in enumerate(STREETS):
        held_out = decisions.take(~first & (decisions.cell[:, 0] == number))
        start = np.log(np.maximum(model.grid[tuple(held_out.cell.T.astype(np.int64))], 1e-9))
        more = refined(model.trees_of(number), held_out.features, start)
        found.append(
            {
                "street": street,
                "decisions": len(held_out.move),
                "grid": round(log_loss(start, held_out.move), 4),
                "trees": round(log_loss(more, held_out.move), 4),
            }
        )
    return found


if __name__ == "__main__":
    run(main)
