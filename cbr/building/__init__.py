"""Building: from files to a casebase, batch by batch, in as many processes as there are.

archives        the files, folders and archives that a build is given, as one list
scan            these files, cut into batches of records
worker          a batch, prepared in a worker: records parsed and turned into rows
rows            from records to rows: situations, features and checks
tables          the case source that the engine brings: CSV and TSV, one row a case
append          rows written into a casebase, new records only
pipeline        build: batches given out, and appended in order
recomputation   rebuild: features computed again, from the records that a casebase keeps
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
