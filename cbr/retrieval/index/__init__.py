"""Indices: which vectors can be among the nearest, without looking at each.

base          what an index is, how far it must look, and the scan that looks at everything
tree          the exact index: a tree over the features
tree_search   the search in it, as compiled code
embedding     vectors as points whose inner product is nearly their similarity
faiss         FAISS indices over these points
saved         an index in a file beside the casebase, used only while it fits the cases
kinds         the kinds of index that the engine brings, by name
quality       how much of the true retrieved set an index finds, and how long it takes
"""
