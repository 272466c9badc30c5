"""Reuse: a proposal from retrieved cases, and its explanation.

policies           reuse policies, as plugins make them
numbers            policies for solutions that are numbers: the number expected of retrieved cases
intervals          intervals around such numbers, judged by cases predicted without themselves
proposal           reuse policies: from retrieved cases to a probability for each solution
hidden_solutions   solutions that decisions take although no case has them
explanation        why these cases were retrieved, and why this solution is proposed
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
