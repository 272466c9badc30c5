"""A case-based reasoning engine. Its folders follow the CBR cycle:

    case, missing, measure, weights   cases and features, what it means that a value is missing,
                                      local similarity measures, feature weights
    store/       Casebase: cases in one SQLite file
    tables/      the case type proposed for a table
    building/    a casebase built from files
    retrieval/   the cases most similar to a target
    reusing/     the solution that retrieved cases propose, and its explanation
    upkeep/      revise, retain, refine, check
    learning/    feature weights learned from the cases
    evolve/      feature weights found by evolution: those that earn more in an arena
    plugging/    plugins and the hooks through which they add parts
    plots/, cli/ pictures, and the command line
    interface/   the same for Python programs; `cbr.sklearn` as scikit-learn's estimators

>>> import cbr
>>> rows = [(1, "weak"), (2, "weak"), (3, "good"), (4, "good"), (8, "bitter"), (9, "bitter")]
>>> base = cbr.build([{"minutes": m, "taste": t} for m, t in rows], solution="taste")
>>> base.nearest({"minutes": 3.4}, k=3)
taste: good (69%), by the 3 nearest of 6 cases
case  similarity  minutes  taste
3     0.95        3        good
4     0.925       4        good
2     0.825       2        weak

A step of the cycle is a function too:

>>> target = {"minutes": 3.4}
>>> cbr.reuse(cbr.retrieve(base, "table", target, policy="top?k=3")).probabilities["good"]
0.694444447510527

A plugin or a program may import the names that `cbr` and these folders list; modules inside the
folders are private to the engine.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
