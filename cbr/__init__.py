"""A case-based reasoning engine. Its folders follow the CBR cycle:

    case, measure, weights   cases and features, local similarity measures, feature weights
    store/       Casebase: cases in one SQLite file
    building/    a casebase built from files
    retrieval/   the cases most similar to a target
    reusing/     the solution that retrieved cases propose, and its explanation
    upkeep/      revise, retain, refine, check
    learning/    feature weights learned from the cases
    evolve/      feature weights found by evolution: those that earn more in an arena
    plugging/    plugins and the hooks through which they add parts
    plots/, cli/ pictures, and the command line

A plugin or a program may import the names that `cbr` and these folders list; modules inside the
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
