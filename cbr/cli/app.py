"""The application: its own commands, then those of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli import (
    build,
    casebase,
    cycle,
    evolve_command,
    index_command,
    learning,
    plugins_command,
    query,
    refine_command,
    weights_command,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from cbr.plugging.plugins import Plugins


def make_app(plugins: Plugins, words: Collection[str] | None = None) -> typer.Typer:
    """All commands; options that plugins add to one only if it is among the words of the command
    line (where these are given), because that is slow.

    Plain help, because it loads faster and goes into docs/cli.md as it is.
    """
    app = typer.Typer(
        name="cbr",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog="Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel",
    )
    app.callback()(_root)
    build.add(app, plugins, words is None or not {"build", "plugins"}.isdisjoint(words))
    casebase.add(app)
    query.add(app, plugins, words is None or "query" in words)
    cycle.add(app)
    refine_command.add(app)
    learning.add(app)
    evolve_command.add(app)
    index_command.add(app)
    plugins_command.add(app, plugins)
    weights_command.add(app)
    _add_commands_of(plugins, app)
    return app


def _add_commands_of(plugins: Plugins, app: typer.Typer) -> None:
    """Commands of plugins; one that takes a name which is taken, or is none, is left out."""
    taken = _names(app)
    for plugin, _ in plugins.call("cbr_commands", app=app):
        for registered in (app.registered_commands, app.registered_groups):
            for info in list(registered):
                name = _name(info)
                if name is None:
                    registered.remove(info)  # type: ignore[arg-type]
                    plugins.blame(plugin, f"cbr_commands added {info!r}, which is no command")
                elif id(info) not in taken.values() and name in taken:
                    registered.remove(info)  # type: ignore[arg-type]
                    plugins.blame(plugin, f"the command {name!r} is there already")
                else:
                    taken[name] = id(info)


def _names(app: typer.Typer) -> dict[str, int]:
    return {
        str(_name(info)): id(info) for info in (*app.registered_commands, *app.registered_groups)
    }


def _name(info: object) -> str | None:
    """What a registered command is called; None if it is something else."""
    callback = getattr(info, "callback", None)
    default = getattr(callback, "__name__", "").replace("_", "-")
    name = getattr(info, "name", None) or default
    return name if isinstance(name, str) and name else None


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py", help="Load a plugin from a file. Anywhere on the line."),
    ] = None,
    strict_plugins: Annotated[
        bool, typer.Option("--strict-plugins", help="A plugin with a problem is an error.")
    ] = False,
) -> None:
    """Case-based reasoning: build casebases, retrieve, reuse, retain and refine.

    Environment: CBR_PLUGINS_DIR is a folder of plugin files, CBR_LOAD_PLUGINS=a,b limits which
    plugins load, CBR_DEBUG=1 shows tracebacks.
    """
