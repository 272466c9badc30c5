"""Evolves weights for the CBR bot: `python tools/evolution.py`, after casper.py and cbr_bot.py.

It runs CASPER's two published plans on the large casebase of CASPER's experiment, and the robust
search on the casebase with labels. Run files are kept in the folder of the casebases, and an
interrupted search is continued.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from experiment import cbr_output, run, say
from results import Page, Table, add_option, show, write


class Search(NamedTuple):
    """A search: its title, its casebase, and the options of `cbr evolve`."""

    title: str
    base: str
    options: tuple[str, ...]


SEARCHES = (
    Search("CASPER's self-play", "large.db", ("--plan", "casper-self-play")),
    Search("CASPER's second algorithm", "large.db", ("--plan", "casper-opponents")),
    Search(
        "The robust search",
        "labelled.db",
        ("--arena", "holdem?against=lag*8", "--report", "60000"),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What evolution of weights finds.",
        epilog="Example: python tools/evolution.py --workers 2",
    )
    parser.add_argument("--folder", type=Path, default=Path("casebases/casper"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    found = {search.title: _searched(search, given) for search in SEARCHES}
    tables = [table for title, report in found.items() for table in _tables(title, report)]
    about = (
        "Weights evolved for the CBR bot. Scores are in small bets per hand with 95 % intervals "
        "over blocks; all sets of weights play the same fresh deals in the same seats. Where the "
        "range of the scores of a generation is that of luck, the search selects noise."
    )
    drawn = given.folder / "pictures" / "spread.png"
    cbr_output("evolve-report", _run_file(SEARCHES[0], given.folder), "--plot", drawn.parent)
    page = Page("evolution", "What evolution of weights finds", about, tables, given.seed, drawn)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        show(page)


def _searched(search: Search, given: argparse.Namespace) -> dict[str, Any]:
    """The report of a search, which is run or continued if it is not complete."""
    weights = given.folder / f"{_file_name(search)}.json"
    if not weights.exists():
        say(f"{search.title} from {search.base}")
        options = (*search.options, "--seed", given.seed, "--workers", given.workers, "--resume")
        cbr_output("evolve", given.folder / search.base, *options, "--out", weights)
    report: dict[str, Any] = json.loads(
        cbr_output("evolve-report", _run_file(search, given.folder), "--json")
    )
    return report


def _file_name(search: Search) -> str:
    return search.title.lower().replace("'", "").replace(" ", "-")


def _run_file(search: Search, folder: Path) -> Path:
    return folder / f"{_file_name(search)}.run.db"


def _tables(title: str, report: dict[str, Any]) -> Iterator[Table]:
    plan, arenas = report["settings"]["plan"]["name"], ", ".join(report["settings"]["arenas"])
    yield Table(
        f"{title}: generations",
        ["generation", "runs", "range of scores", "by luck", "best", "difference of rows"],
        [
            (
                one["generation"],
                one["runs"],
                f"{one['range']:.3f}",
                "-" if one["range_by_luck"] is None else f"{one['range_by_luck']:.3f}",
                f"{one['best']:+.3f}",
                f"{one['difference']:.2f}",
            )
            for one in report["steps"]
        ],
        f"Plan `{plan}`, arena `{arenas}`, averages over runs. The range by luck is what as many "
        "equal rows would show; the difference is the share of weight that rows do not have in "
        "common.",
    )
    yield Table(
        f"{title}: on fresh deals",
        ["weights", "score", "evolved is better by (paired)"],
        [
            (one["name"], _mean(one["score"]), _mean(one["behind"]))
            for one in report["result"]["judged"]
        ],
        f"{report['result']['trials']:,} hands.",
    )


def _mean(found: dict[str, Any] | None) -> str:
    if found is None:
        return "-"
    width = "" if found["ci95"] is None else f" ± {found['ci95']:.3f}"
    return f"{found['mean']:+.3f}{width}"


if __name__ == "__main__":
    run(main)
