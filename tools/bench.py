"""Runs a speed benchmark: `python tools/bench.py NAME [--json]`.

A figure is a ratio to a peer measured in the same run, interleaved, best of several, with the
peer's objects built before the clock starts; above 1 means ours is better. A benchmark is a module
in tools/benches with one function, `rows(full)`. CBR_BENCH_PYTHON may name a Python with the newest
cbrkit, which may need a later Python than this project.
"""

from __future__ import annotations

import argparse
import importlib
import json
from dataclasses import asdict
from pathlib import Path

from benches import Row
from cbr import CbrError
from results import Page, Table, add_option, show, write

FOLDER = Path(__file__).parent / "benches"


def main() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
    parser = argparse.ArgumentParser(
        description="Speed as a ratio to a peer.", epilog="Example: python tools/bench.py retrieval"
    )
    parser.add_argument("name", choices=names)
    parser.add_argument("--full", action="store_true", help="the long version")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    try:
        rows: list[Row] = importlib.import_module(f"benches.{given.name}").rows(given.full)
    except ModuleNotFoundError as error:
        parser.exit(2, f"Error: no {error.name} to compare with; pip install -e '.[bench]'\n")
    except CbrError as error:
        parser.exit(2, f"Error: {error}\n")
    page = _page(given.name, rows)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps({"bench": given.name, "rows": [asdict(row) for row in rows]}, indent=2))
    else:
        show(page)


def _page(name: str, rows: list[Row]) -> Page:
    columns = ["what", "ours", "unit", "peer", "peer's", "ratio"]
    shown = [(r.what, r.ours, r.unit, r.peer_name, r.peer, f"{r.ratio:.2f} x") for r in rows]
    about = (
        "Speed as a ratio to a peer measured in the same run, in turn, best of several; above 1 "
        "means that ours is better."
    )
    return Page(f"speed-{name}", f"Speed: {name}", about, [Table(f"bench {name}", columns, shown)])


if __name__ == "__main__":
    main()
