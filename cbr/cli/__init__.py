"""The command line ``cbr``.

entry      main: loads the plugins, runs the command, turns errors into one sentence
app        the application with its commands, then those of plugins
commands   one module a command
options    arguments and options that several commands share
answer     how the answer of a query is shown
output     results on stdout (tables, or one JSON document), the rest on stderr
long_work  what a long command tells while it works
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
