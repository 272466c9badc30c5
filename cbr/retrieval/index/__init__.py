"""Indices: candidates for the nearest vectors, found without scoring every vector.

base          the interface of an index, its reach, and the scan over all vectors
tree          the exact index: a tree over the features
tree_search   the search in this tree, as compiled code
embedding     vectors as points whose inner product approximates the similarity
faiss         FAISS indices over these points
saved         indices saved beside the casebase, used only while they match the cases
kinds         the engine's kinds of index, by name
quality       recall and query time of an index, against the true retrieved set
"""
