"""Measures how well player models predict: `python tools/opponent_models.py FILE.db...`.

Each model is fitted to a part of each casebase and tested on the rest, as `cbr predict` does.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cbr import Casebase
from cbr.statistics import Mean
from cbr_opponents.learning import observe
from cbr_opponents.prediction import SPLITS, Prediction, as_json, evaluate
from experiment import run, say
from results import Page, Table, add_option, show, write

_MODELS = ("frequencies", "trees?profiles=false", "trees")


def main() -> None:
    parser = argparse.ArgumentParser(description="How well player models predict.")
    parser.add_argument("files", type=Path, nargs="+", help="casebases of hold'em")
    parser.add_argument("--model", action="append", help="a player model; repeat it for several")
    parser.add_argument("--split", choices=SPLITS, default="players")
    parser.add_argument("--cards", type=int, default=4_000, help="hands whose cards are looked at")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
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
    about = (
        "How well player models predict moves (fold, check or call, bet or raise) of players or "
        "hands that they were not fitted to, beside a baseline that knows only which moves are "
        "legal; 95 % intervals over players."
    )
    moves = [
        (
            file,
            one.model,
            f"{one.decisions:,}",
            _figure(one.public.accuracy, ".3f"),
            f"{one.public.baseline_accuracy.mean:.3f}",
            _figure(one.public.log_loss, ".4f"),
            f"{one.public.baseline_log_loss.mean:.4f}",
            "-" if one.with_cards is None else _figure(one.with_cards.accuracy, ".3f"),
            "-" if one.with_cards is None else _figure(one.with_cards.log_loss, ".4f"),
        )
        for file, one in found
    ]
    heads = "log,model,decisions,accuracy,baseline,log-loss,baseline,with cards,log-loss".split(",")
    shown = [
        (
            file,
            one.model,
            f"{one.cards.hands:,}",
            _figure(one.cards.multiple, ".2f"),
            _figure(one.cards.log, ".3f"),
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
    return Page("opponent-models", "Opponent models", about, tables, seed)


def _figure(of: Mean, form: str) -> str:
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form}}"


if __name__ == "__main__":
    run(main)
