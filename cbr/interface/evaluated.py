"""An evaluation that shows itself as the command ``cbr evaluate`` prints it."""

from __future__ import annotations

import contextlib
import html
import io
from dataclasses import dataclass

from cbr.learning.evaluation import Evaluation


@dataclass(frozen=True, eq=False, repr=False)
class Evaluated(Evaluation):
    """The figures of each predictor in `judged`; printing it shows them."""

    def __repr__(self) -> str:
        from cbr.cli.commands.evaluate import show_evaluation

        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            show_evaluation(self)
        return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
