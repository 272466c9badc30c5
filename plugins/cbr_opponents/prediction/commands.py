"""The command ``cbr predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli import File, Json, emit, note, progress, table

if TYPE_CHECKING:
    from cbr.statistics import Mean
    from cbr_opponents.learning import Observed
    from cbr_opponents.prediction.evaluation import Group, Prediction
    from cbr_opponents.prediction.scores import Figures

_Model = Annotated[
    str, typer.Option(metavar="SPEC", help="Player model; `cbr plugins` lists them.")
]
_Split = Annotated[
    str,
    typer.Option(
        help="players: fit to four fifths of the players, test on the others; time: test on the "
        "last fifth of the hands; leave-player-out: test on each player in turn; matches: the "
        "same, on a fifth of the matches (by the last number of a file's name), fit to the rest.",
    ),
]
_Against = Annotated[
    str, typer.Option(metavar="SPEC", help="Compare with this model on the same decisions.")
]
_Cards = Annotated[
    int, typer.Option(min=0, help="Most hands whose shown cards are looked at; 0: none.")
]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of the choice of players.")]
_Plot = Annotated[
    Path | None, typer.Option(metavar="P.png", help="Draw calibration and confusion matrix.")
]
_Curve = Annotated[
    Path | None,
    typer.Option(
        metavar="C.png",
        help="Draw log-loss against the hands seen of a player; with --against the gain too.",
    ),
]
_Save = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEL.npz",
        help="Then fit the model to all decisions and save it: file:MODEL.npz names it from then.",
    ),
]

#: Players that the table shows.
_SHOWN = 10


def add(app: typer.Typer) -> None:
    app.command(
        "predict", epilog="Example: cbr predict casebases/sample.db --model trees --split time"
    )(predict)


def predict(
    file: File,
    model: _Model = "trees",
    split: _Split = "players",
    against: _Against = "",
    cards: _Cards = 4_000,
    seed: _Seed = 0,
    plot: _Plot = None,
    curve: _Curve = None,
    save: _Save = None,
    json: Json = False,
) -> None:
    """Measure how well a model predicts moves and hidden cards.

    The model is fitted to some players or hands of a casebase and tested on others. A move is a
    fold, a check or call, or a bet or raise; it is predicted without the player's cards and, where
    they are known, with them. The baseline knows only which moves are legal. Intervals are over
    players.
    """
    from cbr import Casebase
    from cbr.files import verify_place
    from cbr.plots import verify_picture
    from cbr_opponents.learning import observe
    from cbr_opponents.model_files import verify_model_name
    from cbr_opponents.prediction.evaluation import as_json, compare, evaluate
    from cbr_opponents.prediction.pictures import draw_curve, draw_prediction
    from cbr_opponents.prediction.splits import verify_split

    verify_split(split)
    for picture in filter(None, (plot, curve)):
        verify_picture(picture)
    if save:
        verify_place(save)
        verify_model_name(save)
    with Casebase.open(file) as base:
        with progress("reading", "hands") as tell:
            observed = observe(base, tell)
        found = evaluate(base, observed, model, split, seed, cards)
        if against:
            compare(found, evaluate(base, observed, against, split, seed, 0))
        if save:
            _save(observed, model, base.domain, save)
    if plot:
        draw_prediction(found, plot)
    if curve:
        draw_curve(found, curve)
    if json:
        emit(as_json(found))
        return
    _show(found)
    for written in filter(None, (plot, curve, save)):
        note(f"wrote {written}")


def _save(observed: Observed, model: str, domain: str, path: Path) -> None:
    """Fit a model to all observed decisions, and write it."""
    from cbr.errors import BadValue
    from cbr_holdem.situation import BETTING
    from cbr_opponents.model_files import save_model
    from cbr_opponents.player_models import model_maker

    fitted = model_maker(model)(observed)
    if fitted.arrays is None:
        raise BadValue(f"player model {model!r} has no array form, which alone can be saved")
    usual = getattr(fitted, "usual", None)
    save_model(path, fitted.arrays, BETTING[domain], observed.usual if usual is None else usual)


def _show(found: Prediction) -> None:
    heads = ["", "decisions", "accuracy", "baseline", "log-loss", "gain", "Brier"]
    rows = [_row("all", found.public)]
    if found.with_cards is not None:
        rows.append(_row("where cards are known, with them", found.with_cards))
    rows += [_row(*group) for group in found.situations]
    if found.sizes is not None:
        rows.append(_row("sizes of raises", found.sizes))
    table(f"{found.model}, split by {found.split}", heads, rows)
    table("by hands seen of the player before", heads, [_row(*group) for group in found.curve])
    players = found.players[:_SHOWN]
    more = len(found.players) - len(players)
    title = "by player" + (f" ({more:,} more with --json)" if more else "")
    table(title, heads, [_row(*_quoted(group)) for group in players])
    if found.cards is not None:
        known = found.cards
        lines = [
            ("hands of players whose cards became known", f"{known.hands:,}"),
            ("mean probability of the cards held, in 1/1326", _mean(known.multiple, ".2f")),
            ("mean logarithm of it", _mean(known.log, ".3f")),
            ("the same if all hands were equally likely", f"{known.uniform_log:.3f}"),
        ]
        table("what the cards turn out to be", ["", ""], lines)
    for name, gain in found.against.items():
        table("paired", ["log-loss less than that of", "by"], [(name, _mean(gain, "+.4f"))])
        rows = [
            (one.hands_seen, f"{one.decisions:,}", _mean(one.gain, "+.4f"))
            for one in found.gains[name]
        ]
        table("the same by hands seen of the player before", ["", "decisions", "gain"], rows)


def _quoted(group: Group) -> Group:
    return group._replace(name=group.name or "(no name)")


def _row(name: str, of: Figures) -> tuple[str, ...]:
    return (
        name,
        f"{of.decisions:,}",
        _mean(of.accuracy, ".3f"),
        f"{of.baseline_accuracy.mean:.3f}",
        _mean(of.log_loss, ".4f"),
        _mean(of.gain, "+.4f"),
        f"{of.brier.mean:.4f}",
    )


def _mean(of: Mean, form: str) -> str:
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form.removeprefix('+')}}"
