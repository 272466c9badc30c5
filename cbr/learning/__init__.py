"""Learning: feature weights from the cases themselves, and how well cases predict.

kernel            the soft kernel and a smooth form of retrieval, with their gradients
prediction        the chance of each solution in held-out cases
evaluation        how well a stage predicts them
weight_learning   weights that predict better, by gradient
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
