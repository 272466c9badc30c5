"""The answer to a question: the nearest cases, and what they propose."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cbr.case import Case, Solution, Value
from cbr.interface.showing import as_html, as_text, pandas
from cbr.retrieval.retrieved import Retrieved
from cbr.reusing.explanation import Explanation, explain
from cbr.reusing.proposal import Proposal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cbr.interface.casebase import Casebase

#: The most features that the short text of an answer shows.
_FEW = 6


@dataclass(frozen=True, eq=False)
class Nearest:
    """The cases nearest to a situation, and the solution that they propose.

    It shows itself in a shell and in a notebook; `to_pandas`, `explain` and `plot` tell more.
    Iterating gives the cases, nearest first, and `similarities` their similarities.
    """

    retrieved: Retrieved = field(repr=False)
    proposal: Proposal = field(repr=False)
    base: Casebase = field(repr=False)

    @property
    def target(self) -> Mapping[str, Value]:
        """The situation that was asked about."""
        return self.retrieved.target

    @property
    def solution(self) -> Solution:
        """The solution proposed: a class, or a number."""
        return self.proposal.solution

    @property
    def probabilities(self) -> Mapping[str, float]:
        """The probability of each solution; empty where solutions are numbers."""
        return self.proposal.probabilities

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where solutions are numbers: the interval that the true one is likely to be in."""
        found = self.proposal.interval
        return None if found is None else (found.low, found.high)

    @cached_property
    def _rows(self) -> list[tuple[Case, float]]:
        ids: dict[int, float] = {}
        for place, similarity in enumerate(self.retrieved.similarity.tolist()):
            for number in self.retrieved.case_ids(place).tolist():
                ids[number] = similarity
        stage = self.retrieved.case_type.stage
        found = {case.id: case for case in self.base.cases(stage, list(ids))}
        return [(found[number], similarity) for number, similarity in ids.items()]

    @property
    def cases(self) -> list[Case]:
        """The cases, nearest first."""
        return [case for case, _ in self._rows]

    @property
    def similarities(self) -> list[float]:
        """The similarity of each of `cases`."""
        return [similarity for _, similarity in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __getitem__(self, place: int) -> Case:
        return self.cases[place]

    def to_pandas(self) -> Any:
        """The cases as a pandas frame: similarity, features, solution and outcome by case."""
        heads, rows = self._table(most=None, plain=True)
        frame = pandas().DataFrame(rows, columns=heads)
        return frame.set_index("case")

    def explain(self, show: int = 5) -> Explained:
        """Why these cases, and why this solution: as the command `cbr query` prints it."""
        return Explained(
            explain(self.retrieved, self.proposal, show, base=self.base),
            self.base.case_types[0].record,
        )

    def plot(self, path: str | Path | None = None, *, show: int = 5) -> Figure:
        """The answer as a matplotlib figure; with a `path` it is written there too."""
        from cbr.plots.answer import answer_figure
        from cbr.plots.style import save_picture

        explained = self.explain(show)
        figure = answer_figure(explained.answer, explained.record)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    def _table(
        self, most: int | None = _FEW, plain: bool = False
    ) -> tuple[list[str], list[list[Any]]]:
        """Heads and rows; `plain` heads have no units but those of the labels."""
        case_type = self.retrieved.case_type
        features = sorted(
            case_type.features, key=lambda f: (not f.indexed, f.name not in self.target)
        )
        names = {feature.name for feature in features[:most]}
        chosen = [feature for feature in case_type.features if feature.name in names]
        heads = ["case", "similarity", *(f.called if plain else f.heading for f in chosen)]
        solution = case_type.solution_label or "solution"
        heads.append(solution if plain else case_type.solution_heading)
        rows: list[list[Any]] = [
            [case.id, similarity, *(case.values.get(f.name) for f in chosen), case.solution]
            for case, similarity in self._rows
        ]
        if any(case.outcome is not None for case, _ in self._rows):
            heads.append(case_type.outcome_label or "outcome")
            rows = [[*row, case.outcome] for row, (case, _) in zip(rows, self._rows, strict=True)]
        return heads, rows

    @property
    def _unit(self) -> str:
        number = self.retrieved.case_type.solution
        return "" if number is None else number.unit

    def _head(self) -> str:
        label = self.retrieved.case_type.solution_label or "solution"
        if self.interval is not None:
            low, high = self.interval
            how = f" ({low:.4g} to {high:.4g})"
        elif self.probabilities:
            how = f" ({self.probabilities[str(self.solution)]:.0%})"
        else:
            how = ""
        said = f"{self.solution:.4g}" if isinstance(self.solution, float) else self.solution
        said = f"{said} {self._unit}".strip()
        return f"{label}: {said}{how}, by the {len(self)} nearest of {len(self.base):,} cases"

    def __repr__(self) -> str:
        return f"{self._head()}\n{as_text(*self._table())}"

    def _repr_html_(self) -> str:
        return as_html(self._head(), *self._table(most=None))


@dataclass(frozen=True, eq=False)
class Explained:
    """An explanation: `answer` has all of it in plain values, and printing it shows it."""

    answer: Explanation
    record: str

    def to_dict(self) -> dict[str, Any]:
        """The explanation in plain values, as ``cbr query --json`` prints it."""
        return dataclasses.asdict(self.answer)

    def __repr__(self) -> str:
        from cbr.cli.answer import show_answer

        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            show_answer(self.answer, self.record)
        return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is proposed for many situations: `solutions` [q], and the `probabilities` [q, s] of the
    `names` [s]; where solutions are numbers, the limits `low` and `high` [q] instead."""

    solutions: Any
    names: tuple[str, ...] = ()
    probabilities: Any = None
    low: Any = None
    high: Any = None

    def __len__(self) -> int:
        return len(self.solutions)

    def to_pandas(self) -> Any:
        """A frame with a row for each situation."""
        columns = {"solution": self.solutions}
        if self.probabilities is not None:
            columns |= {n: self.probabilities[:, place] for place, n in enumerate(self.names)}
        if self.low is not None:
            columns |= {"low": self.low, "high": self.high}
        return pandas().DataFrame(columns)

    def __repr__(self) -> str:
        heads = ["solution"]
        rows = [[solution] for solution in self.solutions[:11]]
        if self.probabilities is not None:
            heads.append("probability")
            best = self.probabilities.max(axis=1)
            rows = [[*row, float(best[place])] for place, row in enumerate(rows)]
        text = as_text(heads, [*rows, *[[""]] * (len(self) - len(rows))] if rows else [])
        return f"{len(self):,} predictions\n{text}"
