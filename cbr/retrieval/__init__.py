"""Retrieval: the cases most like a target, by the weighted mean of local similarities.

scoring     the similarity of a target to a vector
ranking     the order of scored vectors, and the cap with its ties
policies    which of the ranked vectors are retrieved
index/      which vectors can be near, without scoring each
retrieved   the result, and what reuse policies see of it
retriever   retrieve: for one target or for many
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
