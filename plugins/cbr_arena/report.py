"""Output of matches and tournaments: tables for people, JSON for scripts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from cbr.cli import emit, lines, note, table
from cbr_arena.match import Match, Played
from cbr_arena.results import Line, Rate, difference, lines_of
from cbr_arena.tournament import Tournament

#: With fewer sessions than this, a note is printed on the intervals.
_FEW = 10
#: The heading of one more column, by adjustment.
_ADJUSTED = {"all-in": ("all-ins on average",), "aivat": ("without luck",)}


def _adjusted(match: Match) -> str:
    found = _ADJUSTED.get(match.adjust)
    return f", {found[0]} ({match.adjust})" if found else ""


def unit_of(match: Match) -> str:
    return "sb/h" if match.game.betting == "limit" else "bb/h"


def show(
    matches: Sequence[Match], played: Sequence[Played], vs: tuple[str, str] | None, json: bool
) -> None:
    first = matches[0]
    found = [lines_of(one, what) for one, what in zip(matches, played, strict=True)]
    better = difference(played[0], played[1], first.seats - 1) if vs else None
    pots = played[0].pots
    if json:
        document: dict[str, Any] = {
            "game": first.game.betting,
            "seats": first.seats,
            "hands": sum(len(what.won) * first.seatings for what in played),
            "seed": first.seed,
            "showdowns": float(pots[1] / pots[0]),
            "pot": float(pots[2] / pots[0] / first.game.big_blind),
            "bots": [dataclasses.asdict(line) for line in _lines_shown(found, vs)],
        }
        figures = _figures(played)
        if figures:
            document["figures"] = figures
        if vs and better is not None:
            document["difference"] = {"a": vs[0], "b": vs[1], **dataclasses.asdict(better)}
        emit(document)
        return
    unit = unit_of(first)
    table(
        f"{first.seats} seats, {first.game.betting}, {pots[0]:,} hands{' each' if vs else ''}, "
        f"seed {first.seed}; "
        f"{pots[1] / pots[0]:.0%} showdowns, {pots[2] / pots[0] / first.game.big_blind:.1f} "
        f"{unit[:2]} in a pot",
        [
            "bot",
            unit,
            *_ADJUSTED.get(first.adjust, ()),
            "sd",
            "VPIP",
            "PFR",
            "aggression",
            "showdowns",
        ],
        [_row(line) for line in _lines_shown(found, vs)],
    )
    if vs and better is not None:
        lines(f"{vs[0]} less {vs[1]} on the same deals: {_rate(better)} {unit}")
    for spec, means in _figures(played).items():
        table(spec, ["figure", "mean"], list(means.items()))
    _few_sessions(matches, played)
    _faults(_lines_shown(found, vs))


def _figures(played: Sequence[Played]) -> dict[str, dict[str, float]]:
    """The bots' own statistics, as means by spec and name."""
    found: dict[str, dict[str, float]] = {}
    for one in played:
        mine: dict[str, dict[str, float]] = {}
        for (spec, name), (total, weight) in one.figures.items():
            mine.setdefault(spec, {})[name] = total / weight if weight else 0.0
        found = mine | found  # if a bot sat in both matches, those of the first
    return found


def _lines_shown(found: list[list[Line]], vs: object) -> list[Line]:
    """All bots; with --vs, the two compared, and the others as they played against the first."""
    return [found[0][-1], found[1][-1], *found[0][:-1]] if vs else found[0]


def _row(line: Line) -> tuple[object, ...]:
    return (
        line.name,
        _rate(line),
        *(() if line.adjusted is None else (_rate(line.adjusted),)),
        f"{line.sd:.2f}",
        f"{line.vpip:.2f}",
        f"{line.pfr:.2f}",
        "-" if line.aggression is None else f"{line.aggression:.2f}",
        f"{line.showdown:.2f}",
    )


def _rate(rate: Line | Rate) -> str:
    return f"{rate.rate:+.3f}" + ("" if rate.ci95 is None else f" ± {rate.ci95:.3f}")


def _few_sessions(matches: Sequence[Match], played: Sequence[Played]) -> None:
    """Print why there is no interval, or a wide one."""
    sessions = [len(np.unique(one.session)) for one in played if one.session is not None]
    if sessions and min(sessions) < _FEW:
        note(
            f"bots used their memory, so intervals are over sessions, of which there "
            f"{'is one' if min(sessions) == 1 else f'are {min(sessions)}'}; play more --hands, or "
            f"give a shorter --session than {matches[0].session}"
        )


def _faults(found: Sequence[Line]) -> None:
    for line in found:
        for why, times in line.faults.items():
            note(f"{line.name} had {times:,} faults: {why}")


def _faults_of(matches: Sequence[Match], played: Sequence[Played], name: str) -> dict[str, int]:
    """The faults of a bot in all matches of a tournament."""
    total: Counter[str] = Counter()
    for one, what in zip(matches, played, strict=True):
        for line in lines_of(one, what):
            if line.name == name:
                total.update(line.faults)
    return dict(total)


def show_tournament(
    matches: Sequence[Match], played: Sequence[Played], found: Tournament, json: bool
) -> None:
    """Show the results of all pairs, and both rankings."""
    first, order, dropped = matches[0], found.by_total, found.run_off()
    hands = sum(len(what.won) * first.seatings for what in played)
    # The winner of the run-off is the last who is left.
    place = {bot: len(dropped) - at for at, (bot, _) in enumerate(dropped)}
    if json:
        emit(
            {
                "game": first.game.betting,
                "seats": 2,
                "hands": hands,
                "seed": first.seed,
                "bots": [
                    {
                        "name": found.names[bot],
                        **dataclasses.asdict(found.total(bot)),
                        "against": {
                            found.names[other]: dataclasses.asdict(found.against(bot, other))
                            for other in order
                            if other != bot
                        },
                        "run_off": place[bot],
                        "faults": _faults_of(matches, played, found.names[bot]),
                    }
                    for bot in order
                ],
                "dropped": [
                    {"name": found.names[bot], **dataclasses.asdict(rate)} for bot, rate in dropped
                ],
            }
        )
    else:
        table(
            f"heads-up, {first.game.betting}, {hands:,} hands in {len(matches)} matches, "
            f"seed {first.seed}: {unit_of(first)} by total bankroll{_adjusted(first)}",
            ["bot", "total", "run-off", *(found.names[bot] for bot in order)],
            [
                (
                    found.names[bot],
                    _rate(found.total(bot)),
                    place[bot],
                    *("" if a == bot else _rate(found.against(bot, a)) for a in order),
                )
                for bot in order
            ],
        )
        lines(
            "run-off: "
            + ", ".join(f"{found.names[bot]} drops at {_rate(rate)}" for bot, rate in dropped[:-1])
            + f"; {found.names[dropped[-1][0]]} is left"
        )
    _few_sessions(matches, played)
    for one, what in zip(matches, played, strict=True):
        _faults(lines_of(one, what))
