"""What was seen of opponents: counted at the table, and kept between matches (`--remember`).

counting   finished hands counted in compiled code, as one seat or a spectator saw them
memory     OpponentMemory: counts, profiles and shown cards of opponents by name
files      a SQLite file of them, to which several processes may add
commands   `cbr opponents`, which shows such a file
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
