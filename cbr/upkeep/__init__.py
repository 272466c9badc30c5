"""Upkeep: what comes after a proposal, and the care of a casebase.

revision           what a decision earned, against what was expected
retention          keep it as a case, under a rule
neighbours         the nearest other cases of every case, while cases are removed
votes              their votes on its solution, as compiled code
refinement         drop cases that mislead, and cases that add nothing
competence_model   what the cases of a stage can solve
soundness          check: is a casebase sound?
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
