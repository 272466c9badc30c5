"""Retain: keep a revised case, under a rule.

Several processes may retain into one casebase: each case is one transaction that waits its turn.
"""

from __future__ import annotations

from collections.abc import Callable

from cbr.case import Feature, Value
from cbr.errors import BadValue, NoSuchName
from cbr.spec import Spec, settle
from cbr.store.casebase import Casebase
from cbr.upkeep.revision import Revision

Rule = Callable[..., bool]


def always(revision: Revision) -> bool:
    """Keep every case."""
    return True


def novel(revision: Revision, above: float = 0.999) -> bool:
    """Keep a case unless a retrieved case with the same solution is at least this similar."""
    return revision.most_similar < above


def earned(revision: Revision, above: float = 0.0) -> bool:
    """Keep a case that earned more than `above`."""
    if revision.case.outcome is None:
        raise BadValue("the rule 'earned' needs an outcome")
    return revision.case.outcome > above


RULES: dict[str, Rule] = {"always": always, "novel": novel, "earned": earned}


def can_retain(revision: Revision, rule: str = "always") -> bool:
    """Whether the rule (a spec: ``earned?above=2``) keeps this case."""
    spec = Spec.parse(rule)
    if spec.name not in RULES:
        raise NoSuchName("rule", spec.name, RULES)
    return RULES[spec.name](revision, **settle(RULES[spec.name], 1, spec))


def retain(
    base: Casebase,
    stage: str,
    revision: Revision,
    rule: str = "always",
    *,
    record: int | None = None,
    step: int = 0,
) -> int | None:
    """Add the case if the rule keeps it; returns its number, or None.

    The case must give every indexed feature that may not be missing. `record` and `step` identify
    its record in the casebase, if it has one; `cbr rebuild` computes features of other cases from
    those they have.
    """
    case_type, case = base.case_type(stage), revision.case
    needed = [f.name for f in case_type.indexed if not f.missing and f.name not in case.values]
    if needed:
        raise BadValue(
            f"a case to retain needs every indexed feature that may not be missing; {needed[0]!r} "
            "is missing"
        )
    if not can_retain(revision, rule):
        return None
    values = {f.name: case.values.get(f.name, _nothing(f)) for f in case_type.features}
    columns = {name: [value] for name, value in values.items()}
    with base.transaction():
        base.add(stage, columns, [case.solution], [case.outcome], [record], [step])
        return int(base.db.execute("SELECT last_insert_rowid()").fetchone()[0])


def _nothing(feature: Feature) -> Value | None:
    """What is stored for a feature that was not given: nothing if it may be missing, else a
    placeholder."""
    if feature.missing:
        return None
    return feature.range[0] if feature.range else feature.values[0] if feature.values else ""
