"""Writes docs/reference/commands.md from the help of every command: `make docs`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

This page is made from `--help` by `make docs`; a test fails when it is out of date. The exit code
of every command is 0 (success), 1 (`check` or `plugins` found a problem, or an internal error), 2
(bad input, explained by one sentence on stderr) or 130 (interrupted). With `--json`, stdout has one
JSON document and nothing else (`cbr ask`: one in each line); notes, warnings and errors go to
stderr.
"""


def commands(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, Any]]:
    """Each command by its full name, with the context that shows its help; groups come first."""
    context = command.context_class(command, info_name=name, parent=parent, terminal_width=92)
    yield context.command_path, context
    for child_name, child in getattr(command, "commands", {}).items():
        yield from commands(child, child_name, context)


def page() -> str:
    """The text of the page, with the commands of this distribution's own plugins."""
    os.environ["CBR_LOAD_PLUGINS"] = ",".join(own_plugins())
    os.environ.pop("CBR_PLUGINS_DIR", None)
    from cbr.cli import make_app
    from cbr.plugging import Plugins

    app = typer.main.get_command(make_app(Plugins().load()))
    parts = [HEAD]
    for path, context in commands(app, "cbr"):
        text = "\n".join(line.rstrip() for line in context.get_help().splitlines())
        parts.append(f"## `{path}`\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def own_plugins() -> list[str]:
    from importlib.metadata import distribution

    return [e.name for e in distribution("cbr-engine").entry_points if e.group == "cbr"]


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
