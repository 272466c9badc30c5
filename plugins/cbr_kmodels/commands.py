"""The command `cbr cluster`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli import File, Json, emit, note, progress, table

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cbr import Casebase
    from cbr.statistics import Mean
    from cbr.typing import Floats, Progress
    from cbr_kmodels.evaluation import HeldOut
    from cbr_kmodels.report import Row
    from cbr_kmodels.sizes import SizeClass

_K = Annotated[
    str,
    typer.Option("-k", metavar="N|auto", help="Clusters; auto: as many as predict best."),
]
_Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE.npz", help="Save the clusters: kmodels:FILE.npz names them."),
]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of the first start and of the held-out.")]
_Starts = Annotated[int, typer.Option(min=1, help="Random starts, of which the likeliest counts.")]
_Iterations = Annotated[int, typer.Option(min=1, help="The most rounds of a start.")]
_Model = Annotated[
    str, typer.Option("--model", metavar="SPEC", help="The model that clusters share.")
]
_Own = Annotated[
    str, typer.Option(metavar="SPEC", help="The model that reads what was seen of a player.")
]
_Test = Annotated[
    bool, typer.Option("--test", help="Hold out a fifth of the players and judge by them.")
]
_Cards = Annotated[
    bool, typer.Option("--cards", help="Infer what players hold who do not show it.")
]
_Sizes = Annotated[
    int, typer.Option(min=0, max=30, help="Also find so many classes of sizes of bets and raises.")
]
_Workers = Annotated[int, typer.Option(min=1, help="Processes that starts are shared among.")]
_Dask = Annotated[str, typer.Option(metavar="ADDRESS", help="Or a Dask scheduler's workers.")]
_Plot = Annotated[
    Path | None, typer.Option(metavar="P.png", help="Draw the clusters after 1, 3 and all rounds.")
]


def add(app: typer.Typer) -> None:
    app.command(
        "cluster", epilog="Example: cbr cluster casebases/sample.db -k 2 --out clusters.npz"
    )(cluster)


def cluster(
    file: File,
    k: _K = "10",
    out: _Out = None,
    seed: _Seed = 0,
    starts: _Starts = 1,
    iterations: _Iterations = 60,
    model: _Model = "trees?profiles=false",
    own: _Own = "trees",
    test: _Test = False,
    cards: _Cards = False,
    sizes: _Sizes = 0,
    plot: _Plot = None,
    workers: _Workers = 1,
    dask: _Dask = "",
    json: Json = False,
) -> None:
    """Cluster the players of a casebase by how they act.

    A cluster is how its players' moves differ from those of all players; a player belongs to the
    cluster under which its moves are likeliest. With --test clusters are made of four fifths of the
    players, and the others are assigned by the first half of their hands and judged on the second.
    """
    from cbr import Casebase
    from cbr.files import verify_place
    from cbr.plots import verify_picture
    from cbr.workers import executor
    from cbr_holdem.situation import BETTING
    from cbr_kmodels.model_file import save_kmodels, verify_name
    from cbr_kmodels.training import Plan
    from cbr_opponents.learning import observe

    if out:
        verify_name(out)
        verify_place(out)
    if plot:
        verify_picture(plot)
    count = _clusters(k)
    plan = Plan(count or 1, starts, seed, iterations, model, own)
    with Casebase.open(file) as base:
        with progress("reading", "hands") as tell:
            observed = observe(base, tell)
        with (
            executor(min(workers, starts), dask) as pool,
            progress("clustering", "rounds") as tell,
        ):
            found = _made(observed, plan, count, test, plot, tell, pool)
        if cards:
            with progress("inferring cards", "rounds") as tell:
                _infer(base, observed, found, starts, tell)
        if sizes:
            found["sizes"] = _sizes(base, sizes)
        if out:
            save_kmodels(out, found["model"], BETTING[base.domain])
    _show(found, json)
    for path in filter(None, (out, plot)):
        if not json:
            note(f"wrote {path}")


def _clusters(text: str) -> int:
    """The number of clusters, 0 for `auto`."""
    from cbr.errors import BadValue
    from cbr_kmodels.model_file import MOST_CLUSTERS

    if text == "auto":
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= MOST_CLUSTERS:
        raise BadValue(f"-k {text} must be a number from 1 to {MOST_CLUSTERS}, or auto")
    return int(text)


def _made(
    observed: Any,
    plan: Any,
    count: int,
    test: bool,
    plot: Path | None,
    tell: Progress,
    pool: Executor | None,
) -> dict[str, Any]:
    """Clusters with all that is told of them."""
    import dataclasses
    import itertools

    import numpy as np

    from cbr_kmodels.evaluation import CANDIDATES, choose_k, held_out
    from cbr_kmodels.pictures import draw_clusters
    from cbr_kmodels.report import describe
    from cbr_kmodels.training import apart, fit_clusters, prepare

    judged: HeldOut | None = None
    tried: list[tuple[int, Mean]] = []
    done = itertools.count(1)

    def heard(start: int, rounds: int, moved: int) -> None:
        tell(0, 0, next(done))

    if test or not count:
        known, tested = apart(observed, plan.seed)
        prepared = prepare(known, plan)
        if not count:
            count, tried = choose_k(prepared, tested, plan, CANDIDATES, heard, pool)
        plan = dataclasses.replace(plan, k=count)
        if test:
            judged = held_out(fit_clusters(prepared, plan, heard, pool)[0], known, tested)
    plan = dataclasses.replace(plan, k=count)
    prepared = prepare(observed, plan)
    model, clusters = fit_clusters(prepared, plan, heard, pool)
    players = np.unique(prepared.observed.player)

    def nearest(of: Any) -> Any:
        out = np.full(len(observed.names), -1)
        out[players] = of
        return out

    rows = describe(observed, nearest(clusters.member.argmax(axis=1)), count)
    if plot:
        draw_clusters(observed, [nearest(one.nearest) for one in clusters.rounds], count, plot)
    return {
        "model": model,
        "clusters": clusters,
        "rows": rows,
        "left out": len(np.unique(observed.player)) - len(players),
        "judged": judged,
        "tried": tried,
    }


def _sizes(base: Casebase, count: int) -> dict[str, list[SizeClass]]:
    """Classes of the sizes of bets, and of raises."""
    from cbr_kmodels.sizes import size_classes
    from cbr_opponents.learning import decisions

    seen = decisions(base, ["action", "share"])
    return {
        name: size_classes(seen["share"][seen["action"] == action].astype(float), count)
        for name, action in (("bets", "b"), ("raises", "r"))
    }


def _infer(
    base: Casebase, observed: Any, found: dict[str, Any], starts: int, tell: Progress
) -> None:
    """Give the clusters inferred chances of moves given a hand."""
    import itertools

    from cbr_kmodels.hidden_cards import with_inferred_cards

    if not observed.known.any():
        note("no cards are shown in this log, so what is inferred rests on moves alone")
    done = itertools.count(1)
    model = with_inferred_cards(
        base, observed, found["model"], starts, lambda _round, _change: tell(0, 0, next(done))
    )
    if model is None:
        note("the cards of most folded hands are known, so there is nothing to infer")
    else:
        found["model"] = model


def _show(found: dict[str, Any], json: bool) -> None:
    from cbr_kmodels import evaluation, report

    clusters, judged = found["clusters"], found["judged"]
    if json:
        emit(
            {
                "k": len(clusters.share),
                "rounds": len(clusters.rounds),
                "settled": clusters.settled,
                "log_likelihood": clusters.likelihood,
                "left_out": found["left out"],
                "clusters": report.as_json(found["rows"], clusters.share),
                "tried": [
                    {"k": k, "log_loss": loss.mean, "ci95": loss.ci95} for k, loss in found["tried"]
                ],
                "sizes": {
                    name: [one._asdict() for one in classes]
                    for name, classes in found.get("sizes", {}).items()
                },
                "held_out": None if judged is None else evaluation.as_json(judged),
            }
        )
        return
    _show_clusters(found["rows"], clusters.share)
    done = len(clusters.rounds)
    note(
        f"no player changed its cluster after {done} rounds"
        if clusters.settled
        else f"{clusters.rounds[-1].moved:,} players still changed their cluster in round {done}"
    )
    if found["left out"]:
        note(f"{found['left out']:,} players made too few decisions and are in no cluster")
    if found["tried"]:
        rows = [(f"{k}", _mean(loss, ".4f")) for k, loss in found["tried"]]
        table("log-loss of players who were held out", ["clusters", "log-loss"], rows)
    for name, classes in found.get("sizes", {}).items():
        lines = [
            (f"{one.low:.2f} to {one.high:.2f}", f"{one.mean:.2f}", f"{one.share:.1%}")
            for one in classes
        ]
        table(f"sizes of {name}, in pots", ["from", "mean", "share"], lines)
    if judged is not None:
        _show_judged(judged)


def _show_clusters(rows: list[Row], share: Floats) -> None:
    heads = ["", "players", "hands", "share", "VPIP", "PFR", "aggression", "what they are"]
    lines = []
    for at, row in enumerate(rows):
        rates = [
            f"{mean:.0%} ± {spread:.0%}" if row.players else ""
            for mean, spread in ((row.mean.vpip, row.spread.vpip), (row.mean.pfr, row.spread.pfr))
        ]
        bets = f"{row.mean.aggression:.2f} ± {row.spread.aggression:.2f}" if row.players else ""
        figures = (f"{row.players:,}", f"{row.hands:,}", f"{share[at]:.0%}", *rates, bets)
        shown = [one.replace("nan%", "?").replace("nan", "?") for one in figures]
        lines.append((str(at + 1), *shown, row.words))
    table(f"{len(rows)} clusters; ± is the standard deviation over players", heads, lines)


def _show_judged(judged: HeldOut) -> None:
    for title, rows in (
        (f"{judged.decisions:,} decisions of {judged.players:,} held-out players", judged.moves),
        *((f"sizes of {one.decisions:,} {one.name}", one.scores) for one in judged.sizes),
    ):
        lines = [
            (
                row.name,
                _mean(row.accuracy, ".3f"),
                _mean(row.log_loss, ".4f"),
                _mean(row.gain, "+.4f"),
            )
            for row in rows
        ]
        if lines:
            table(title, ["", "accuracy", "log-loss", "less than one model"], lines)


def _mean(of: Mean, form: str) -> str:
    mean = f"{of.mean:{form}}"
    return mean if of.ci95 is None else f"{mean} ± {of.ci95:{form.removeprefix('+')}}"
