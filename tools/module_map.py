"""Writes the module map of docs/explanation/design.md from docstrings: `make docs`.

Every package, folder and module has one line: the first sentence of its docstring. A test fails
when the page differs from the code.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "design.md"
BEGIN, END = "<!-- module map: begin -->", "<!-- module map: end -->"
#: The source roots, in the order of the layers; `tools` holds scripts.
ROOTS = (".", "similarity", "features", "plugins", "tools")


def updated(page: str) -> str:
    """The text of the page with the map as it follows from the code."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{module_map()}\n{END}{after}"


def module_map() -> str:
    """Tables of modules, one for each package."""
    return "\n".join(_table(title, folder) for title, folder in _packages())


def _packages() -> Iterator[tuple[str, Path]]:
    for root in ROOTS:
        if root == "tools":
            yield "tools", ROOT / root
        for package in sorted((ROOT / root).glob("cbr*/__init__.py")):
            yield package.parent.relative_to(ROOT).as_posix(), package.parent


def _table(title: str, folder: Path) -> str:
    rows = [f"| `{name}` | {first_sentence(path)} |" for name, path in _modules(folder)]
    return "\n".join([f"### `{title}`", "", "| module | content |", "| --- | --- |", *rows, ""])


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Modules of a package before its folders, each folder before what is in it."""
    places = sorted(folder.rglob("*.py"), key=lambda path: _order(path.relative_to(folder)))
    for path in places:
        place = path.relative_to(folder)
        if path.name != "__init__.py":
            yield place.as_posix(), path
        else:
            yield ("__init__.py" if place.parent == Path() else f"{place.parent.as_posix()}/"), path


def _order(place: Path) -> tuple[object, ...]:
    """Files of a folder come before its folders; `__init__.py` comes first."""
    return (*((1, part) for part in place.parts[:-1]), (0, place.name != "__init__.py", place.name))


@cache
def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, as it may stand in a table."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence = re.match(r".*?\.(?=\s|$)", paragraph)
    return (sentence[0] if sentence else paragraph).rstrip(".:;").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text("utf-8")), "utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
