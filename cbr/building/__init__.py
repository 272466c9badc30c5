"""Building: a casebase from files, batch by batch, in one or several processes.

archives        files, folders and archives as one list of files to read
scan            these files, divided into batches of records
worker          the preparation of a batch in a worker: parse records, compute rows
rows            from records to rows: situations, features and checks
tables          the engine's own case source: CSV and TSV files, one case per row
append          appending new records and their rows to a casebase
pipeline        build: batches distributed to workers, and appended in order
recomputation   rebuild: features computed again from the stored records
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
