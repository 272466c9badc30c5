"""Plots: pictures of answers and of evolution.

answer      which neighbours are near and by what, and what they propose
evolution   spread, scores and weights of a run
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
