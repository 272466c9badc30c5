"""Compares the arena and its bots with figures that were computed with another engine.

Three parts: reference runs (win rate of the first bot, its standard deviation, showdowns and pots,
computed with another exact engine), the style of the small formula players, and how much duplicate
deals, common random numbers and control variates narrow an interval. Deals are those of --seed,
which nothing was tuned on.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, NamedTuple

from cbr.workers import executor
from cbr_arena import Match, Played, difference, lines_of, play, players_of, rate_of
from results import Page, Table, add_option, show, write


class Reference(NamedTuple):
    """A table, and the reference figures of its first bot; None where there is none."""

    bots: str
    rate: float
    ci95: float
    sd: float | None
    showdowns: float | None
    pot: float | None


REFERENCES = (
    Reference("call call", 0.0, 0.0, 0.979, 1.00, 2.0),
    Reference("raise raise", 0.0, 0.0, 23.50, 1.00, 48.0),
    Reference("random random", 0.0, 0.0, 3.26, 0.10, 5.4),
    Reference("fold call", -0.249, 0.0, 0.74, None, 1.75),
    Reference("miniloki?style=loose call", 0.990, 0.019, 4.28, 0.89, 7.5),
    Reference("miniloki?style=loose random", 0.871, 0.018, 4.09, 0.26, 6.7),
    Reference("miniloki?style=loose lag", 0.127, 0.028, 6.42, 0.53, 10.4),
    Reference("miniloki?style=loose*2", 0.0, 0.0, 5.12, 0.48, 8.1),
    Reference("lag*2", 0.0, 0.0, 8.87, 0.58, 14.3),
    Reference("miniloki?style=tight*9", 0.0, 0.0, 3.81, 0.62, 12.1),
    Reference("miniloki?style=tight call*8", 0.907, 0.046, 7.36, 1.00, 11.3),
    Reference("call miniloki?style=tight*8", -2.233, 0.042, 6.71, 0.98, 15.2),
    Reference("random miniloki?style=tight*8", -1.436, 0.032, 5.16, 0.57, 14.0),
    Reference("miniloki?style=tight lag*8", 0.254, 0.045, 7.23, 0.97, 42.2),
    Reference("random lag*8", -2.596, 0.062, 7.73, 0.96, 46.2),
)
#: Share of hands played and raised before the flop at nine seats.
STYLES = (("lag*9", 0.53, 0.21), ("miniloki?style=tight*9", 0.17, 0.07))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare the arena with reference runs.",
        epilog="Example: python tools/arena_reference.py --hands 30000",
    )
    parser.add_argument("--hands", type=int, default=90_000, help="hands of each row")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_option(parser)
    given = parser.parse_args()
    with executor(given.workers) as pool:

        def run(bots: str, **options: Any) -> tuple[Match, Played]:
            match = Match(players_of(bots.split()), hands=given.hands, seed=given.seed, **options)
            return match, play(match, pool)

        rows = [_row(reference, *run(reference.bots)) for reference in REFERENCES]
        styles = [_style(*style, *run(style[0])) for style in STYLES]
        narrower = _narrower(run)
    page = _page(given, rows, styles, narrower)
    if given.write_results:
        write(page)
    if given.json:
        print(json.dumps({"tables": rows, "styles": styles, "narrower": narrower}, indent=2))
    else:
        show(page)


def _page(
    given: argparse.Namespace,
    rows: list[dict[str, Any]],
    styles: list[dict[str, Any]],
    narrower: list[dict[str, Any]],
) -> Page:
    won = Table(
        f"What the first bot wins, sb/h; reference in brackets ({given.hands:,} hands a row)",
        ["table", "sb/h", "sd", "showdowns", "pot, sb"],
        [
            (
                row["table"],
                f"{row['rate']:+.3f} ± {row['ci95']:.3f} ({row['reference']['rate']:+.3f})",
                _beside(row, "sd", ".2f"),
                _beside(row, "showdowns", ".2f"),
                _beside(row, "pot", ".1f"),
            )
            for row in rows
        ],
    )
    style = Table(
        "How they play at nine seats",
        ["table", "VPIP", "PFR"],
        [(one["table"], _beside(one, "vpip", ".2f"), _beside(one, "pfr", ".2f")) for one in styles],
    )
    worth = Table(
        "As if so many times the hands were played",
        ["method", "table", "ours", "reference"],
        [
            (one["method"], one["table"], f"{one['times']:.1f} x", one["reference"])
            for one in narrower
        ],
        "How many times as many hands an unpaired match without variance reduction would need for "
        "an interval of the same width.",
    )
    about = (
        "Tables that were also computed with another exact engine, on deals that nothing was "
        "tuned on. Winnings are in small bets per hand with 95 % intervals; reference figures are "
        "in brackets."
    )
    return Page(
        "arena-reference", "The arena against a reference", about, [won, style, worth], given.seed
    )


def _row(reference: Reference, match: Match, played: Played) -> dict[str, Any]:
    line = lines_of(match, played)[0]
    hands, showdowns, chips = played.pots.tolist()
    return {
        "table": reference.bots,
        "rate": line.rate,
        "ci95": line.ci95,
        "sd": line.sd,
        "showdowns": showdowns / hands,
        "pot": chips / hands / match.game.big_blind,
        "reference": reference._asdict(),
    }


def _style(bots: str, vpip: float, pfr: float, match: Match, played: Played) -> dict[str, Any]:
    lines = lines_of(match, played)
    mean = {
        name: sum(getattr(line, name) for line in lines) / len(lines) for name in ("vpip", "pfr")
    }
    return {"table": bots, **mean, "reference": {"vpip": vpip, "pfr": pfr}}


def _narrower(run: Any) -> list[dict[str, Any]]:
    """For each method of variance reduction, the factor in hands that it saves: the squared ratio
    of the intervals."""
    found = []

    def tell(
        method: str, bots: str, reference: str, wide: float | None, narrow: float | None
    ) -> None:
        times = (wide or 0.0) ** 2 / (narrow or 1.0) ** 2
        found.append({"method": method, "table": bots, "times": times, "reference": reference})

    for bots, reference in (
        ("miniloki?style=loose call", "4.4"),
        ("miniloki?style=loose lag", "6.3"),
        ("miniloki?style=loose miniloki?style=tight", "8.8, a like bot"),
        ("miniloki?style=tight lag*8", "1.4"),
    ):
        _, alone = run(bots, duplicate=False)
        _, both = run(bots, adjust="aivat")
        wide, narrow = (rate_of(one.won[:, 0]).ci95 for one in (alone, both))
        tell("duplicate deals", bots, reference, wide, narrow)
        tell("and luck taken out", bots, "-", wide, rate_of(both.judged[:, 0]).ci95)
    # Two close variants in one seat: most hands come out the same.
    first, second = "triple:0.70,0.20,0.10", "triple:0.70,0.21,0.09"
    (_, a), (_, b) = run(f"lag*8 {first}"), run(f"lag*8 {second}")
    wide, narrow = rate_of(a.won[:, -1]).ci95, difference(a, b, 8).ci95
    # Two independent matches would have twice the variance of one.
    independent = (wide or 0.0) * 2**0.5
    tell("common random numbers", f"lag*8 --vs {first} {second}", "10.1", independent, narrow)
    return found


def _beside(row: dict[str, Any], name: str, form: str) -> str:
    reference = row["reference"].get(name)
    return f"{row[name]:{form}}" + ("" if reference is None else f" ({reference:{form}})")


if __name__ == "__main__":
    main()
