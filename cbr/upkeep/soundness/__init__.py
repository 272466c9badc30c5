"""Check: whether a casebase is sound, so that every command can use it.

findings     the check: each finding is a sentence
structure    tables, columns, indices and kinds of values, compared with those that are written
cells        features, solutions, outcomes and values, compared with the case types
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
