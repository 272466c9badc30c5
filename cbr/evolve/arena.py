"""Arenas: contests that score feature weights.

Evolution calls one function for scores and needs to know nothing else of a contest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cbr.errors import BadValue, PluginFailure
from cbr.plugging.guard import guarded
from cbr.spec import Spec, settle

if TYPE_CHECKING:
    from cbr.typing import Floats

    Play = Callable[[Floats, int, int], Floats]


@dataclass(frozen=True)
class Gene:
    """A number that evolves with the weights, from `low` to `high`, beginning at `start`."""

    name: str
    low: float
    high: float
    start: float
    meaning: str = ""


class Supply(NamedTuple):
    """The blocks of an arena whose trials are recorded and not drawn: how many serve the search,
    the choice of its result, and the judgement of that. They are numbered through from 0 in this
    order, are independent of each other, and share no trial."""

    search: int
    choice: int
    judgement: int


@dataclass(frozen=True, eq=False)
class Contest:
    """An arena opened for one casebase: ``play(weights, blocks, seed)`` returns scores [n, blocks].

    A row of `weights` [n, d] has a weight for each indexed feature, stage by stage, followed by the
    extra `genes`. Block b of a seed is the same contest for every row of weights and for every
    number of blocks, so differences between rows are paired. If rows play `together`, against each
    other, a row's scores depend on the other rows.

    An arena that draws its trials by the seed has as many independent blocks as anyone wants. One
    of recorded data says how many it has, its `supply`; a seed is then the number of the first
    block to play. `last_known` is the last record that weights may be learned from, if later ones
    are among the trials.

    `unit` is the unit of a score. A block has `trials` trials for each row; `trial` is the word for
    one (hand, case). One call plays at most `piece` blocks, the work of one worker at a time.
    `usage` returns how to use a result, given the extra genes by name and the weights file.
    """

    play: Play
    genes: tuple[Gene, ...] = ()
    unit: str = "score"
    trial: str = "block"
    trials: int = 1
    piece: int = 8
    together: bool = False
    usage: Callable[[Mapping[str, float], str], str] | None = None
    supply: Supply | None = None
    last_known: int | None = None


@dataclass(frozen=True)
class Arena:
    """A named contest. Without casebase and options, `play` is enough; otherwise
    ``open(file, rows, together, **options)`` returns a `Contest` for a casebase: at a table of
    `rows` places, where rows either play each other (`together`) or each plays alone against
    others.

    `domains` are those of the casebases that it accepts; none: any. `cbr.testing.check_arena`
    checks the contract of a contest.
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
                raise BadValue(f"arena {self.name!r} has no options; leave out {name!r}")
            return Contest(self.play)
        settled: dict[str, Any] = settle(self.open, 3, spec)
        with guarded(f"arena {self.name!r}"):
            contest: Contest = self.open(file, rows, together, **settled)
            return contest
