"""Repeats van der Kleij's experiments: `python tools/van_der_kleij.py FILE.db... [--hidden F.db]`.

Each file is a casebase of no-limit hands of two, six or nine players. His tables 4.2 to 4.7 and 6.1
are printed beside ours, on players who were held out; with `--hidden`, a casebase whose cards are
all known, also how well hidden cards are inferred there (figure 5.5).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cbr import BadValue, Casebase
from cbr.statistics import Mean
from cbr.typing import Ints
from cbr_holdem.table import RAISE
from cbr_kmodels import (
    HeldOut,
    Plan,
    apart,
    fit_clusters,
    five_moves,
    held_out,
    prepare,
    seven_sizes,
)
from cbr_opponents.learning import Observed, observe
from experiment import say
from hidden_hands import compare, draw_folds
from hidden_hands import tables as hidden_tables
from results import Page, Table, add_option, show, write

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
    moves (4.3 to 4.5), and accuracy and baseline of the sizes of bets (4.6) and raises (4.7)."""

    moves: tuple[float, ...]
    accuracy: float
    gain: float
    bets: tuple[float, float]
    raises: tuple[float, float]


#: By players at the table. The gains are over what is legal, from the tables' margins.
THESIS = {
    2: Thesis((22.79, 26.91, 17.82, 13.11, 19.38), 59.6, 12.0, (77.1, 68.04), (88.5, 85.00)),
    6: Thesis((51.03, 16.78, 14.68, 8.14, 9.37), 69.2, 4.3, (63.5, 45.38), (58.4, 55.25)),
    9: Thesis((65.08, 11.61, 10.35, 5.46, 7.50), 74.2, 2.9, (59.9, 41.10), (72.3, 54.55)),
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
    parser.add_argument("--picture", type=Path, help="with --hidden: draw the fold curves")
    add_option(parser)
    given = parser.parse_args()
    if not given.files and not given.hidden:
        raise BadValue("name casebases, or one whose cards are all known by --hidden")
    plan = Plan(given.k, given.starts, given.seed)
    tables: list[Table] = []
    for file in given.files:
        tables += clustered(file, plan)
    tables.append(drift())
    for file in given.hidden:
        say(f"{file}: hidden cards")
        with Casebase.open(file) as base:
            found = compare(base, observe(base), given.model)
        tables += hidden_tables(file.stem, found)
        if given.picture:
            draw_folds(found, given.picture)
    page = Page("van-der-kleij", "K-models", _ABOUT, tables, given.seed, given.picture)
    if given.write_results:
        write(page)
    show(page)


def clustered(file: Path, plan: Plan) -> list[Table]:
    """The tables of one casebase."""
    say(f"{file}: {plan.k} clusters")
    with Casebase.open(file) as base:
        observed = observe(base)
    if observed.moves == RAISE + 1:
        raise BadValue(f"{file} is of limit hold'em; the thesis is of no-limit")
    known, tested = apart(observed, plan.seed)
    model, _ = fit_clusters(prepare(known, plan), plan)
    found = held_out(model, known, tested)
    thesis = THESIS.get(int(np.median(observed.features[:, _SEATS])))
    name = file.stem
    return [
        _moves_table(name, observed, thesis),
        _accuracy_table(name, found, thesis),
        _confusion_table(name, found),
        *_size_tables(name, observed, found, thesis),
    ]


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


def _confusion_table(name: str, found: HeldOut) -> Table:
    share = 100.0 * found.confusion / found.confusion.sum()
    rows = [(move, *(f"{one:.2f}" for one in row)) for move, row in zip(MOVES, share, strict=True)]
    return Table(f"{name}: made (rows) and likeliest (columns), %", ["", *MOVES], rows)


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
        tables.append(Table(f"{name}: {of.name} by size, %", SIZES, [_percent(often)]))
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
