"""Files: written whole or not at all, and read as bytes whatever they are compressed with.

atomic        a file takes its name when it is complete, and not before
compression   gzip, bzip2, xz and zstd, told by their first bytes
stamped       binary files that are checked before they are used
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
