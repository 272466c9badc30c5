"""The application: its own commands, then those of plugins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from cbr.cli.commands import (
    build,
    cache,
    check,
    delete,
    describe,
    evaluate,
    evolve,
    evolve_report,
    export,
    history,
    index,
    info,
    learn_weights,
    plugins,
    query,
    rebuild,
    refine,
    retain,
    revise,
    weights,
)

if TYPE_CHECKING:
    from cbr.plugging.plugins import Plugins


class App(typer.Typer):
    """The application ``cbr`` with the plugins that it is made for.

    Help is plain text, because that loads faster and goes into the docs as it is.
    """

    def __init__(self, plugins: Plugins, words: Sequence[str] | None = None) -> None:
        super().__init__(
            name="cbr",
            no_args_is_help=True,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
            epilog="Example: cbr query casebases/cars.db --case price=7000,age=6,fuel=diesel",
        )
        self.plugins = plugins
        self._words = words

    def calls(self, command: str) -> bool:
        """Whether the command line may call this command (or lists the plugins, which reports
        problems of all of them). Only then are its options from plugins collected: that is slow."""
        return self._words is None or not {command, "plugins"}.isdisjoint(self._words)


class _Command(Protocol):
    """A module of `cbr.cli.commands`."""

    def add(self, app: App) -> None: ...


#: In the order of ``cbr --help``.
_COMMANDS: tuple[_Command, ...] = (
    *(describe, build, rebuild, info, check, export),
    *(query, retain, revise, delete, history, refine, index),
    *(evaluate, learn_weights, weights, evolve, evolve_report),
    *(plugins, cache),
)


def make_app(plugins: Plugins, words: Sequence[str] | None = None) -> App:
    """The application with all commands; `words` are those of the command line, None for any."""
    app = App(plugins, words)
    app.callback()(_root)
    for command in _COMMANDS:
        command.add(app)
    _add_commands_of(plugins, app)
    _keep_called(app, words)
    return app


def _keep_called(app: App, words: Sequence[str] | None) -> None:
    """Leave only the command that the command line begins with, because typer inspects the options
    of all that are there. All stay where it begins with none of them, so that help lists them and
    the nearest name is found."""
    called = next(iter(words or ()), None)
    if called in _names(app):
        commands, groups = app.registered_commands, app.registered_groups
        commands[:] = [one for one in commands if _name(one) == called]
        groups[:] = [one for one in groups if _name(one) == called]


def _add_commands_of(plugins: Plugins, app: App) -> None:
    """Add the commands of plugins, except those that are invalid or whose name is taken."""
    taken = _names(app)
    for plugin, _ in plugins.call("cbr_commands", app=app):
        for registered in (app.registered_commands, app.registered_groups):
            for added in list(registered):
                name = _name(added)
                if name is None:
                    registered.remove(added)  # type: ignore[arg-type]
                    plugins.blame(plugin, f"cbr_commands added {added!r}, which is no command")
                elif id(added) not in taken.values() and name in taken:
                    registered.remove(added)  # type: ignore[arg-type]
                    plugins.blame(plugin, f"the command {name!r} is there already")
                else:
                    taken[name] = id(added)


def _names(app: App) -> dict[str, int]:
    return {str(_name(one)): id(one) for one in (*app.registered_commands, *app.registered_groups)}


def _name(registered: object) -> str | None:
    """The name of a registered command; None if it is something else."""
    callback = getattr(registered, "callback", None)
    default = getattr(callback, "__name__", "").replace("_", "-")
    name = getattr(registered, "name", None) or default
    return name if isinstance(name, str) and name else None


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE.py",
            help="Load a plugin from a file. May stand anywhere on the line, and be repeated.",
        ),
    ] = None,
    strict_plugins: Annotated[
        bool,
        typer.Option("--strict-plugins", help="Stop with an error if a plugin has a problem."),
    ] = False,
) -> None:
    """Case-based reasoning: build casebases, retrieve, reuse, retain and refine.

    Environment: CBR_PLUGINS_DIR is a folder of plugin files to load, CBR_LOAD_PLUGINS=a,b loads
    these plugins only, CBR_DEBUG=1 shows tracebacks, CBR_PROGRESS=30 are the seconds between two
    lines of progress where there is no terminal (0: none).
    """
