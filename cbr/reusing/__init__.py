"""Reuse: a proposal from retrieved cases, and its explanation.

proposal           reuse policies: from retrieved cases to a probability for each solution
hidden_solutions   solutions that decisions take although no case has them
explanation        why these cases were retrieved, and why this solution is proposed
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
