"""Writes docs/cli.md from the help of every command: `make docs`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

Made from `--help` by `make docs`; a test fails when it is stale. Every command answers with exit
code 0 (done), 1 (`check` or `plugins` found something) or 2 (bad input, with one sentence on
stderr; a command called wrongly gets its usage with it). With `--json` there is one JSON document
on stdout and nothing else.
"""


def commands(command: Any, name: str, parent: Any = None) -> Iterator[tuple[str, Any]]:
    """Each command with the context that its help needs, groups before their members."""
    context = command.context_class(command, info_name=name, parent=parent, terminal_width=92)
    yield context.command_path, context
    for child_name, child in getattr(command, "commands", {}).items():
        yield from commands(child, child_name, context)


def page() -> str:
    """The page, from the commands of this distribution's own plugins."""
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
    PAGE.write_text(page(), "utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
