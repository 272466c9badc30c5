"""The command ``cbr opponents``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli import Json, emit, printable, table

if TYPE_CHECKING:
    from cbr_opponents.remembering.memory import Opponent

_File = Annotated[
    Path,
    typer.Argument(metavar="FILE.db", help="A file of `--remember`.", show_default=False),
]
_Most = Annotated[int, typer.Option("--most", min=1, help="Players to show, by hands.")]

_HEADS = ("player", "game", "hands", "enters", "raises", "folds to bets", "bets", "shown")


def add(app: typer.Typer) -> None:
    app.command("opponents", epilog="Example: cbr opponents opponents.db --json")(opponents)


def opponents(file: _File, most: _Most = 50, json: Json = False) -> None:
    """Show what was seen of opponents in earlier matches.

    `cbr match --remember` writes it. Of the hands in which a player acted: how many it entered and
    raised before the flop, how often it folded when there was a bet to call, how often it bet or
    raised, and in how many hands it showed its cards. If the file forgets old hands, recent ones
    weigh more in these rates.
    """
    from cbr_opponents.abstraction import RAISE_SIZES
    from cbr_opponents.remembering.files import MemoryFile

    opened = MemoryFile(file)
    rows = [
        _figures(name, game, one)
        for game in RAISE_SIZES
        for name, one in opened.recall(game).opponents.items()
    ]
    rows.sort(key=lambda row: (-row["hands"], row["game"], row["player"]))
    if json:
        emit({"file": str(file), "forget": opened.forget, "opponents": rows})
        return
    more = len(rows) - len(rows[:most])
    title = f"{len(rows):,} opponents" + (f" ({more:,} more with --most)" if more else "")
    table(title, _HEADS, [_cells(row) for row in rows[:most]])


def _figures(name: str, game: str, one: Opponent) -> dict[str, Any]:
    """The rates of a player; None where there was no chance to do so."""
    from cbr_holdem.table import FOLD, RAISE
    from cbr_opponents.profiles import S_ENTERED, S_HANDS, S_RAISED, moves_seen

    moves = moves_seen(one.seen)
    hands, faced = float(one.seen[S_HANDS]), float(moves[:, 1].sum())

    def share(part: float, whole: float) -> float | None:
        return min(1.0, float(part) / whole) if whole > 0.0 else None

    return {
        "player": name,
        "game": game,
        "hands": one.hands,
        "enters": share(one.seen[S_ENTERED], hands),
        "raises": share(one.seen[S_RAISED], hands),
        "folds_to_bets": share(moves[:, 1, FOLD].sum(), faced),
        "bets": share(moves[:, :, RAISE].sum(), float(moves.sum())),
        "shown": one.showdowns,
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    rates = (row[name] for name in ("enters", "raises", "folds_to_bets", "bets"))
    return (
        printable(row["player"]),
        row["game"],
        f"{row['hands']:,}",
        *("" if rate is None else f"{rate:.1%}" for rate in rates),
        f"{row['shown']:,}",
    )
