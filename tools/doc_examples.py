"""Runs the examples of the documentation: `python tools/doc_examples.py` updates their outputs.

In README.md, the tutorials and docs/how-to, a block marked `sh` is run line by line where a line
calls `cbr`, and a block marked `python` is executed; one that begins with a comment such as
`# paired.py` is a file to be saved under that name instead. A block marked `text` right after one
of these is its output. The tests run every page and fail when an output differs.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    _DOCS / "tutorial.md",
    _DOCS / "tutorial-python.md",
    *sorted((_DOCS / "how-to").glob("*.md")),
]
#: Files of the project that examples name.
_SHIPPED = (
    "iris.csv",
    "sample.phhs",
    "open-hand.phh",
    "demo.phhs.xz",
    "demo.npz",
    "demo.weights.json",
)
_BLOCK = re.compile(r"^```(?P<kind>sh|python|text)\n(?P<body>.*?)^```$", re.M | re.S)
_WIDTH = "100"


class ExampleFailed(Exception):
    """A command of a page ended with an error."""


def updated(page: str, folder: Path) -> str:
    """The text of a page with the outputs that its examples have when run in a folder."""
    parts, end = [], 0
    output: str | None = None
    names = {"__name__": "example"}
    with _workplace(folder):
        for block in _BLOCK.finditer(page):
            between = page[end : block.start()]
            body = block["body"]
            if block["kind"] != "text":
                output = _run(block["kind"], body, names)
            elif output is not None and not between.strip():
                body, output = output, None
            else:
                output = None
            parts += [between, f"```{block['kind']}\n{body}```"]
            end = block.end()
    return "".join([*parts, page[end:]])


@contextmanager
def _workplace(folder: Path) -> Iterator[None]:
    """Work in a folder with the files that examples use: the tests' cars, and the shipped files."""
    (folder / "casebases").mkdir()
    (folder / "tests").symlink_to(ROOT / "tests")
    for name in _SHIPPED:
        (folder / "casebases" / name).symlink_to(ROOT / "casebases" / name)
    place, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = _WIDTH
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        os.chdir(place)
        os.environ.pop("COLUMNS") if columns is None else os.environ.update(COLUMNS=columns)


def _run(kind: str, body: str, names: dict[str, Any]) -> str | None:
    """The output of a block; None if it is not run. Python blocks share the `names` of a page, as
    the cells of a notebook do."""
    if kind == "sh":
        lines = [shlex.split(line, comments=True) for line in body.replace("\\\n", "").splitlines()]
        commands = [words[1:] for words in lines if words[:1] == ["cbr"]]
        return "\n".join(map(_command, commands)) if commands else None
    if name := re.match(r"# ([\w-]+\.py)\n", body):
        Path(name[1]).write_text(body, "utf-8")
        return None
    with redirect_stdout(StringIO()) as out:
        exec(compile(body, "<example>", "exec"), names)
    return _trimmed(out.getvalue())


def _command(words: list[str]) -> str:
    from cbr.cli import main

    if ">" in words:
        at = words.index(">")
        Path(words[at + 1]).write_text(_command(words[:at]), "utf-8")
        return ""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main(words)
        except SystemExit as ended:
            if ended.code:
                raise ExampleFailed(f"cbr {shlex.join(words)}: {err.getvalue()}") from None
    return _trimmed(out.getvalue())


def _trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


if __name__ == "__main__":
    for path in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            text = path.read_text("utf-8")
            new = updated(text, Path(folder))
        if new != text:
            path.write_text(new, "utf-8")
            print(f"wrote {path}", file=sys.stderr)
