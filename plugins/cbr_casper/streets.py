"""One street's casebase, ready to decide many situations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr.case import CaseType
from cbr.casebase import Casebase
from cbr.definitions import as_loaded
from cbr.errors import BadValue, EmptyStage
from cbr.lacking import Lacking, lacking_in
from cbr.plugins import default_plugins
from cbr.retrieve import RetrievedMany, Retriever, retriever
from cbr.reuse import reuse_many
from cbr.spec import Spec
from cbr_holdem.situation.pending import Pending

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a street's cases say of n decisions: chances [n, solutions]; and for the m different
    ones among them what was retrieved, and which of them each decision is, [n]."""

    chances: Floats
    retrieved: RetrievedMany
    which: Ints


class Street:
    """Retrieval and reuse for one stage of a casebase."""

    def __init__(self, base: Casebase, stage: str, reuse: str, **options: Any) -> None:
        if not base.count(stage):
            raise EmptyStage(
                f"{base.path} has no cases of the {stage}, so nothing can be played there; build "
                "it from hands that came so far"
            )
        self.retriever: Retriever = retriever(base, stage, **options)
        self.case_type: CaseType = as_loaded(base.case_type(stage), default_plugins())
        for feature in self.case_type.indexed:
            if feature.computed and feature.compute is None:
                raise BadValue(
                    f"feature {feature.name!r} of {base.path} is computed by a plugin that is not "
                    "loaded; load it with --plugin FILE.py"
                )
        self.lacking: Lacking | None = lacking_in(base, self.retriever)
        self.reuse = reuse or self.case_type.reuse
        spec = Spec.parse(self.reuse)
        default_plugins().get("reuse policy", spec.name).bind(spec)  # or say what is wrong now

    @property
    def solutions(self) -> Sequence[str]:
        return self.case_type.solutions

    def answer(self, situations: Pending, allowed: Flags) -> Answer:
        """Of decisions on this street, where `allowed` [n, solutions] is legal."""
        columns = [feature.of(situations) for feature in self.case_type.indexed]
        codes = np.stack(columns, axis=1).astype(np.float32)
        # Many decisions of a batch are the same: they are asked once.
        both = np.concatenate([codes, allowed.astype(np.float32)], axis=1)
        _, first, which = np.unique(both, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        retrieved = self.retriever.many(codes[first])
        chances = reuse_many(retrieved, self.reuse, allowed=allowed[first])
        if self.lacking is not None:
            chances = self.lacking.added_to(chances, codes[first], allowed[first])
        return Answer(chances[which], retrieved, which)
