"""Measures how well player models predict: `python tools/opponent_models.py FILE.db...`.

Each model is fitted to a part of each casebase and tested on the rest, as `cbr predict` does. With
`--logs FOLDER` it builds what it needs from public logs, and makes all figures of the page; what
was measured is kept in `--out`, so that a run may be stopped and goes on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cbr import BadValue, Casebase
from cbr_opponents.learning import observe
from cbr_opponents.prediction import SPLITS, Prediction, as_json, evaluate
from experiment import run, say
from prediction_figures import Options, figures
from prediction_figures import shown as shown_as
from results import Page, Table, add_option, show, write

_ABOUT = (
    "How well player models predict moves (fold, check or call, bet or raise) of players or "
    "hands that they were not fitted to, beside a baseline that knows only which moves are "
    "legal; 95 % intervals over players."
)
_MODELS = ("frequencies", "trees?profiles=false", "trees")


def main() -> None:
    parser = argparse.ArgumentParser(description="How well player models predict.")
    parser.add_argument("files", type=Path, nargs="*", help="casebases of hold'em")
    parser.add_argument("--logs", type=Path, help="a folder of public logs: all figures")
    parser.add_argument("--out", type=Path, default=Path("casebases/prediction"))
    parser.add_argument("--hands", type=int, help="with --logs: most hands of a log of people")
    parser.add_argument(
        "--matches", type=int, default=5, help="with --logs: how many matches of programs count"
    )
    parser.add_argument("--only", action="append", default=[], help="with --logs: of this log")
    parser.add_argument(
        "--kept", action="store_true", help="with --logs: of what is kept in --out, measure nothing"
    )
    parser.add_argument("--model", action="append", help="a player model; repeat it for several")
    parser.add_argument("--split", choices=SPLITS, default="players")
    parser.add_argument("--cards", type=int, default=4_000, help="hands whose cards are looked at")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    if given.logs:
        options = Options(
            given.logs,
            given.out,
            given.seed,
            given.hands,
            given.matches,
            given.only,
            given.kept,
        )
        tables, drawn = figures(options)
        page = Page("opponent-models", "Opponent models", _ABOUT, tables, given.seed, drawn)
        if given.write_results:
            write(page)
        show(page)
        return
    if not given.files:
        raise BadValue("name casebases, or a folder of logs by --logs")
    found: list[tuple[str, Prediction]] = []
    for file in given.files:
        with Casebase.open(file) as base:
            observed = observe(base)
            for model in given.model or _MODELS:
                say(f"{file}: {model}")
                one = evaluate(base, observed, model, given.split, given.seed, given.cards)
                found.append((file.stem, one))
    page = _page(found, given.split, given.seed)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps([as_json(one) for _, one in found], indent=2))
    else:
        show(page)


def _page(found: list[tuple[str, Prediction]], split: str, seed: int) -> Page:
    moves = [
        (
            file,
            one.model,
            f"{one.decisions:,}",
            shown_as(one.public.accuracy, ".3f"),
            f"{one.public.baseline_accuracy.mean:.3f}",
            shown_as(one.public.log_loss, ".4f"),
            f"{one.public.baseline_log_loss.mean:.4f}",
            "-" if one.with_cards is None else shown_as(one.with_cards.accuracy, ".3f"),
            "-" if one.with_cards is None else shown_as(one.with_cards.log_loss, ".4f"),
        )
        for file, one in found
    ]
    heads = "log,model,decisions,accuracy,baseline,log-loss,baseline,with cards,log-loss".split(",")
    shown = [
        (
            file,
            one.model,
            f"{one.cards.hands:,}",
            shown_as(one.cards.multiple, ".2f"),
            shown_as(one.cards.log, ".3f"),
            f"{one.cards.uniform_log:.3f}",
        )
        for file, one in found
        if one.cards is not None
    ]
    tables = [Table(f"Moves, split by {split}", heads, moves)]
    if shown:
        columns = ["log", "model", "hands", "in 1/1326", "logarithm", "if all hands were alike"]
        tables.append(
            Table("Mean probability of the cards that players turned out to hold", columns, shown)
        )
    return Page("opponent-models", "Opponent models", _ABOUT, tables, seed)


if __name__ == "__main__":
    run(main)
