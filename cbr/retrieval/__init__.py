"""Retrieval: the cases most like a target, by the weighted mean of local similarities.

ranking     the order of vectors, the cap with its ties, and the policies that choose
exact       scoring what an index proposed, as the retrieved set is defined
index/      which vectors can be near, without looking at each
retriever   retrieve: for one target or for many
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
