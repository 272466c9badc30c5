"""A case-based reasoning engine. Its modules are the steps of the cycle:

    case       Feature, CaseType, Case: what a case is
    casebase   Casebase: cases in one SQLite file
    build      from files to a casebase
    rebuild    features anew, from the records that a casebase keeps
    measure    local similarities: how alike two values are
    index      which vectors can be near, without looking at each
    retrieve   the cases most like a target
    reuse      what they propose
    explain    why
    revise     what a decision earned, against what was expected
    retain     keep it as a case, under a rule
    refine     drop what misleads, and what adds nothing
    evolve     weights that earn more, by contests in an arena
    check      is a casebase sound?
    plugins    what others add, through the hooks in `hookspecs`

>>> import cbr, tempfile
>>> from cbr.retrieve import retrieve
>>> from cbr.reuse import reuse
>>> tea = cbr.CaseType("tea", [cbr.Feature("minutes", range=(0, 10))], ["weak", "good", "bitter"])
>>> base = cbr.Casebase.create(tempfile.mkdtemp() + "/tea.db", [tea])
>>> with base.transaction():
...     taste = ["weak", "weak", "good", "good", "bitter"]
...     base.add("tea", {"minutes": [1, 2, 3, 4, 8]}, taste, [None] * 5, [None] * 5, range(5))
>>> reuse(retrieve(base, "tea", {"minutes": 3.4}, policy="top?k=3")).probabilities
{'weak': 0.3333333333333333, 'good': 0.6666666666666666, 'bitter': 0.0}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cbr.hookspecs import hook

if TYPE_CHECKING:
    from cbr.arena import Arena as Arena
    from cbr.arena import Contest as Contest
    from cbr.arena import Gene as Gene
    from cbr.case import Batch as Batch
    from cbr.case import BuildOption as BuildOption
    from cbr.case import Case as Case
    from cbr.case import CaseType as CaseType
    from cbr.case import ExtraFeature as ExtraFeature
    from cbr.case import Feature as Feature
    from cbr.case import Situated as Situated
    from cbr.case import feature as feature
    from cbr.casebase import Casebase as Casebase
    from cbr.errors import BadValue as BadValue
    from cbr.errors import CbrError as CbrError
    from cbr.index import IndexKind as IndexKind
    from cbr.index import Reach as Reach
    from cbr.measure import FEATURE_HIGH as FEATURE_HIGH
    from cbr.measure import FEATURE_LOW as FEATURE_LOW
    from cbr.measure import FEATURE_SPAN as FEATURE_SPAN
    from cbr.measure import similarity as similarity
    from cbr.ranking import retrieval_policy as retrieval_policy
    from cbr.reuse import reuse_policy as reuse_policy
    from cbr.sources import CaseSource as CaseSource
    from cbr.sources import Raw as Raw
    from cbr.sources import Record as Record
    from cbr.sources import Skipped as Skipped
    from cbr.weights import Weights as Weights

#: Public name -> the module that has it. Loaded when first used, because every command imports
#: this package, and most need neither arrays nor a database.
_HOME = {
    "Arena": "arena",
    "Contest": "arena",
    "Gene": "arena",
    "Batch": "case",
    "BuildOption": "case",
    "Case": "case",
    "CaseType": "case",
    "ExtraFeature": "case",
    "Feature": "case",
    "Situated": "case",
    "feature": "case",
    "Casebase": "casebase",
    "BadValue": "errors",
    "CbrError": "errors",
    "IndexKind": "index",
    "Reach": "index",
    "FEATURE_HIGH": "measure",
    "FEATURE_LOW": "measure",
    "FEATURE_SPAN": "measure",
    "similarity": "measure",
    "retrieval_policy": "ranking",
    "reuse_policy": "reuse",
    "CaseSource": "sources",
    "Raw": "sources",
    "Record": "sources",
    "Skipped": "sources",
    "Weights": "weights",
}

__all__ = ["hook", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cbr' has no attribute {name!r}")
    return getattr(importlib.import_module(f"cbr.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
