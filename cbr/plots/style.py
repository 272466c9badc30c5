"""The style of every picture: figure, fonts, colours, axes, and how the file is written."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cbr.errors import BadValue
from cbr.files.atomic import verify_place, whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, SAND = "#4477aa", "#cc5544", "#228833", "#ddaa55"
DARK_BLUE, PALE_BLUE = "#2f5f98", "#c9d6e6"
#: Colours for text, small print, zero lines, and everything of minor importance.
BLACK, GREY, LINE_GREY, PALE_GREY = "#222222", "#666666", "#999999", "#bbbbbb"
#: Colours for neighbouring lines or areas, easy to tell apart; used in a cycle.
COLOURS = (
    *(BLUE, "#ee8866", GREEN, "#ccbb44", "#aa3377", "#66ccee", "#997700", "#bb4455"),
    *("#44bb99", "#7755aa", "#ffaabb", "#555555"),
)
#: Formats by the suffix of the file.
_FORMATS = (".png", ".svg", ".pdf")


@contextmanager
def picture(path: Path, width: float, height: float, *, dpi: int = 130) -> Iterator[Figure]:
    """A figure of this many inches, written to `path` at the end of the `with` block.

    It does not use pyplot, which would choose a backend for the whole process.
    """
    verify_picture(path)
    with drawn(width, height, dpi=dpi) as figure:
        yield figure
        save_picture(figure, path)


@contextmanager
def drawn(width: float, height: float, *, dpi: int = 130) -> Iterator[Figure]:
    """A figure of this many inches, drawn in the `with` block; a notebook shows it."""
    import matplotlib
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that a notebook shows without pyplot."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png")
            return data.getvalue()

    # Names come from users: a dollar sign in one must not start a formula.
    with matplotlib.rc_context({"text.parse_math": False, "font.size": 10}):
        yield Picture(figsize=(width, height), dpi=dpi, layout="constrained")


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, which appears only when it is complete."""
    verify_picture(path)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:].lower())


def verify_picture(path: Path) -> None:
    """Raise if no picture can be written to `path`; called before long work."""
    if path.suffix.lower() not in _FORMATS:
        raise BadValue(f"a picture is called FILE{' or FILE'.join(_FORMATS)}, not {path.name!r}")
    verify_place(path)


def style_axis(axis: Axes, title: str = "", *, grid: Literal["x", "y", "both", ""] = "") -> None:
    """The usual look: no frame above and on the right, the title on the left, a pale grid."""
    if title:
        axis.set_title(title, loc="left", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)
    if grid:
        axis.grid(True, which="both", axis=grid, color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)


def style_title(figure: Figure, title: str) -> None:
    """A title over all panels, like that of one axis."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)


def zero_line(axis: Axes, of: Literal["x", "y"] = "y") -> None:
    """A thin line where the x or the y value is 0."""
    draw = axis.axvline if of == "x" else axis.axhline
    draw(0, color=LINE_GREY, linewidth=0.8)
