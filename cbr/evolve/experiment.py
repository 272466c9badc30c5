"""The whole of `cbr evolve`: search for weights, then compare them with others on fresh trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cbr.errors import BadValue, CbrError, EmptyStage
from cbr.evolve.genome import Genome
from cbr.evolve.plans import Plan, Racing
from cbr.evolve.playing import Scoring, Venue, state_of
from cbr.evolve.run import Evolution, OnProgress, SearchProgress
from cbr.evolve.runfile import RunFile
from cbr.learning.weight_learning import learn_weights
from cbr.plugging.plugins import Plugins, default_plugins
from cbr.statistics import Mean, mean_of
from cbr.store.casebase import Casebase
from cbr.typing import Floats
from cbr.weights import Weights, random_weights

EVOLVED, OWN, LEARNED, RANDOM = "evolved", "the casebase's own", "learned", "random"


@dataclass(frozen=True)
class Judged:
    """The score of a set of weights on fresh trials, and the paired gain of the evolved set."""

    name: str
    score: Mean
    behind: Mean | None


@dataclass(frozen=True, eq=False)
class Evolved:
    """The result: weights, extra genes, and the comparison on `trials` fresh trials."""

    weights: Weights
    genes: Mapping[str, float]
    judged: Sequence[Judged]
    unit: str
    trial: str
    trials: int
    generations: int
    usage: str


def default_arena(base: Casebase, plan: Plan, plugins: Plugins) -> str:
    """The plan's arena, or one for the casebase's domain, or the accuracy of prediction."""
    if plan.arena:
        return plan.arena
    own = [arena.name for arena in plugins.named("arena").values() if base.domain in arena.domains]
    return own[0] if own else "accuracy"


def evolve(
    file: Path,
    plan: Plan,
    *,
    run: Path,
    arenas: Sequence[str] = (),
    objective: str = "mean",
    starts: Sequence[str] = (),
    seed: int = 0,
    resume: bool = False,
    pool: Executor | None = None,
    tell: OnProgress | None = None,
    out: str = "WEIGHTS.json",
) -> Evolved:
    """Search by a plan, and compare the result with other weights on fresh trials. With `resume`,
    an existing `run` file is continued."""
    plugins = default_plugins()
    if not (resume and run.exists()):
        RunFile.verify_new(run)
    with Casebase.open(file) as base:
        for given in starts:  # before arenas are opened, which takes long
            _verify_start(base, given)
        arenas = list(arenas) or [default_arena(base, plan, plugins)]
        scoring = _scoring(base, arenas, plan, objective, seed, together=plan.together)
        if isinstance(plan, Racing) and any(contest.together for contest in scoring.contests):
            raise BadValue(f"plan {plan.name!r} cannot use an arena where rows play each other")
        genome = Genome.of(base, scoring.contests[0].genes)
        known = _known(base, genome, starts, plugins)
        if isinstance(plan, Racing) and plan.learn and not starts:
            until = scoring.contests[0].last_known
            lesson = (plan.learn, seed, until)
            known |= _learned(base, genome, lesson, run if resume else None, pool, tell)
        others = known | {RANDOM: _random(base, genome, seed)}
        settings = {
            "casebase": {stage: base.digest(stage) for stage in base.stages},
            "state": state_of(base),
            "plan": plan.settings(),
            "arenas": list(arenas),
            "objective": objective,
            "seed": seed,
            "starts": {name: row.tolist() for name, row in known.items()},
        }
        if scoring.supply is not None:
            settings["blocks"] = scoring.supply._asdict()
        # For the comparison each row plays alone, at a table as large as that of the search.
        fresh = _scoring(base, arenas, plan, objective, seed, together=False)
    described = {
        "file": Path(file).name,
        "domain": genome.domain,
        "stages": {stage: list(names) for stage, names in genome.stages.items()},
        "genes": [asdict(gene) for gene in genome.extra],
        "unit": scoring.contests[0].unit,
        "trial": scoring.contests[0].trial,
        "trials": scoring.trials(1),
        "published": dict(plan.published),
    }
    with _opened(run, settings, described, resume) as kept:
        search = Evolution(plan, genome, scoring, known, kept, pool, tell)
        best = genome.rounded(search.run())
        search.scoring = fresh
        names, rows = [EVOLVED, *others], np.array([best, *others.values()])
        scores = fresh.one_score(search.report(rows))
        judged = [
            Judged(
                name,
                mean_of(scores[at]),
                mean_of(scores[0] - scores[at]) if at else None,
            )
            for at, name in enumerate(names)
        ]
        trials = fresh.trials(scores.shape[1])
        found = Evolved(
            genome.to_weights(
                best,
                _provenance(settings, described, judged, trials, kept.count(), genome.extras(best)),
            ),
            genome.extras(best),
            judged,
            scoring.contests[0].unit,
            scoring.contests[0].trial,
            trials,
            kept.count(),
            _usage(scoring, genome, best, out),
        )
        kept.finish(
            {"row": best.tolist(), "judged": [asdict(one) for one in judged], "trials": trials}
        )
    return found


def _scoring(
    base: Casebase,
    arenas: Sequence[str],
    plan: Plan,
    objective: str,
    seed: int,
    together: bool,
) -> Scoring:
    files = tuple(map(str, default_plugins().files))
    rows = plan.population if plan.together else 1
    where, state = str(base.path.absolute()), state_of(base)
    venues = [Venue(where, state, arena, rows, together, files) for arena in arenas]
    return Scoring(venues, objective, seed)


def _verify_start(base: Casebase, given: str) -> None:
    try:
        Genome.of(base).row(base, given)
    except CbrError as error:
        told = str(error)
        raise BadValue(told if given in told else f"--start {given}: {told}") from None


def _known(
    base: Casebase, genome: Genome, starts: Sequence[str], plugins: Plugins
) -> dict[str, Floats]:
    """Rows by name that exist before the search: the casebase's own weights, sets of its domain,
    and `starts`; equal rows once."""
    sets = [s for s in plugins.named("weight set").values() if s.domain == base.domain]
    rows = {OWN: genome.row(base)}
    for one in sets:
        if set(one.stages) >= set(base.stages):
            rows[one.called] = genome.row(base, one)
    for given in starts:
        short = Path(given).stem if Path(given).suffix else given
        name = given if short in {*rows, EVOLVED, LEARNED, RANDOM} else short
        rows[name] = genome.row(base, given)
    found: dict[str, Floats] = {}
    for name, row in rows.items():
        same = next((other for other, kept in found.items() if np.array_equal(kept, row)), None)
        if same is not None:
            found = {f"{n}, {name}" if n == same else n: kept for n, kept in found.items()}
        else:
            found[name] = row
    return found


def _learned(
    base: Casebase,
    genome: Genome,
    lesson: tuple[int, int, int | None],
    run: Path | None,
    pool: Executor | None,
    tell: OnProgress | None,
) -> dict[str, Floats]:
    """Weights learned from the cases, as a row by name; read from the `run` file if it is resumed.
    A `lesson` is the number of steps, the seed, and the last record to learn from, if not all.
    Empty if there are too few cases."""
    if run is not None and run.exists():
        with RunFile.open(run) as kept:
            row = kept.settings.get("starts", {}).get(LEARNED)
        # A row that is not one of weights is learned again; then it is not that of the run.
        if row is not None and genome.has(np.array(row, np.float64)):
            return {LEARNED: np.array(row, np.float64)}

    def learning(done: float, of: float, _: int) -> None:
        if tell is not None:
            doing = f"learning weights from the cases, {done / of:.0%}"
            tell(SearchProgress(0, 0, None, 0, 0.0, doing=doing))

    learning(0.0, 1.0, 0)
    try:
        steps, seed, until = lesson
        weights, _ = learn_weights(
            base.path, steps=steps, seed=seed, until=until, pool=pool, progress=learning
        )
    except EmptyStage:
        return {}
    return {LEARNED: genome.row(base, weights)}


def _random(base: Casebase, genome: Genome, seed: int) -> Floats:
    stages = {t.stage: random_weights(t, seed) for t in base.case_types}
    return genome.row(base, Weights(stages, base.domain))


def _opened(
    run: Path, settings: Mapping[str, Any], described: Mapping[str, Any], resume: bool
) -> RunFile:
    if run.exists() and resume:
        kept = RunFile.open(run)
        try:
            kept.verify_settings(settings)
        except BaseException:
            kept.close()
            raise
        return kept
    return RunFile.create(run, {**settings, **described})


def _provenance(
    settings: Mapping[str, Any],
    described: Mapping[str, Any],
    judged: Sequence[Judged],
    trials: int,
    generations: int,
    genes: Mapping[str, float],
) -> dict[str, Any]:
    first = judged[0]
    told: dict[str, Any] = {
        "made_by": "cbr evolve",
        "casebase": described["file"],
        "digest": settings["casebase"],
        "plan": settings["plan"],
        "arenas": settings["arenas"],
        "objective": settings["objective"],
        "seed": settings["seed"],
        "generations": generations,
        "figures": {
            "unit": described["unit"],
            f"fresh {described['trial']}s": trials,
            "evolved": asdict(first.score),
            "better than": {o.name: asdict(o.behind) for o in judged[1:] if o.behind},
        },
    }
    return told | ({"genes": dict(genes)} if genes else {})


def _usage(scoring: Scoring, genome: Genome, row: Floats, out: str) -> str:
    usage = scoring.contests[0].usage
    return "" if usage is None else usage(genome.extras(row), out)
