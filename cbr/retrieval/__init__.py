"""Retrieval: the cases most similar to a target, by the weighted mean of local similarities.

scoring     the similarity of a target to a vector
ranking     the order of scored vectors, and how a cap treats ties
policies    which of the ranked vectors are retrieved
index/      candidates for the nearest vectors, found without scoring every vector
retrieved   the retrieved set, and the evidence that reuse policies use
retriever   retrieve: for one target or for many
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
