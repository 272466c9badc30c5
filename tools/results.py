"""Writes pages of docs/results: tables of figures, by the tool that measured them.

A tool makes its tables once. `show` prints them, and with `--write-results` `write` puts them on
a page with the data needed to repeat them: commit, date, command, seed and machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "results"
#: Paths that figures depend on; uncommitted changes elsewhere do not matter.
_CODE = ("cbr", "features", "similarity", "plugins", "tools", "constraints.txt")


class Table(NamedTuple):
    """A table of a page; `note` explains it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""


class Page(NamedTuple):
    """A page of results: its file's name without suffix, what it is about, its tables, and a
    picture, or several by what they show. `commit` is given where figures were measured before the
    commit that writes the page."""

    name: str
    title: str
    about: str
    tables: Sequence[Table]
    seed: object = None
    picture: Path | None = None
    pictures: Mapping[str, Path] = MappingProxyType({})
    commit: str = ""

    @property
    def drawn(self) -> list[tuple[str, Path, str]]:
        """The title, the file, and the name on the page of each picture."""
        one = [(self.title, self.picture, f"{self.name}.png")] if self.picture else []
        several = [
            (title, path, f"{self.name}-{path.stem}.png") for title, path in self.pictures.items()
        ]
        return one + several


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes a tool write its page."""
    parser.add_argument(
        "--write-results", action="store_true", help="also write the page of docs/results"
    )


def show(page: Page) -> None:
    """Print the tables of a page."""
    from cbr.cli import table

    for one in page.tables:
        table(one.title, one.columns, one.rows)


def write(page: Page, folder: Path = FOLDER, command: Sequence[str] | None = None) -> Path:
    """Write a page, with its pictures beside it; `command` is this process's unless given."""
    for _, picture, name in page.drawn:
        shutil.copyfile(picture, folder / name)
    path = folder / f"{page.name}.md"
    path.write_text(markdown(page, command or sys.argv), "utf-8")
    print(f"wrote {path}", file=sys.stderr)
    return path


def markdown(page: Page, command: Sequence[str]) -> str:
    """The text of a page."""
    parts = [f"# {page.title}\n", _paragraph(page.about), _provenance(page, command)]
    for one in page.tables:
        parts.append(f"## {one.title}\n")
        if one.note:
            parts.append(_paragraph(one.note))
        rows = [one.columns, ["---"] * len(one.columns), *one.rows]
        parts.append("".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows))
    parts += [f"![{title}]({name})\n" for title, _, name in page.drawn]
    return "\n".join(parts)


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def _provenance(page: Page, command: Sequence[str]) -> str:
    known = {
        "commit": page.commit or commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "command": f"`{_shown(command)}`",
        "seed": "-" if page.seed is None else str(page.seed),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
        f"Python {platform.python_version()}",
    }
    rows = "".join(f"| {name} | {value} |\n" for name, value in known.items())
    return f"| measured | |\n| --- | --- |\n{rows}"


def commit() -> str:
    """The commit of the code; it says so where files were changed since."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    name = git("rev-parse", "--short", "HEAD") or "unknown"
    return f"{name} with local changes" if git("status", "--porcelain", *_CODE) else name


def _shown(command: Sequence[str]) -> str:
    """A command as it can be repeated elsewhere: files outside the project without their folder."""
    words = []
    for word in command:
        path = Path(word)
        if path.is_absolute() or ".." in path.parts:
            path = path.resolve()
            inside = path.is_relative_to(ROOT)
            word = path.relative_to(ROOT).as_posix() if inside else path.name
        words.append(word)
    return shlex.join(["python", *words])


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value).replace("|", "\\|")
