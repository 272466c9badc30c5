"""Advice in words: its actions as a table, principal lines, and ranges as grids of 13 x 13."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import fill

import numpy as np
from rich.text import Text

from cbr.cli import printable
from cbr.typing import Floats, Ints
from cbr_arena.advice import Advice, Choice
from cbr_holdem.cards import HANDS, RANKS
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, HOLE, STREET

_WIDTH = 76
#: Actions that are shown; `--json` has all.
_MOST = 12
#: Styles of a class of hands by how much likelier it is than at random, up to these: distinct on
#: dark and on light screens.
_STYLES = ((0.2, "dim"), (0.8, "bright_blue"), (1.25, ""), (3.0, "red"), (np.inf, "bold red"))


_LEGEND = "100: as likely as at random, 12x: twelve times; suited above the diagonal"


def amount(chips: float, unit: int = 1) -> str:
    """Chips as an amount of a currency, of which one has `unit` chips.

    >>> amount(150, 100), amount(1250)
    ('1.50', '1,250')
    """
    return f"{chips / unit:,.{len(str(unit)) - 1}f}"


def action_text(one: Choice, unit: int = 1) -> str:
    """An action in words.

    >>> action_text(Choice("raise", 300, 1.0), 100)
    'raise to 3.00'
    """
    if one.to is None:
        return one.action
    return f"{one.action} {'to ' if one.action == 'raise' else ''}{amount(one.to, unit)}"


def choices_text(advice: Advice, unit: int = 1) -> list[Text]:
    """A line for each action with its figures, the likeliest first."""
    told = [one for one in advice.choices if one.chance or one.value is not None or one.visits]
    shown = told[:_MOST]
    heads = {
        "chance": [f"{one.chance:.1%}" for one in shown],
        "value": [_figure(one.value, "+.3f") for one in shown],
        "s.e.": [_figure(one.error, ".3f") for one in shown],
        "visits": [_figure(one.visits, ",") for one in shown],
    }
    known = {head: cells for head, cells in heads.items() if set(cells) != {"-"}}
    words = [action_text(one, unit) for one in shown]
    wide = max([10, *map(len, words)]) + 2
    unit_text = f"   values in {advice.unit}" if "value" in known else ""
    head = " " * wide + "".join(f"{head:>10}" for head in known) + unit_text
    lines = [Text(head, "dim")] if shown else []
    for place, word in enumerate(words):
        cells = "".join(f"{cells[place]:>10}" for cells in known.values())
        lines.append(Text(f"{word:<{wide}}{cells}", "bold" if place == 0 else ""))
    left = len(advice.choices) - len(shown)
    if left:
        rest = sum(one.chance for one in told[_MOST:])
        lines.append(Text(f"{f'{left} more':<{wide}}{rest:>10.1%}"))
    return lines


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def lines_text(advice: Advice, names: Sequence[str], unit: int = 1) -> list[Text]:
    """The principal lines; `names` are those of the players by seat."""
    lines = [Text("Principal lines", "bold")] if advice.lines else []
    for number, moves in enumerate(advice.lines, 1):
        streets = [
            f"{street}: " + ", ".join(_move_text(move, names, unit) for move in part)
            for street, part in groupby(moves, key=lambda move: move[0])
        ]
        text = fill(f"{number}. {'; '.join(streets)}", _WIDTH, subsequent_indent="   ")
        lines += [Text(line) for line in printable(text).split("\n")]
    return lines


def _move_text(move: tuple[str, int, str, int], names: Sequence[str], unit: int) -> str:
    _street, seat, what, chips = move
    text = f"{names[seat]} {what}s"
    if chips:
        text += f"{' to' if what == 'raise' else ''} {amount(chips, unit)}"
    return text


def grid_of(found: Floats, seen: Ints) -> Floats:
    """How likely each class of hands is in a range [1326], as a multiple of its chance among all
    hands that are possible at a table as seen [WIDTH]: [13, 13], aces first, suited hands above the
    diagonal. NaN where a class is not possible."""
    holes, board = HOLE + 2 * seen[ACTOR], BOARD_CARDS[int(seen[STREET])]
    dead = np.concatenate([seen[holes : holes + 2], seen[BOARD : BOARD + board]])
    possible = ~np.isin(HANDS, dead).any(axis=1)
    low, high = 12 - (HANDS >> 2).T.astype(int)  # the place of each card's rank
    suited = (HANDS[:, 0] & 3) == (HANDS[:, 1] & 3)
    place = np.where(suited, 13 * high + low, 13 * low + high)
    likely = np.bincount(place, found, 169)
    even = np.bincount(place, possible / possible.sum(), 169)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = np.where(even > 0, likely / even, np.nan)
    return ratio.reshape(13, 13)


def grid_text(found: Floats, seen: Ints, name: str) -> list[Text]:
    """A range as a grid of percentages; 100 is a hand as likely as if nothing were known."""
    ranks = RANKS[::-1]
    lines = [
        Text(f"Range of {printable(name)}", "bold"),
        Text("  " + "".join(f"{rank:>5}" for rank in ranks), "bold"),
    ]
    for rank, row in zip(ranks, grid_of(found, seen).tolist(), strict=True):
        line = Text(f" {rank}", "bold")
        for ratio in row:
            line.append(f"{cell_text(ratio):>5}", _style(ratio))
        lines.append(line)
    return lines


def cell_text(ratio: float) -> str:
    """A multiple of an even chance in percent, in at most four characters.

    >>> cell_text(1.254), cell_text(0.0), cell_text(221.0), cell_text(float("nan"))
    ('125', '0', '221x', '-')
    """
    if ratio != ratio:
        return "-"
    return f"{100 * ratio:.0f}" if ratio < 9.995 else f"{ratio:.0f}x"


def _style(ratio: float) -> str:
    return next((style for most, style in _STYLES if ratio <= most), "dim")


def advice_lines(
    advice: Advice, seen: Ints, names: Sequence[str], unit: int = 1, choices: bool = True
) -> list[Text]:
    """All of an advice, in lines; `seen` is the table as the seat to act sees it [WIDTH], `names`
    are those of the players by seat."""
    parts = [choices_text(advice, unit)] if choices else []
    if advice.why:
        parts.append([Text(line) for line in printable(advice.why).split("\n")])
    parts.append(lines_text(advice, names, unit))
    if advice.ranges:
        parts.append([Text(_LEGEND, "dim")])
    for seat, found in sorted(advice.ranges.items()):
        parts.append(grid_text(found, seen, names[seat]))
    lines: list[Text] = []
    for part in filter(None, parts):
        lines += [Text(""), *part] if lines else part
    return lines
