"""Files: written atomically, read through any compression, and checked before use.

atomic        atomic writing: a file appears under its name only when it is complete
compression   reading gzip, bzip2, xz and zstd, recognised by their first bytes
json_text     the one reader of JSON, with limits on length and depth
stamped       binary files with checksums that are verified before use
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
