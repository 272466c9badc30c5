"""Times cbrkit for the retrieval benchmark: job as JSON on stdin, time on stdout.

It runs in a separate process because the newest cbrkit may need another Python than this project's
(CBR_BENCH_PYTHON), so it imports only cbrkit and the standard library.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import platform
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NotRequired, TypedDict

#: Queries that are timed; the best counts.
_REPEAT = 3


class Job(TypedDict):
    """A retrieval task: cases and a query as rows of feature values, to retrieve the `limit` best.

    A measure is given by its name in cbr_similarity and its parameters. `queries` are timed
    together, in one call.
    """

    names: list[str]
    cases: list[list[float]]
    query: list[float]
    measures: list[tuple[str, dict[str, Any]]]
    weights: list[float]
    limit: int
    queries: NotRequired[list[list[float]]]


class Timed(TypedDict):
    """Seconds of processor time for a query and for all `queries`, the best similarity found, and
    what was timed."""

    peer: str
    seconds: float
    best: float
    all_seconds: NotRequired[float]


def main() -> None:
    job: Job = json.load(sys.stdin)
    print(json.dumps(timed(job)))


def timed(job: Job) -> Timed:
    """Time one query; cases, measures and the retriever are made before the clock starts."""
    cbrkit: Any = importlib.import_module("cbrkit")
    cases = dict(enumerate(_named(job, row) for row in job["cases"]))
    query = _named(job, job["query"])
    retrieve, retrieve_all = _retrievers(cbrkit, job)
    retrieve({number: cases[number] for number in range(min(1_000, len(cases)))}, query)  # warm up
    best = math.inf
    for _ in range(_REPEAT):
        start = time.process_time()
        found = retrieve(cases, query)
        best = min(best, time.process_time() - start)
    similarities = [float(getattr(one, "value", one)) for one in found.similarities.values()]
    peer = f"cbrkit {version('cbrkit')}, Python {platform.python_version()}"
    done = Timed(peer=peer, seconds=best, best=max(similarities))
    if "queries" in job:
        queries = dict(enumerate(_named(job, row) for row in job["queries"]))
        start = time.process_time()
        retrieve_all(cases, queries)
        done["all_seconds"] = time.process_time() - start
    return done


def _named(job: Job, row: Sequence[float]) -> dict[str, float]:
    return dict(zip(job["names"], row, strict=True))


def _retrievers(cbrkit: Any, job: Job) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """One query, and many, as functions of cases and targets, with the interface of this cbrkit."""
    measures = {
        name: _measure(measure, parameters)
        for name, (measure, parameters) in zip(job["names"], job["measures"], strict=True)
    }
    mean = cbrkit.sim.aggregator("mean", _named(job, job["weights"]))
    similarity = cbrkit.sim.attribute_value(attributes=measures, aggregator=mean)
    if "limit" in inspect.signature(cbrkit.retrieval.build).parameters:  # older versions
        retriever = cbrkit.retrieval.build(similarity, limit=job["limit"])
        apply = cbrkit.retrieval.apply

        def apply_all(cases: Any, targets: Mapping[int, Any], retriever: Any) -> Any:
            return [apply(cases, target, retriever) for target in targets.values()]
    else:
        retriever = cbrkit.retrieval.build(similarity)
        retriever = cbrkit.retrieval.dropout(retriever, limit=job["limit"])
        apply, apply_all = cbrkit.retrieval.apply_query, cbrkit.retrieval.apply_queries
    return (
        lambda cases, target: apply(cases, target, retriever),
        lambda cases, targets: apply_all(cases, targets, retriever),
    )


def _measure(name: str, parameters: Mapping[str, Any]) -> Callable[[float, float], float]:
    """A measure of cbr_similarity as a plain function of two values, as cbrkit wants it."""
    if name == "groups":
        cuts = [float(cut) for cut in str(parameters["cuts"]).split("/")]
        return lambda x, y: float(bisect_right(cuts, x) == bisect_right(cuts, y))
    if name == "linear":
        span = parameters["span"]
        return lambda x, y: max(0.0, 1.0 - abs(x - y) / span)
    if name not in {"exponential", "ranged-exponential"}:
        raise ValueError(f"no measure {name!r} here")
    k = parameters["k"] / parameters.get("span", 1.0)
    return lambda x, y: math.exp(-k * abs(x - y))


if __name__ == "__main__":
    main()
