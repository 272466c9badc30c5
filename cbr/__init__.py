"""A case-based reasoning engine. Its folders follow the cycle:

    case, measure, weights   what a case is, how alike two values are, what features count
    store/       Casebase: cases in one SQLite file
    building/    from files to a casebase
    retrieval/   the cases most like a target
    reusing/     what they propose, and why
    upkeep/      revise, retain, refine, check
    learning/    weights from the cases themselves
    evolve/      weights that earn more, by contests in an arena
    plugging/    what others add, through hooks
    plots/, cli/ pictures, and the command line

What a plugin or a program may import is what `cbr` and these folders list; modules inside the
folders are private to the engine.

>>> import tempfile
>>> from cbr import Casebase, CaseType, Feature, retrieve, reuse
>>> tea = CaseType("tea", [Feature("minutes", range=(0, 10))], ["weak", "good", "bitter"])
>>> base = Casebase.create(tempfile.mkdtemp() + "/tea.db", [tea])
>>> with base.transaction():
...     taste = ["weak", "weak", "good", "good", "bitter"]
...     base.add("tea", {"minutes": [1, 2, 3, 4, 8]}, taste, [None] * 5, [None] * 5, range(5))
>>> reuse(retrieve(base, "tea", {"minutes": 3.4}, policy="top?k=3")).probabilities
{'weak': 0.3333333333333333, 'good': 0.6666666666666666, 'bitter': 0.0}
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
