"""``cbr plugins``: what is loaded; ``cbr plugins new``: a plugin to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbr.cli.options import Json
from cbr.cli.output import complain, emit, lines, table

if TYPE_CHECKING:
    from cbr.cli.app import App
    from cbr.plugging.plugins import Plugins

_Kind = Annotated[
    str,
    typer.Argument(
        help="similarity, feature, policy, case-type, case-source or arena, or what a plugin adds, "
        "such as bot.",
        show_default=False,
    ),
]
_Type = Annotated[
    str, typer.Option("--type", metavar="TYPE", help="Case type that the feature is for.")
]
_Target = Annotated[
    Path, typer.Argument(metavar="FILE.py", help="File to write.", show_default=False)
]


def add(app: App) -> None:
    group = typer.Typer(
        rich_markup_mode=None,
        epilog="Example: cbr plugins --json",
        help="List the plugins, where each comes from and what it adds.",
    )

    @group.callback(invoke_without_command=True)
    def show(context: typer.Context, json: Json = False) -> None:
        if context.invoked_subcommand is None:
            _show(app.plugins, json)

    group.command("new", epilog="Example: cbr plugins new similarity my_measure.py")(new)
    app.add_typer(group, name="plugins")


def _show(plugins: Plugins, json: bool) -> None:
    found: list[dict[str, Any]] = [
        {
            "name": plugin.name,
            "version": plugin.version or None,
            "distribution": plugin.origin,
            "status": plugin.status,
            "hooks": sorted(set(plugin.hooks)),
            "registered": plugins.registered_by(plugin),
            "problems": plugin.problems,
        }
        for plugin in plugins.plugins
    ]
    clashes = plugins.clashes()
    if json:
        emit({"plugins": found, "clashes": clashes})
    else:
        table(
            "",
            ["plugin", "from", "version", "status", "hooks", "adds"],
            [
                (
                    p["name"],
                    p["distribution"],
                    p["version"],
                    p["status"],
                    "\n".join(p["hooks"]),
                    _adds(p["registered"]),
                )
                for p in found
            ],
        )
    for sentence in clashes:
        complain(sentence)
    if clashes:
        raise typer.Exit(1)


def _adds(registered: dict[str, list[str]]) -> str:
    return "\n".join(f"{kind}: {', '.join(names)}" for kind, names in registered.items())


def new(kind: _Kind, file: _Target, type: _Type = "", json: Json = False) -> None:
    """Write a working plugin to start from, and its test beside it."""
    from cbr.plugging.plugins import default_plugins
    from cbr.plugging.starters import write_starter
    from cbr.store.definitions import case_types_of

    chosen = case_types_of(type, default_plugins())[:1] if type else ()
    written = write_starter(kind, file, default_plugins(), *chosen)
    if json:
        emit({"written": [str(path) for path in written]})
        return
    lines(*(f"wrote {path}" for path in written))
    lines(f"Try it: cbr plugins --plugin {written[0]}   and: pytest {written[1]}")
