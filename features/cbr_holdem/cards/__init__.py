"""Cards, sets of hands, and the evaluator.

numbering   cards as numbers from 0 to 51, and their names
ranges      sets of starting hands in the usual notation, and the 169 classes
evaluator   the strength of 5, 6 or 7 cards
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
