"""What clusters win at play: `python tools/kmodels_matches.py CLUSTERS.npz [--seats 6]`.

A search that weighs the clusters of a file plays the opponents of an experiment, and on the same
deals a search that has only the model that reads profiles, out of the same file: the one generic
model. Opponents change their style every so many hands. Beside it stands the match with `call`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from cbr.workers import executor
from cbr_arena import Match, difference, lines_of, play, players_of
from cbr_holdem.table import Game
from cbr_kmodels import read_kmodels
from cbr_opponents import save_model
from experiment import say, written
from results import Page, Table, add_option, show, write

_ABOUT = (
    "A search that weighs the clusters of a file (`mcts?model=kmodels:FILE`), and on the same "
    "deals a search with the one model of all players that reads profiles. The opponents change "
    "their style; intervals are over sessions."
)
#: Who is played with at a table of so many seats: `switch:` and, with more, others of one style.
STYLES = "lag,miniloki,call"


def main() -> None:
    parser = argparse.ArgumentParser(description="What clusters win at play.")
    parser.add_argument("clusters", type=Path, help="a file of `cbr cluster --out`")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--hands", type=int, default=2_000, help="of each match")
    parser.add_argument("--session", type=int, default=200, help="deals before bots forget")
    parser.add_argument("--every", type=int, default=50, help="hands before a style changes")
    parser.add_argument("--styles", default=STYLES, help="the bots that opponents play as")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9001, help="of deals that nothing was tuned on")
    parser.add_argument("--workers", type=int, default=1)
    add_option(parser)
    given = parser.parse_args()
    model, betting = read_kmodels(given.clusters)
    with tempfile.TemporaryDirectory() as folder:
        generic = Path(folder) / "generic.npz"
        save_model(generic, model.own, betting, model.usual)
        specs = [
            f"mcts?model={name}&iterations={given.iterations}"
            for name in (f"kmodels:{given.clusters.resolve()}", f"file:{generic}")
        ]
        rows = [_compared(specs, against, given, betting) for against in _opponents(given)]
    heads = ["against", "hands each", "clusters", "generic model", "difference"]
    unit = "small bets" if betting == "limit" else "big blinds"
    title = f"{betting}, {given.seats} seats, {unit} a hand"
    tables = [Table(title, heads, rows, "Luck is subtracted (AIVAT) but from the difference.")]
    name = f"kmodels-play-{betting}-{given.seats}"
    page = Page(name, "K-models at play", _ABOUT, tables, given.seed)
    if given.write_results:
        write(page)
    show(page)


def _opponents(given: argparse.Namespace) -> list[str]:
    """Opponents that change their style, and the thesis' opponent, who always calls."""
    many = given.seats - 1
    suffix = f"*{many}" if many > 1 else ""
    return [f"(switch:{given.styles}?every={given.every}){suffix}", f"call{suffix}"]


def _compared(
    specs: list[str], against: str, given: argparse.Namespace, betting: str
) -> tuple[str, ...]:
    """A row: what both searches win against the same opponents on the same deals."""
    played, lines = [], []
    with executor(given.workers) as pool:
        for spec in specs:
            say(f"{spec} against {against}")
            match = Match(
                players_of([against, spec]),
                given.hands,
                Game(betting),
                seed=given.seed,
                session=given.session,
                adjust="aivat",
            )
            played.append(play(match, pool))
            lines.append(lines_of(match, played[-1])[-1])
    better = difference(played[0], played[1], given.seats - 1)
    won = [written(line.adjusted) for line in lines]
    return against, f"{lines[0].hands:,}", *won, written(better)


if __name__ == "__main__":
    main()
