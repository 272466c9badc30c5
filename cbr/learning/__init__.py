"""Learning: feature weights learned from the cases, and the quality of prediction.

kernel            the soft kernel and a smooth form of retrieval, with their gradients
prediction        the probability of each solution in held-out cases
evaluation        how well a stage predicts held-out cases
weight_learning   weights that predict better, found by gradient ascent
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
