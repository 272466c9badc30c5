"""The command line ``cbr``: one module a command, on top of the engine.

entry     main: plugins loaded, the command run, its errors as one sentence
app       the application: its own commands, then those of plugins
options   arguments and options that several commands share
output    results on stdout (tables, or one JSON document), all else on stderr
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
