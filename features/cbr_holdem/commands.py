"""The commands ``cbr odds`` and ``cbr tables``."""

from __future__ import annotations

import dataclasses
import math
from typing import Annotated, Any

import typer

from cbr.cli import Json, emit, lines, note, progress, table, waiting

_Hands = Annotated[
    list[str],
    typer.Argument(
        metavar="HAND [HAND...]", help="Hands or ranges: AhKs, TT+,AQs+, any.", show_default=False
    ),
]
_Board = Annotated[str, typer.Option(metavar="CARDS", help='Board of 3 to 5 cards: "Qs Js 2d".')]
_Opponents = Annotated[
    int | None, typer.Option(help="Further opponents, with random hands; up to 9 opponents in all.")
]
_Error = Annotated[
    float, typer.Option(help="Standard error of the equity to reach if deals are sampled.")
]
_Seed = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of sampled deals.")]
_Strength = Annotated[
    bool, typer.Option("--strength", help="Add hand strength and potential; needs a board.")
]
_Workers = Annotated[int, typer.Option(min=1, help="Processes to compute with.")]
_Force = Annotated[bool, typer.Option("--force", help="Build the table even if it exists.")]


def add(app: typer.Typer) -> None:
    app.command(
        "odds", epilog='Example: cbr odds AhKs --board "Qs Js 2d" --opponents 3 --strength'
    )(odds)
    tables = typer.Typer(
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Precomputed tables that make the hold'em kernel faster.",
        epilog="Example: cbr tables build",
    )
    tables.command("build", epilog="Example: cbr tables build --workers 2")(build)
    tables.command("info", epilog="Example: cbr tables info --json")(info)
    app.add_typer(tables, name="tables")


def odds(
    hands: _Hands,
    board: _Board = "",
    opponents: _Opponents = None,
    error: _Error = 0.001,
    seed: _Seed = 1,
    strength: _Strength = False,
    json: Json = False,
) -> None:
    """How often a hand wins, ties and loses on all boards.

    The rest of the board is dealt. The first hand or range is ours. A single hand without
    --opponents plays one opponent with a random hand. All deals are counted where that is fast;
    otherwise deals are sampled until the standard error is reached.
    """
    rivals = (1 if len(hands) == 1 else 0) if opponents is None else opponents
    from cbr_holdem.strength.equity import question, warm_up

    if strength:
        _verify_one_position(hands[0], board)
    asked = question(hands, board, opponents=rivals, error=error)
    warm_up()
    with waiting("computing the odds; where deals are sampled, a larger --error is faster"):
        players = asked.odds(seed)
    found = dataclasses.asdict(players[0])
    if strength:
        found |= _strength(hands[0], board, rivals + len(hands) - 1)
    if json:
        emit(found | {"players": [dataclasses.asdict(player) for player in players]})
        return
    names = [*hands, *(["any"] * rivals)]
    table(
        f"on {board}" if board else "before the flop",
        ["hand", "win", "tie", "lose", "equity"],
        [
            (name, *(f"{100 * part:.3f} %" for part in (p.win, p.tie, p.lose, p.equity)))
            for name, p in zip(names, players, strict=True)
        ],
    )
    ours = players[0]
    if ours.exact:
        lines(f"exact: all {ours.deals:,} deals were counted")
    else:
        error_now = f"{100 * ours.standard_error:.3f} %"
        lines(f"standard error of our equity {error_now}, from {ours.deals:,} deals (seed {seed})")
    if strength:
        _show_strength(found, rivals + len(hands) - 1)


def _verify_one_position(hand: str, board: str) -> None:
    """Check, before anything is computed, that --strength has a single hand and a board."""
    from cbr.errors import BadValue
    from cbr_holdem.cards.ranges import hands_of

    if not board:
        raise BadValue("--strength needs a --board")
    if len(hands_of(hand)) != 1:
        raise BadValue(f"--strength is for one hand such as AhKs, not for the range {hand!r}")


def _strength(hand: str, board: str, opponents: int) -> dict[str, float | None]:
    from cbr_holdem.strength.hand_strength import strength_of

    found = strength_of(hand, board)
    values = {"ihs": found.ihs(opponents), "ehs": found.ehs(opponents)}
    values |= {n: getattr(found, n) for n in ("ppot", "npot", "ppot1", "npot1", "e_hs", "e_hs2")}
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _show_strength(found: dict[str, Any], opponents: int) -> None:
    meaning = {
        "ihs": f"hand strength against {opponents}",
        "ehs": f"effective hand strength against {opponents}",
        "ppot": "chance to come from behind",
        "npot": "chance to fall behind",
        "ppot1": "the same for the next card alone",
        "npot1": "the same for the next card alone",
        "e_hs": "expected hand strength on the river",
        "e_hs2": "expected square of it",
    }
    lines("")
    table(
        "Strength",
        ["", "value", "meaning"],
        [
            (name, None if found[name] is None else f"{found[name]:.6f}", text)
            for name, text in meaning.items()
        ],
    )


def build(workers: _Workers = 1, force: _Force = False, json: Json = False) -> None:
    """Compute the flop table (18 MB, some minutes) in the user's cache folder.

    An interrupted build is resumed. CBR_CACHE_DIR sets another folder.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from cbr_holdem.strength import flop_table

    path = flop_table.table_path()
    if path.exists() and not force:
        flop_table.load(path)
        note(f"{path} exists and is intact; --force builds it again")
    else:
        with progress("flop table", "positions") as tell:

            def told(done: int, total: int) -> None:
                tell(done, total, done)

            if workers == 1:
                flop_table.build(path, progress=told)
            else:
                with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
                    flop_table.build(path, executor=pool, progress=told)
    _report(json)


def info(json: Json = False) -> None:
    """The path of the flop table, and whether it exists and is intact."""
    _report(json)


def _report(json: bool) -> None:
    from cbr import CbrError
    from cbr_holdem.strength import flop_table

    path = flop_table.table_path()
    state = "not there"
    if path.exists():
        try:
            flop_table.load(path)
            state = "sound"
        except CbrError as error:
            state = str(error)
    size = path.stat().st_size if path.exists() else 0
    if json:
        emit({"flop_table": {"path": str(path), "state": state, "bytes": size}})
    else:
        lines(f"flop table {path}: {state}" + (f", {size / 1e6:.1f} MB" if size else ""))
