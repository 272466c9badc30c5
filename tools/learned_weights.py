"""Measures the gain of learned weights: `python tools/learned_weights.py LOG [LOG ...]`.

For each log it builds a casebase, learns weights from the first four fifths of the hands, and
predicts the last fifth with the casebase's own weights and with the learned ones, by CASPER's rule
and by the soft kernel.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiment import built, cbr_output, run, say
from results import Page, Table, add_option, show, write

COLUMNS = ["log", "stage", "decisions", "rule, learned", "gain", "soft, learned", "gain"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What learned weights gain over a casebase's own.",
        epilog="Example: python tools/learned_weights.py casebases/demo.phhs.xz",
    )
    parser.add_argument("logs", nargs="+", type=Path, help="logs that `cbr build` reads")
    parser.add_argument("--queries", type=int, default=5_000, help="decisions of each stage")
    parser.add_argument("--out", type=Path, default=Path("casebases/learned"), help="a folder")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = {
        log.name.split(".")[0]: _evaluated(log, given.out, given.queries) for log in given.logs
    }
    page = _page(found)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(page)


def _evaluated(log: Path, out: Path, queries: int) -> list[dict[str, Any]]:
    """The result of `cbr evaluate` for each stage of a log."""
    name = log.name.split(".")[0]
    base, weights = built([log], out / f"{name}.db"), out / f"{name}.weights.json"
    if not weights.exists():
        say(f"learning weights from {base}")
        cbr_output("learn-weights", base, "--first", 0.8, "--out", weights)
    options = ("--last", 0.2, "--weights", "", "--weights", weights, "--queries", queries)
    found = json.loads(cbr_output("evaluate", base, *options, "--json"))
    stages: list[dict[str, Any]] = found["stages"]
    return stages


def _page(found: dict[str, list[dict[str, Any]]]) -> Page:
    rows = [(log, *row) for log, stages in found.items() for row in _rows(stages)]
    note = "Lower log-loss is better; the gain is what learned weights take off it, paired."
    table = Table("Log-loss on the last fifth of the hands", COLUMNS, rows, note)
    about = (
        "Weights learned from the first four fifths of a log's hands, against the casebase's own "
        "(for limit hold'em CASPER's hand-picked ones), on decisions of the last fifth: under "
        "CASPER's rule with one case of each solution added, and under the soft kernel. Intervals "
        "are 95 % over hands."
    )
    return Page("learned-weights", "What learned weights gain", about, [table])


def _rows(stages: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    for stage in stages:
        learned = {one["predictor"]: one for one in stage["judged"] if one["against_first"]}
        cells = []
        for predictor in ("rule", "soft"):
            one = learned[predictor]
            gain = one["against_first"]
            cells.append(f"{one['log_loss']['mean']:.3f}")
            cells.append(f"{-gain['mean']:.4f} ± {gain['ci95'] or 0.0:.4f}")
        yield (stage["stage"], stage["asked"], *cells)


if __name__ == "__main__":
    run(main)
