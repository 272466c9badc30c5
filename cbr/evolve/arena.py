"""Arenas: where feature weights show what they are worth.

Evolution asks one function for scores and knows nothing of the contest behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cbr.errors import BadValue, PluginFailure
from cbr.plugging.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    from cbr.typing import Floats

    Play = Callable[[Floats, int, int], Floats]


@dataclass(frozen=True)
class Gene:
    """A number that evolves beside the weights, from `low` to `high`; `start` where it begins."""

    name: str
    low: float
    high: float
    start: float
    meaning: str = ""


@dataclass(frozen=True, eq=False)
class Contest:
    """An arena that is open for one casebase: ``play(weights[n, d], blocks, seed) -> scores[n,
    blocks]``.

    A row has a weight for each indexed feature, stage after stage, and behind them the extra
    `genes`. Block b of a seed is the same contest for every row of weights and for every number of
    blocks, so differences between rows are paired. Where rows sit `together`, they play each other,
    and a row's scores depend on the others.

    `unit` says what a score is. A block is so many `trials` for each row, each called a `trial`.
    One call plays at most `piece` blocks: what one worker does at a time. `usage` says how a result
    is used, from the extra genes by name and the weights file.
    """

    play: Play
    genes: tuple[Gene, ...] = ()
    unit: str = "score"
    trial: str = "block"
    trials: int = 1
    piece: int = 8
    together: bool = False
    usage: Callable[[Mapping[str, float], str], str] | None = None


@dataclass(frozen=True)
class Arena:
    """A named contest. `play` is all of it where it needs no casebase and has no options; else
    ``open(file, rows, together, **options)`` gives a `Contest` for a casebase: at a table with room
    for so many rows, `together` or each for itself with others in their place.

    `domains` are those whose casebases it is for; none: any. `cbr.testing.check_arena` checks that
    a contest keeps its word.
    """

    name: str
    play: Play | None = None
    meaning: str = ""
    open: Callable[..., Contest] | None = None
    domains: Sequence[str] = ()

    kind: ClassVar[str] = "arena"

    def contest(self, file: Path, spec: Spec, rows: int = 1, together: bool = False) -> Contest:
        """The contest that a spec describes, for a casebase."""
        if self.open is None:
            if self.play is None:
                raise PluginFailure(f"arena {self.name!r} has neither play nor open")
            for name in spec.parameters:
                raise BadValue(f"arena {self.name!r} has no options, so {name!r} is none of them")
            return Contest(self.play)
        settled: dict[str, Any] = settle(self.open, 3, spec)
        with guarded(f"arena {self.name!r}"):
            contest: Contest = self.open(file, rows, together, **settled)
            return contest
