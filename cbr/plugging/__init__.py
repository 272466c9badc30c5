"""Plugins: the hooks they implement, how they are loaded, and how their failures are isolated.

hookspecs   the hooks: everything that a plugin can add
plugins     finding and loading plugins, and collecting what they add
guard       a guard around plugin code: an exception becomes one sentence that names the plugin part
policy      policies: named functions with parameters that a plugin may add
starters    working plugins to start from, for `cbr plugins new`
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
