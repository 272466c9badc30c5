"""Repeats van der Kleij's experiments: `python tools/van_der_kleij.py FILE.db... [--hidden F.db]`.

Each file is a casebase of no-limit hands of two, six or nine players. His tables 4.2 to 4.7 and 6.1
are printed beside ours, on players who were held out; with `--hidden`, a casebase whose cards are
all known, also how well hidden cards are inferred there (figure 5.5).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cbr import BadValue, Casebase
from cbr.statistics import Mean
from cbr.typing import Floats, Ints
from cbr_holdem.table import RAISE
from cbr_kmodels import (
    HeldOut,
    Plan,
    apart,
    draw_clusters,
    fit_clusters,
    five_moves,
    held_out,
    prepare,
    seven_sizes,
)
from cbr_opponents.learning import Observed, observe
from clusters_by_round import After, by_round, draw_accuracy
from experiment import say
from hidden_hands import Found, compare, draw_folds
from hidden_hands import tables as hidden_tables
from results import Page, Table, add_option, show, write
from shown_hands import ShownHands, draw_chances, draw_moves, shown_hands
from shown_hands import table as shown_table

_ABOUT = (
    "Van der Kleij's tables beside ours. Clusters are made of four fifths of the players; the "
    "others are assigned by the first half of their hands and judged on the second. The logs "
    "are other ones than his, with other mixes of moves, so gains over the baseline that knows "
    "what is legal are compared; 95 % intervals over players."
)
MOVES = ("fold", "check", "call", "bet", "raise")
SIZES = ("min", "1/4", "1/2", "3/4", "1", "3/2", "2+")


class Thesis(NamedTuple):
    """What the thesis has for a number of players: the shares of moves (table 4.2), accuracy of
    moves (4.3 to 4.5), and accuracy and baseline of the sizes of bets (4.6) and raises (4.7), with
    the shares of these sizes (appendix C)."""

    moves: tuple[float, ...]
    accuracy: float
    gain: float
    bets: tuple[float, float]
    raises: tuple[float, float]
    bet_sizes: tuple[float, ...]
    raise_sizes: tuple[float, ...]


#: By players at the table. The gains are over what is legal, from the tables' margins.
THESIS = {
    2: Thesis(
        (22.79, 26.91, 17.82, 13.11, 19.38),
        59.6,
        12.0,
        (77.1, 68.04),
        (88.5, 85.00),
        (5.77, 5.66, 16.36, 68.04, 3.14, 0.47, 0.57),
        (9.80, 0.00, 0.02, 0.22, 85.00, 4.24, 0.72),
    ),
    6: Thesis(
        (51.03, 16.78, 14.68, 8.14, 9.37),
        69.2,
        4.3,
        (63.5, 45.38),
        (58.4, 55.25),
        (5.97, 13.32, 29.30, 45.80, 3.95, 0.75, 0.91),
        (5.63, 8.56, 55.25, 25.81, 2.64, 0.70, 1.41),
    ),
    9: Thesis(
        (65.08, 11.61, 10.35, 5.46, 7.50),
        74.2,
        2.9,
        (59.9, 41.10),
        (72.3, 54.55),
        (3.95, 11.66, 37.22, 41.10, 4.29, 0.94, 0.84),
        (54.55, 14.17, 21.46, 6.35, 1.84, 0.78, 0.86),
    ),
}
#: Table 6.1: expected and observed sizes of people's bets and raises.
DRIFT = {
    "bets": (
        (76.51, 75.05, 216.93, 902.21, 41.63, 6.23, 7.56),
        (271, 31, 338, 312, 301, 15, 58),
        2941.30,
    ),
    "raises": (
        (572.81, 0.0, 1.17, 12.86, 4968.25, 247.83, 42.08),
        (1141, 50, 312, 1094, 2538, 398, 312),
        177114.33,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Van der Kleij's tables beside ours.")
    parser.add_argument("files", type=Path, nargs="*", help="casebases of no-limit hold'em")
    parser.add_argument("--hidden", type=Path, action="append", default=[])
    parser.add_argument("--model", default="trees", help="with --hidden: the public model")
    parser.add_argument("-k", type=int, default=10, help="clusters")
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures")
    add_option(parser)
    given = parser.parse_args()
    if not given.files and not given.hidden:
        raise BadValue("name casebases, or one whose cards are all known by --hidden")
    plan = Plan(given.k, given.starts, given.seed)
    logs = [clustered(file, plan) for file in given.files]
    tables = [table for log in logs for table in log.tables]
    if logs:
        tables.append(shown_table({log.name: log.shown for log in logs}))
    tables.append(drift())
    curves = {}
    for file in given.hidden:
        say(f"{file}: hidden cards")
        with Casebase.open(file) as base:
            curves[file.stem] = compare(base, observe(base), given.model)
        tables += hidden_tables(file.stem, curves[file.stem])
    pictures = drawn(logs, curves, given.pictures) if given.pictures else {}
    page = Page("van-der-kleij", "K-models", _ABOUT, tables, given.seed, pictures=pictures)
    if given.write_results:
        write(page)
    show(page)


class Log(NamedTuple):
    """What was found on a log: the tables, the cluster of each player after each round, `nearest`
    of `k`, the accuracy by round, and the chances of shown hands."""

    name: str
    tables: list[Table]
    observed: Observed
    k: int
    nearest: list[Ints]
    accuracy: list[After]
    shown: ShownHands


def clustered(file: Path, plan: Plan) -> Log:
    """Cluster the players of one casebase, and infer their cards."""
    name = file.stem
    say(f"{file}: {plan.k} clusters")
    with Casebase.open(file) as base:
        observed = observe(base)
        if observed.moves == RAISE + 1:
            raise BadValue(f"{file} is of limit hold'em; the thesis is of no-limit")
        known, tested = apart(observed, plan.seed)
        prepared = prepare(known, plan)
        model, clusters = fit_clusters(prepared, plan)
        found = held_out(model, known, tested)
        say(f"{file}: accuracy by round, and shown hands")
        accuracy = by_round(prepared, clusters, known, tested)
        shown = shown_hands(base, model, observed, tested)
    thesis = THESIS.get(int(np.median(observed.features[:, _SEATS])))
    tables = [
        _moves_table(name, observed, thesis),
        _accuracy_table(name, found, thesis),
        _confusion_table(name, MOVES, found.confusion),
        *_size_tables(name, observed, found, thesis),
    ]
    players = np.unique(prepared.observed.player)
    nearest = []
    for one in clusters.rounds:
        of = np.full(len(observed.names), -1)
        of[players] = one.nearest
        nearest.append(of)
    return Log(name, tables, observed, plan.k, nearest, accuracy, shown)


def drawn(logs: Sequence[Log], curves: Mapping[str, Found], folder: Path) -> dict[str, Path]:
    """Draw the thesis' figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Path] = {}
    if logs:
        made["Clusters by round (figure 4.2)"] = folder / "clusters.png"
        one = logs[min(1, len(logs) - 1)]  # the thesis shows six players
        draw_clusters(one.observed, one.nearest, one.k, folder / "clusters.png")
        made["Accuracy of moves by round (figure 4.3)"] = folder / "accuracy.png"
        draw_accuracy({log.name: log.accuracy for log in logs}, folder / "accuracy.png")
        made["Chances of shown hands by round (figure 5.4)"] = folder / "shown.png"
        draw_chances({log.name: log.shown for log in logs}, folder / "shown.png")
        made["Moves facing a bet on the flop (figure 5.5)"] = folder / "flop.png"
        draw_moves({log.name: log.shown for log in logs}, folder / "flop.png")
    for name, found in curves.items():
        made[f"Folds where all cards are known, {name}"] = folder / f"folds-{name}.png"
        draw_folds(found, folder / f"folds-{name}.png")
    return made


#: The column of features that has the players dealt in.
_SEATS = 14


def _moves_table(name: str, observed: Observed, thesis: Thesis | None) -> Table:
    often = np.bincount(five_moves(observed, observed.kind), minlength=5)
    rows = [(name, f"{len(observed):,}", *_percent(often))]
    if thesis:
        rows.append(("thesis, table 4.2", "", *(f"{one:.2f}" for one in thesis.moves)))
    return Table(f"{name}: moves, %", ["", "decisions", *MOVES], rows)


def _accuracy_table(name: str, found: HeldOut, thesis: Thesis | None) -> Table:
    legal = found.moves[0].accuracy.mean
    rows = [
        (
            one.name,
            _mean(one.accuracy, 100.0, ".1f"),
            f"{100.0 * (one.accuracy.mean - legal):+.1f}",
            _mean(one.log_loss, 1.0, ".4f"),
            _mean(one.gain, 1.0, "+.4f"),
        )
        for one in found.moves
    ]
    if thesis:
        rows.append(("thesis", f"{thesis.accuracy:.1f}", f"{thesis.gain:+.1f}", "", ""))
    return Table(
        f"{name}: accuracy of moves, {found.decisions:,} decisions of {found.players:,} players",
        ["", "accuracy, %", "over what is legal", "log-loss", "less than one model"],
        rows,
        "The thesis assigned players by the moves that are judged.",
    )


def _confusion_table(name: str, moves: Sequence[str], confusion: Floats) -> Table:
    share = 100.0 * confusion / confusion.sum()
    rows = [(move, *(f"{one:.2f}" for one in row)) for move, row in zip(moves, share, strict=True)]
    return Table(f"{name}: made (rows) and likeliest (columns), %", ["", *moves], rows)


def _size_tables(
    name: str, observed: Observed, found: HeldOut, thesis: Thesis | None
) -> list[Table]:
    tables = []
    kind = five_moves(observed, observed.kind)
    for of in found.sizes:
        often = np.bincount(
            seven_sizes(observed)[kind == MOVES.index(of.name[:-1])], minlength=len(SIZES)
        )
        common = of.scores[0].accuracy.mean
        rows = [
            (
                one.name,
                _mean(one.accuracy, 100.0, ".1f"),
                f"{100.0 * (one.accuracy.mean - common):+.1f}",
                _mean(one.log_loss, 1.0, ".4f"),
            )
            for one in of.scores
        ]
        if thesis:
            accuracy, usual = thesis.bets if of.name == "bets" else thesis.raises
            rows.append(("thesis", f"{accuracy:.1f}", f"{accuracy - usual:+.1f}", ""))
        heads = ["", "accuracy, %", "over the commonest", "log-loss"]
        tables.append(Table(f"{name}: sizes of {of.decisions:,} {of.name}", heads, rows))
        shares = [(name, *_percent(often))]
        if thesis:
            known = thesis.bet_sizes if of.name == "bets" else thesis.raise_sizes
            shares.append(("thesis, appendix C", *(f"{one:.2f}" for one in known)))
        tables.append(Table(f"{name}: {of.name} by size, %", ["", *SIZES], shares))
        tables.append(_confusion_table(f"{name}: {of.name}", SIZES, of.confusion))
    return tables


def drift() -> Table:
    """Table 6.1 with its chi-squares; a class that was never expected is left out of ours."""
    rows = []
    for name, (expected, observed, printed) in DRIFT.items():
        rows.append((f"{name}, expected", *(f"{one:.2f}" for one in expected), ""))
        square = chi_square(expected, observed)
        rows.append((f"{name}, observed", *map(str, observed), f"{square:,.2f} ({printed:,.2f})"))
    return Table(
        "thesis, table 6.1: sizes that people used",
        ["", *SIZES, "chi-square (printed)"],
        rows,
        "An expectation that is printed as 0.00 has no chi-square and is left out.",
    )


def chi_square(expected: Sequence[float], observed: Sequence[float]) -> float:
    """Pearson's, without classes that were never expected.

    >>> chi_square([10.0, 20.0], [12, 18])
    0.6
    """
    pairs = [(e, o) for e, o in zip(expected, observed, strict=True) if e > 0.0]
    return float(sum((o - e) ** 2 / e for e, o in pairs))


def _percent(often: Ints) -> tuple[str, ...]:
    return tuple(f"{100.0 * one / max(1, often.sum()):.2f}" for one in often)


def _mean(of: Mean, scale: float, form: str) -> str:
    mean = f"{scale * of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {scale * of.ci95:{form.removeprefix('+')}}"


if __name__ == "__main__":
    main()
