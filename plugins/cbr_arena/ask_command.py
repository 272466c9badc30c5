"""The command ``cbr ask``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli import Json, console, emit, lines, printable

if TYPE_CHECKING:
    from cbr.typing import Ints
    from cbr_arena.advice import Advice
    from cbr_logs import OpenHand

_Bot = Annotated[
    str, typer.Argument(metavar="BOT", help="A bot as in `cbr match`.", show_default=False)
]
_Hand = Annotated[
    str,
    typer.Argument(
        metavar="HAND",
        help="A file with hands in progress, in PHH or as PokerStars writes them; - for stdin.",
        show_default=False,
    ),
]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of the bot.")]
_Draws = Annotated[
    int,
    typer.Option(
        min=1,
        max=1_000_000,
        help="How often to ask a bot that does not tell the chances of its actions.",
    ),
]
_Plot = Annotated[
    Path | None, typer.Option(metavar="FILE.png", help="Draw the chances and the ranges.")
]


def add(app: typer.Typer) -> None:
    app.command("ask", epilog="Example: cbr ask lag casebases/open-hand.phh")(ask)


def ask(
    bot: _Bot,
    hand: _Hand,
    seed: _Seed = 0,
    draws: _Draws = 200,
    plot: _Plot = None,
    json: Json = False,
) -> None:
    """What a bot would do in a hand in progress, and why.

    The decision is that of the player who is next to act after the last action of the hand; his
    cards must be given, those of others may be unknown. A file of several hands gets one answer for
    each. Shown are the chances of the actions, and what the bot tells of itself: values, reasons,
    and of a search the visits, standard errors, principal lines and ranges of the opponents.

    The bot knows nothing of the players from earlier hands. In a limit game whose log does not name
    a cap, a round has at most four bets.
    """
    from cbr import BadValue
    from cbr.plots import verify_picture
    from cbr_arena.advice import advise
    from cbr_arena.players import build, players_of, verify_fits

    if plot is not None:
        verify_picture(plot)
    if len(players_of([bot])) != 1:
        raise BadValue(f"cbr ask asks one bot, and {bot!r} is several")
    hands = _read(hand)
    if plot is not None and len(hands) > 1:
        raise BadValue(f"--plot draws one hand, and {_shown(hand)} has {len(hands)}")
    games = dict.fromkeys(one.table.game.betting for one in hands)
    bots = {betting: build(bot, betting) for betting in games}
    for number, one in enumerate(hands):
        asked = bots[one.table.game.betting]
        verify_fits(asked, one.table.seats)
        advice = advise(asked, one.table, seed, draws)
        if json:
            emit(_document(one, advice), line=True)
        else:
            if number:
                lines("")
            _show(bot, one, advice)
    if plot is not None:
        _draw(bot, one, advice, plot)
        if not json:
            lines(f"drawn in {plot}")


def _read(text: str) -> list[OpenHand]:
    from cbr_logs import read_open_hands

    with _file(text) as path:
        return list(read_open_hands(path, _shown(text)))


@contextmanager
def _file(text: str) -> Iterator[Path]:
    """The file that is named, or one with what stdin gives."""
    if text != "-":
        yield Path(text)
        return
    import sys
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        yield path


def _shown(text: str) -> str:
    return "stdin" if text == "-" else text


def _seen(one: OpenHand) -> Ints:
    """The table as the player to act sees it [WIDTH]."""
    import numpy as np

    from cbr_holdem.situation import Pending

    table: Ints = Pending(one.table.rows, one.table.game, np.zeros(1, np.int64)).seen()[0]
    return table


def _title(bot: str, one: OpenHand) -> str:
    """The decision in a line."""
    from cbr_arena.advice_text import amount
    from cbr_holdem.situation import view_of

    view, unit = view_of(one.table.rows, 0, one.table.game), one.hand.unit
    board = f" on {view.board}" if view.board else ""
    call = f", {amount(view.call, unit)} to call" if view.call else ""
    return (
        f"{bot} as {one.hand.players[view.seat]} with {view.hole}{board}, "
        f"pot {amount(view.pot, unit)}{call}"
    )


def _show(bot: str, one: OpenHand, advice: Advice) -> None:
    from rich.text import Text

    from cbr_arena.advice_text import advice_lines

    out = console()
    out.print(Text(printable(f"Hand {one.name}: {_title(bot, one)}"), "bold"))
    out.print()
    for line in advice_lines(advice, _seen(one), one.hand.players, one.hand.unit):
        out.print(line)
    if advice.draws:
        out.print(Text(f"Chances are means of {advice.draws:,} draws.", "dim"))


def _draw(bot: str, one: OpenHand, advice: Advice, path: Path) -> None:
    from cbr_arena.advice_plots import draw_advice

    draw_advice(advice, _seen(one), one.hand.players, _title(bot, one), path, one.hand.unit)


def _document(one: OpenHand, advice: Advice) -> dict[str, Any]:
    """An answer as JSON; amounts are in the currency of the hand."""
    names, unit = one.hand.players, one.hand.unit

    def money(chips: int) -> float:
        return chips / unit if chips % unit else chips // unit

    return {
        "hand": one.name,
        "player": names[one.table.actor or 0],
        "actions": [
            {
                "action": choice.action,
                "to": None if choice.to is None else money(choice.to),
                "chance": round(choice.chance, 9),
                "value": choice.value,
                "error": choice.error,
                "visits": choice.visits,
            }
            for choice in advice.choices
        ],
        "why": advice.why,
        "unit": advice.unit,
        "draws": advice.draws,
        "lines": [
            [
                {
                    "street": street,
                    "player": names[seat],
                    "action": action,
                    "amount": money(chips) if chips else None,
                }
                for street, seat, action, chips in moves
            ]
            for moves in advice.lines
        ],
        "ranges": {names[seat]: _classes(found) for seat, found in advice.ranges.items()},
    }


def _classes(found: Any) -> dict[str, float]:
    """The probability of each of the 169 classes of hands in a range [1326]."""
    from cbr_holdem.cards import CLASSES, HANDS, hand_class

    summed = dict.fromkeys(CLASSES, 0.0)
    for (one, other), chance in zip(HANDS.tolist(), found.tolist(), strict=True):
        summed[hand_class(one, other)] += chance
    return summed
