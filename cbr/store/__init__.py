"""The store: cases in one SQLite file, from which everything else is derived.

schema          the tables, and the migrations of an older file to the current schema
connection      creating, recognising and opening the SQLite file of a casebase
columns         columns of cases converted to values for SQLite
records         case sources, and the records that they read from files
definitions     stored case types, combined with the functions of plugins
digest          an order-independent digest of a set of cases
casebase        Casebase: add cases, read them
sources         what came from one source, to replace it or find it twice
decisions       single decisions with situation, solution and outcome
arrays          a stage as arrays: each distinct feature vector once
array_reading   reads the cases of a stage into arrays
cache           the user's cache folder, its entries and their limit
shared_arrays   these arrays as memory-mapped files that processes share
exports         export of a casebase as tables, or as its source records
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
