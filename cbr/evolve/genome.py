"""The genome: a row of genes holds weights by stage and feature, then the arena's extra genes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cbr.case import CaseType
from cbr.errors import BadWeights
from cbr.evolve.arena import Gene
from cbr.store.casebase import Casebase
from cbr.typing import Floats
from cbr.weights import GivenWeights, Weights, read_weights, weights_of

#: Weights are from 0 to this: only their ratios inside a stage count.
HIGHEST = 100.0
#: The least weight in a search on logarithms, where 0 is impossible.
LOWEST = 0.05
#: The width of an extra gene's range on the scale of logarithms of weights.
_WIDTH = 4.0


@dataclass(frozen=True)
class Genome:
    """The features of each stage in the order of a row, and the extra genes that follow."""

    domain: str
    stages: Mapping[str, tuple[str, ...]]
    extra: tuple[Gene, ...] = ()

    @classmethod
    def of(cls, base: Casebase, extra: Sequence[Gene] = ()) -> Genome:
        """The genome of a casebase."""
        stages = {t.stage: tuple(f.name for f in t.indexed) for t in base.case_types}
        return cls(base.domain, stages, tuple(extra))

    @cached_property
    def parts(self) -> dict[str, slice]:
        """The slice of a row that holds the weights of each stage."""
        ends = np.cumsum([0, *map(len, self.stages.values())]).tolist()
        return {s: slice(a, b) for s, a, b in zip(self.stages, ends[:-1], ends[1:], strict=True)}

    @property
    def weights(self) -> int:
        """The number of weights in a row."""
        return sum(map(len, self.stages.values()))

    def __len__(self) -> int:
        return self.weights + len(self.extra)

    def row(self, base: Casebase, given: GivenWeights = "") -> Floats:
        """Weights as a row; raises for features that the casebase does not have."""
        verify_features(base.case_types, given)
        found = [w for case_type in base.case_types for w in weights_of(case_type, given)]
        return np.array([*found, *(gene.start for gene in self.extra)], np.float64)

    def has(self, row: Floats) -> bool:
        """Whether this is a row of the genome: as long, with weights above 0 in each stage."""
        if row.shape != (len(self),) or (row[: self.weights] < 0.0).any():
            return False
        return all(row[part].any() for part in self.parts.values())

    def plain(self, row: Floats) -> dict[str, dict[str, float]]:
        """The weights of a row, by stage and feature."""
        return {
            stage: dict(zip(names, row[self.parts[stage]].tolist(), strict=True))
            for stage, names in self.stages.items()
        }

    def extras(self, row: Floats) -> dict[str, float]:
        """The extra genes of a row, by name."""
        names = [gene.name for gene in self.extra]
        return dict(zip(names, row[self.weights :].tolist(), strict=True))

    def rounded(self, row: Floats) -> Floats:
        """A row rounded as in a weights file: to three decimals, with no stage all 0."""
        found = row.copy()
        for part in self.parts.values():
            if found[part].max() < 1.0:
                found[part] *= HIGHEST / found[part].max()
            found[part] = found[part].round(3)
        return found

    def to_weights(self, row: Floats, provenance: Mapping[str, Any]) -> Weights:
        """The weights of a row with their provenance, for a weights file."""
        return Weights(self.plain(self.rounded(row)), self.domain, provenance)

    # --- the scale of a real-valued search ----------------------------------------------------

    def encode(self, row: Floats) -> Floats:
        """A row as logarithms of weights, scaled so that the highest of each stage is `HIGHEST`."""
        point = np.empty(len(self))
        for part in self.parts.values():
            scaled = row[part] * HIGHEST / row[part].max()
            point[part] = np.log(np.maximum(scaled, LOWEST))
        low, high = self._limits
        point[self.weights :] = _WIDTH * (row[self.weights :] - low) / (high - low)
        return point

    def decode(self, point: Floats) -> Floats:
        """The inverse of `encode`; weights are at least `LOWEST`, so no stage is ever all 0."""
        row = np.empty(len(self))
        for part in self.parts.values():
            scaled = HIGHEST * np.exp(point[part] - point[part].max())
            row[part] = np.maximum(scaled, LOWEST)
        low, high = self._limits
        row[self.weights :] = low + np.clip(point[self.weights :] / _WIDTH, 0, 1) * (high - low)
        return row

    @property
    def _limits(self) -> tuple[Floats, Floats]:
        limits = np.array([(gene.low, gene.high) for gene in self.extra], np.float64)
        low, high = limits.reshape(-1, 2).T
        return low, high


def verify_features(case_types: Sequence[CaseType], given: GivenWeights) -> None:
    """Raise if weights name a stage or a feature that does not exist."""
    found = read_weights(case_types[0], given)
    if not isinstance(found, Weights):
        return
    stages = {case_type.stage: case_type for case_type in case_types}
    for stage, weights in found.stages.items():
        if stage not in stages:
            raise BadWeights(
                f"these weights are for a stage {stage!r}; the casebase has {', '.join(stages)}"
            )
        for name in weights:
            stages[stage].position(name)
