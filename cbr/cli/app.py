"""The application: its own commands, then those of plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cbr.cli import build, casebase, cycle, plugins_command

if TYPE_CHECKING:
    from cbr.plugins import Plugins


def make_app(plugins: Plugins) -> typer.Typer:
    """All commands. Plain help, because it loads faster and goes into docs/cli.md as it is."""
    app = typer.Typer(
        name="cbr",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog="Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel",
    )
    app.callback()(_root)
    build.add(app, plugins)
    casebase.add(app)
    cycle.add(app)
    plugins_command.add(app, plugins)
    for _ in plugins.call("cbr_commands", app=app):
        pass
    return app


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
