"""The casebase as a Python program uses it: rows in, answers out.

>>> import cbr
>>> base = cbr.build(
...     {"minutes": [1, 2, 3, 4, 8], "taste": ["weak", "weak", "good", "good", "bitter"]},
...     solution="taste",
... )
>>> len(base), base[0].values, base[-1].solution
(5, {'minutes': 1.0}, 'bitter')
>>> base.nearest({"minutes": 3.4}, k=3).solution
'good'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from cbr.case import Case, CaseType
from cbr.errors import BadValue
from cbr.plugging.plugins import default_plugins
from cbr.store.casebase import Casebase as Stored
from cbr.store.connection import memory_database, verify_stages
from cbr.store.schema import create

if TYPE_CHECKING:
    from types import EllipsisType

    from cbr.building.pipeline import BuildReport
    from cbr.interface.nearest import Nearest, Prediction
    from cbr.learning.evaluation import Evaluation
    from cbr.retrieval.retriever import Retriever
    from cbr.upkeep.editing import Change
    from cbr.upkeep.refinement import Refinement
    from cbr.weights import GivenWeights, Weights

#: The path of a casebase that is in no file.
_IN_MEMORY = Path(":memory:")
#: How many ways of retrieval are kept ready: each holds an index in memory.
_KEPT = 4


class Casebase(Stored):
    """Cases in one SQLite file, or in memory.

    `cbr.open`, `cbr.build` and `Casebase.in_memory` make one. It is a collection of its cases:
    ``len(base)``, ``for case in base``, ``base[3]``, ``base[-5:]``. What a command of the command
    line does, a method of the same name does here.
    """

    #: What the build that made it read, if it was made by `cbr.build`.
    report: BuildReport | None = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._retrievers: dict[tuple[Any, ...], Retriever] = {}

    @classmethod
    def in_memory(cls, case_types: CaseType | Sequence[CaseType], selection: str = "") -> Self:
        """A new casebase in no file, gone when the program ends."""
        types = [case_types] if isinstance(case_types, CaseType) else list(case_types)
        verify_stages(types)
        db = memory_database()
        create(db, types, selection)
        db.execute("PRAGMA query_only = ON")  # until a transaction begins
        return cls(db, _IN_MEMORY, True)

    # --- a collection of cases ------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(map(self.count, self.stages))

    def __bool__(self) -> bool:
        return True  # an empty one is one, too

    def __iter__(self) -> Iterator[Case]:
        return chain.from_iterable(map(self.cases, self.stages))

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...
    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        """Cases by their place in the order of iteration; ``base.cases(stage, [7])`` by number."""
        if isinstance(place, slice):
            numbers = range(len(self))[place]
            return [self[number] for number in numbers] if len(numbers) < 50 else self._span(place)
        count = len(self)
        at = place + count if place < 0 else place
        if not 0 <= at < count:
            raise IndexError(f"there are {count} cases, and no {place}")
        for stage in self.stages:
            if at < self.count(stage):
                query = f"SELECT id FROM {self.table(stage)} ORDER BY id LIMIT 1 OFFSET ?"
                number = self.db.execute(query, [at]).fetchone()[0]
                return next(self.cases(stage, [number]))
            at -= self.count(stage)
        raise IndexError(place)

    def _span(self, place: slice) -> list[Case]:
        start, stop, step = place.indices(len(self))
        if step > 0:
            return list(islice(self, start, stop, step))
        return list(self)[place]

    def cases(self, stage: str | None = None, ids: Sequence[int] | None = None) -> Iterator[Case]:
        """Cases in order of their numbers: all of a stage, or those in `ids`. Numbers, which have
        32 bits, are as people write them: 5.1, not 5.099999904632568."""
        chosen = self.stage(stage)
        numbers = {f.name for f in self.case_type(chosen).features if f.is_number}
        for case in super().cases(chosen, ids):
            values = {n: as_written(v) if n in numbers else v for n, v in case.values.items()}
            yield replace(case, values=values)

    def table(self, stage: str) -> str:
        """The table of a stage, quoted for SQL."""
        from cbr.store.schema import case_table, quoted

        return quoted(case_table(self.stage(stage)))

    def __repr__(self) -> str:
        stages = ", ".join(f"{self.count(stage):,} {stage} cases" for stage in self.stages)
        return f"<Casebase {self.path}: {stages}>"

    def _repr_html_(self) -> str:
        from cbr.interface.showing import as_html

        return "".join(
            as_html(f"{s}: {self.count(s):,} cases", *self._table(s)) for s in self.stages
        )

    def _table(self, stage: str, most: int = 10) -> tuple[list[str], list[list[Any]]]:
        case_type = self.case_type(stage)
        heads = ["case", *(feature.called for feature in case_type.features)]
        heads += [case_type.solution_label or "solution", case_type.outcome_label or "outcome"]
        return heads, [
            [*_values(case, case_type), case.solution, case.outcome]
            for case in islice(self.cases(stage), most)
        ]

    def to_pandas(self, stage: str | None = None) -> Any:
        """All cases of a stage as a pandas frame, by their numbers."""
        from cbr.interface.showing import pandas

        chosen = self.stage(stage)
        heads, rows = self._table(chosen, self.count(chosen))
        return pandas().DataFrame(rows, columns=heads).set_index("case")

    # --- questions --------------------------------------------------------------------------------

    def nearest(self, case: Any, k: int | None = None, **options: Any) -> Nearest:
        """The `k` cases nearest to a situation, and what they propose. `case` is a dictionary of
        features, by name or label, or a row of a frame; other options are those of `query`."""
        if k is not None:
            options["policy"] = f"top?k={int(k)}"
        return self.query(case, **options)

    def query(
        self,
        case: Any,
        stage: str | None = None,
        *,
        policy: str = "",
        reuse: str = "",
        weights: GivenWeights = "",
        similarity: Mapping[str, str] | None = None,
        missing: str | Mapping[str, str] = "",
        index: str = "auto",
        allow: Sequence[str] | None = None,
    ) -> Nearest:
        """As ``cbr query``: the similar cases that the policy retrieves, and what they propose."""
        from cbr.interface.nearest import Nearest
        from cbr.interface.targets import target_of
        from cbr.reusing.proposal import reuse as propose

        chosen = self.stage(stage)
        with self.reading():
            target = target_of(case, self.case_type(chosen), default_plugins())
            mine = self._retriever(chosen, weights, policy, similarity, missing, index)
            retrieved = mine(target)
            return Nearest(retrieved, propose(retrieved, reuse, allowed=allow), self)

    def predict(
        self,
        frame: Any,
        stage: str | None = None,
        *,
        policy: str = "",
        reuse: str = "",
        weights: GivenWeights = "",
        similarity: Mapping[str, str] | None = None,
        missing: str | Mapping[str, str] = "",
        index: str = "auto",
    ) -> Prediction:
        """What is proposed for each row of a frame. Columns that are no features are left out."""
        from cbr.interface.targets import codes_of

        chosen = self.stage(stage)
        with self.reading():
            retriever = self._retriever(chosen, weights, policy, similarity, missing, index)
        return predicted(retriever.many(codes_of(frame, retriever.vectors.case_type)), reuse)

    def _retriever(
        self,
        stage: str,
        weights: GivenWeights,
        policy: str,
        similarity: Mapping[str, str] | None,
        missing: str | Mapping[str, str],
        index: str,
    ) -> Retriever:
        """Retrieval with these options. What was prepared for it is kept for the next question, as
        long as the cases are the same."""
        from cbr.retrieval.retriever import retriever_of
        from cbr.weights import weights_of

        vectors, plugins = self.vectors(stage), default_plugins()
        exact = tuple(weights_of(vectors.case_type, weights, plugins))
        rules = missing if isinstance(missing, str) else tuple(sorted(missing.items()))
        measures = tuple(sorted((similarity or {}).items()))
        key = (stage, exact, policy, measures, rules, index, id(plugins))
        kept = self._retrievers.pop(key, None)
        if kept is None or kept.vectors is not vectors:
            names = [feature.name for feature in vectors.case_type.indexed]
            kept = retriever_of(
                None,
                vectors=vectors,
                weights=dict(zip(names, exact, strict=True)),
                policy=policy,
                similarity=similarity,
                missing=missing,
                index=index,
                plugins=plugins,
            )
        self._retrievers[key] = kept  # the last in order is the one used last
        while len(self._retrievers) > _KEPT:
            del self._retrievers[next(iter(self._retrievers))]
        return kept

    # --- changes ----------------------------------------------------------------------------------

    @overload
    def add(self, stage: str, *columns: Any, **more: Any) -> None: ...
    @overload
    def add(self, stage: Any, *, source: str = ..., to: str | None = ...) -> int: ...
    def add(
        self, stage: Any, *columns: Any, source: str = "", to: str | None = None, **more: Any
    ) -> int | None:
        """Add the rows of a frame, in a transaction of its own: all of them or, if one cannot be a
        case, none; returns how many. `to` is the stage, if there are several, and `source` a name
        for where they come from.

        With a stage and columns (features, solution, outcome, record, step) it adds these, inside
        ``with base.transaction():``; outside of one it raises.
        """
        if isinstance(stage, str):
            super().add(stage, *columns, **more)
            return None
        from cbr.building.in_memory import add_rows

        return add_rows(self, stage, source=source, stage=to)

    def update(
        self,
        case: int,
        values: Mapping[str, object] | None = None,
        *,
        solution: object = None,
        outcome: float | EllipsisType | None = ...,
        stage: str | None = None,
        note: str = "",
        history: bool = True,
    ) -> Case:
        """As ``cbr revise``: change features, the solution or the outcome of a case, by its number,
        in a transaction of its own."""
        from cbr.upkeep.editing import change

        return change(
            self,
            self.stage(stage),
            case,
            values,
            solution=solution,
            outcome=outcome,
            note=note,
            history=history,
        )

    def delete(
        self,
        cases: int | Sequence[int] = (),
        *,
        where: str = "",
        stage: str | None = None,
        note: str = "",
        history: bool = True,
    ) -> int:
        """As ``cbr delete``: delete cases by their numbers, or `where` conditions are true, in a
        transaction of its own; returns how many."""
        from cbr.upkeep.conditions import chosen_cases
        from cbr.upkeep.editing import delete

        chosen = self.stage(stage)
        ids = [cases] if isinstance(cases, int) else list(cases)
        if bool(ids) == bool(where):
            raise BadValue("name the cases to delete by their numbers, or choose them with `where`")
        ids = ids or chosen_cases(self, chosen, where)
        return delete(self, chosen, ids, note=note, history=history) if ids else 0

    def history(self, case: int | None = None, stage: str | None = None) -> list[Change]:
        """As ``cbr history``: what was deleted or revised by hand."""
        from cbr.upkeep.editing import history_of

        return history_of(self, self.stage(stage), case)

    def retain(
        self,
        case: Any,
        solution: Any,
        outcome: float | None = None,
        *,
        rule: str = "always",
        stage: str | None = None,
    ) -> int | None:
        """As ``cbr retain``: keep a decision as a case, if the rule keeps it; its number."""
        from cbr.upkeep.retention import retain
        from cbr.upkeep.revision import revise

        chosen = self.stage(stage)
        with self.transaction():
            return retain(
                self, chosen, revise(self.query(case, chosen).retrieved, solution, outcome), rule
            )

    # --- upkeep and learning ----------------------------------------------------------------------

    def refine(
        self,
        method: str = "noise",
        k: int = 3,
        *,
        apply: bool = False,
        weights: GivenWeights = "",
        stage: str | None = None,
    ) -> Refinement:
        """As ``cbr refine``: find cases that mislead or are redundant; with `apply` delete them."""
        from cbr.retrieval.retriever import retriever_of
        from cbr.upkeep.refinement import refine

        chosen = self.stage(stage)
        found = refine(retriever_of(self, chosen, weights=weights), method, k)
        if apply and found.drop:
            with self.transaction():
                self.remove(chosen, found.drop)
        return found

    def learn_weights(
        self, stage: str | None = None, *, steps: int = 300, seed: int = 0, keep: bool = False
    ) -> Weights:
        """As ``cbr learn-weights``: weights learned from the cases; with `keep` they become those
        of the casebase."""
        from cbr.learning.weight_learning import learn
        from cbr.retrieval.retriever import retriever_of
        from cbr.store.definitions import set_weights
        from cbr.weights import Weights

        chosen = self.stage(stage)
        mine = retriever_of(self, chosen, index="scan")
        found = learn(
            self.read_cases(chosen),
            mine.measures,
            mine.policy,
            mine.weights,
            seed=seed,
            steps=steps,
        )
        names = [feature.name for feature in self.case_type(chosen).indexed]
        pairs = zip(names, found.weights.tolist(), strict=True)
        rounded = {name: round(weight, 3) for name, weight in pairs}
        made = Weights({chosen: rounded}, self.domain, {"made_by": "learn_weights", "seed": seed})
        if keep:
            set_weights(self, made, chosen)
        return made

    def evaluate(
        self,
        stage: str | None = None,
        *,
        weights: Sequence[str] = ("",),
        folds: int = 10,
        queries: int = 2_000,
        policy: str = "",
        seed: int = 0,
    ) -> Evaluation:
        """As ``cbr evaluate --folds``: how well records are predicted by those of other folds."""
        import numpy as np

        from cbr.interface.evaluated import Evaluated
        from cbr.learning.evaluation import evaluate
        from cbr.learning.prediction import split_in_folds
        from cbr.retrieval.retriever import retriever_of
        from cbr.weights import weights_of

        chosen = self.stage(stage)
        cases = self.read_cases(chosen)
        mine = retriever_of(self, chosen, policy=policy, index="scan")
        sets = {w or "own": np.asarray(weights_of(cases.case_type, w), float) for w in weights}
        splits = split_in_folds(cases, folds, np.random.default_rng(seed))
        found = evaluate(
            *(cases, mine.measures, mine.policy, sets, splits, f"{folds} folds of records"),
            queries=queries,
            seed=seed,
        )
        return Evaluated(**vars(found))


def as_written(number: Any) -> float:
    """The shortest number that is this one with 32 bits.

    >>> as_written(5.099999904632568)
    5.1
    """
    import numpy as np

    return float(str(np.float32(number)))


def _values(case: Case, case_type: CaseType) -> list[Any]:
    return [case.id, *(case.values.get(feature.name) for feature in case_type.features)]


def predicted(many: Any, reuse: str) -> Prediction:
    """What the retrieved sets of many targets propose."""
    import numpy as np

    from cbr.interface.nearest import Prediction

    case_type: CaseType = many.case_type
    if case_type.numeric:
        from cbr.reusing.proposal import reuse_numbers

        found = reuse_numbers(many, reuse)
        return Prediction(found.value, low=found.low, high=found.high)
    from cbr.reusing.proposal import reuse_many

    chances = reuse_many(many, reuse)
    names = np.array(case_type.solutions, object)
    return Prediction(names[chances.argmax(axis=1)], tuple(case_type.solutions), chances)
