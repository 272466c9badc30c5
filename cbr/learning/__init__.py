"""Learning: feature weights from the cases themselves, and how well cases predict.

kernel            the soft kernel, and retrieval made soft, with their gradients
prediction        the chance of each solution in cases that were held out
evaluation        how well a stage predicts them
weight_learning   weights that predict better, by gradient
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
