"""The store: cases in one SQLite file, the truth that everything else is made from.

schema          the tables, and the steps by which an older file becomes a current one
connection      how a casebase's file is made, recognised and connected to
columns         columns of cases as SQLite gets them
records         what a case source reads from a file, before cases are made of it
definitions     case types as a casebase keeps them, joined with the functions of plugins
digest          one number for a set of cases, whatever the order they came in
casebase        Casebase: add cases, read them
decisions       one decision with its situation, solution and outcome
arrays          a stage as arrays: each distinct feature vector once
shared_arrays   these arrays as files that several processes map
exports         a casebase handed on, as tables or as the records it came from
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
