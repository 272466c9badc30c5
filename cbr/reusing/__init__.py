"""Reuse: what retrieved cases propose, and why.

proposal           reuse policies: from retrieved cases to a probability for each solution
hidden_solutions   solutions that are taken although no case shows them
explanation        why these cases, and why this solution
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
