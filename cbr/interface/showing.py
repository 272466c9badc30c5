"""Tables of a program: as text of a few lines, as HTML in a notebook, and as pandas frames."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from cbr.errors import NeedsPackage

#: The most rows that a table shows, and the most characters of a cell.
_ROWS, _WIDE = 10, 40


def pandas() -> Any:
    """The module pandas; an error that tells how to get it, if it is not there."""
    try:
        import pandas
    except ImportError:
        raise NeedsPackage("a frame", "pandas") from None
    return pandas


def cell(value: object) -> str:
    """A value as a table shows it."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.0f}"
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDE else text[: _WIDE - 1] + "…"


def as_html(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], most: int = _ROWS
) -> str:
    """A table as HTML; whatever the cells hold is shown, not obeyed."""
    line = "".join(f"<th>{html.escape(cell(head))}</th>" for head in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell(value))}</td>' for value in row)}</tr>"
        for row in rows[:most]
    )
    left = f"<p>and {len(rows) - most:,} more</p>" if len(rows) > most else ""
    head = f"<p>{html.escape(title)}</p>" if title else ""
    return f"{head}<table><thead><tr>{line}</tr></thead><tbody>{body}</tbody></table>{left}"


def as_text(heads: Sequence[str], rows: Sequence[Sequence[object]], most: int = _ROWS) -> str:
    """A table as lines of text, in columns.

    >>> print(as_text(["case", "fuel"], [[1, "diesel"], [12, None]]))
    case  fuel
    1     diesel
    12    -
    """
    shown = [[cell(head) for head in heads], *([cell(v) for v in row] for row in rows[:most])]
    wide = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = [
        "  ".join(word.ljust(w) for word, w in zip(row, wide, strict=True)).rstrip()
        for row in shown
    ]
    if len(rows) > most:
        lines.append(f"... and {len(rows) - most:,} more")
    return "\n".join(lines)
