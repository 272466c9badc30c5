"""Upkeep: revise and retain decisions, and maintain the casebase.

revision           revise: the outcome of a decision compared with the expected outcome
retention          retain: keep a revised decision as a case, under a rule
neighbours         the nearest other cases of every case, while cases are removed
votes              votes of the nearest cases on the solution of a case, as compiled code
refinement         refine: remove cases that mislead, and cases that are redundant
competence_model   competence: which cases of a stage the others can solve
soundness          check: whether a casebase is sound
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
