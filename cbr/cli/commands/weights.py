"""``cbr weights``: list sets of weights, show one, or make one the default of a casebase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import File, Json
from cbr.cli.output import emit, lines, note, table

if TYPE_CHECKING:
    from cbr.cli.app import App

_Named = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A set, or a weights file.", show_default=False)
]
_Given = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE|F=W,...",
        help="A set, a weights file, FEATURE=WEIGHT,... or random:SEED.",
        show_default=False,
    ),
]


_Stage = Annotated[str | None, typer.Option(help="Only this stage; default: all they name.")]


def add(app: App) -> None:
    group = typer.Typer(
        rich_markup_mode=None,
        no_args_is_help=True,
        epilog="Example: cbr weights list",
        help="List sets of weights, show one, or make one the default.",
    )
    group.command("list", epilog="Example: cbr weights list --json")(list_sets)
    group.command("show", epilog="Example: cbr weights show general --json > mine.json")(show)
    group.command("set", epilog="Example: cbr weights set casebases/cars.db mine.json")(set_default)
    app.add_typer(group, name="weights")


def list_sets(json: Json = False) -> None:
    """List the sets of weights that plugins bring."""
    from cbr.plugging.plugins import default_plugins

    plugins = default_plugins()
    plugins.named("weight set")  # raises if two sets have one name
    found: list[dict[str, Any]] = [
        {
            "name": given.called,
            "domain": given.domain,
            "stages": list(given.stages),
            "plugin": plugin.name,
            "distribution": plugin.origin,
            "provenance": dict(given.provenance),
        }
        for plugin, given in plugins.given("weight set")
    ]
    if json:
        emit({"sets": found})
        return
    if not found:
        lines("No loaded plugin brings weights.")
    table(
        "",
        ["name", "domain", "stages", "plugin", "made by"],
        [
            (
                each["name"],
                each["domain"] or "any",
                ", ".join(each["stages"]),
                each["plugin"],
                str(each["provenance"].get("made_by", "-")),
            )
            for each in found
        ],
    )


def show(weights: _Named, json: Json = False) -> None:
    """Show the weights of a set or a file, by feature and stage; --json prints a weights file."""
    from cbr.weights import find_weights

    given = find_weights(weights)
    plain = given.plain()
    if json:
        emit(plain)
        return
    lines(f"{given.name or weights}, for {given.domain or 'any domain'}")
    features = dict.fromkeys(name for stage in plain["stages"].values() for name in stage)
    table(
        "",
        ["feature", *plain["stages"]],
        [(name, *(stage.get(name) for stage in plain["stages"].values())) for name in features],
    )
    lines(*(f"{key}: {value}" for key, value in given.provenance.items()))


def set_default(file: File, weights: _Given, stage: _Stage = None, json: Json = False) -> None:
    """Make weights the default of a casebase, for every stage that they name or for one.

    Cases and digests do not change. An index that was built for the former weights becomes stale.
    """
    from cbr.plugging.plugins import default_plugins
    from cbr.store.casebase import Casebase
    from cbr.store.definitions import set_weights
    from cbr.upkeep.soundness import index_states

    with Casebase.open(file, write=True) as base:
        changed = set_weights(base, weights, stage)
        now = {
            t.stage: {feature.name: feature.weight for feature in t.indexed}
            for t in base.case_types
        }
        states = index_states(base, default_plugins())
    if json:
        emit({"file": str(file), "changed": changed, "weights": now})
        return
    if not changed:
        lines(f"{file} has these weights already")
        return
    have = "has" if len(changed) == 1 else "have"
    lines(f"{file}: {', '.join(changed)} {have} new weights, by {weights}")
    stale = [saved for saved in states if saved.state == "stale" and saved.stage in changed]
    if stale:
        kinds = ", ".join(f"{saved.kind} of {saved.stage}" for saved in stale)
        note(f"saved indices are stale: {kinds}; `cbr index {file}` builds them again")
