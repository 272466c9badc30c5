"""Plugging: what plugins may add, how they are found, and how their faults are kept apart.

hookspecs   the hooks: all that a plugin can add
plugins     plugins found, loaded each in its own guard, and asked for what they add
guard       around a stranger's code: what it raises becomes one sentence that names it
policy      a named function with parameters, which a plugin may add
starters    working plugins to begin from, for `cbr plugins new`
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
