"""Finding and loading plugins, each in its own guard, and collecting what they add.

A plugin is a module. It implements hooks of `hookspecs` (functions marked ``@cbr.hook``), or
simply holds functions marked ``@cbr.similarity``, ``@cbr.feature``, ``@cbr.retrieval_policy`` or
``@cbr.reuse_policy``. It is found through the entry-point group ``cbr``, in the folder
``CBR_PLUGINS_DIR``, or by ``--plugin FILE.py``. ``CBR_LOAD_PLUGINS=a,b`` limits the first two.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from cbr.errors import CbrError, NameClash, NoSuchName, PluginFailure
from cbr.marks import BadMark, marked
from cbr.plugging import hookspecs
from cbr.plugging.guard import guarded, one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The name of this distribution, and the origin of its plugins.
OURS = "cbr-engine"
#: Kind of registered object -> the hook that returns it.
KINDS = {
    "feature": "cbr_features",
    "case type": "cbr_case_types",
    "case source": "cbr_case_sources",
    "similarity": "cbr_similarities",
    "retrieval policy": "cbr_retrieval_policies",
    "reuse policy": "cbr_reuse_policies",
    "index": "cbr_indices",
    "weight set": "cbr_weights",
    "arena": "cbr_arenas",
    "plan": "cbr_plans",
}


def hook_of(kind: str) -> str:
    """The hook that returns objects of a kind; the hook of a plugin's own kind is named after it.

    >>> hook_of("similarity"), hook_of("bot")
    ('cbr_similarities', 'cbr_bots')
    """
    return KINDS.get(kind, f"cbr_{kind.replace(' ', '_')}s")


@dataclass
class Plugin:
    """One plugin and its problems, if any. `origin` is a distribution, or the path of a file."""

    name: str
    origin: str
    version: str = ""
    hooks: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    loaded: bool = False

    @property
    def status(self) -> str:
        if not self.loaded:
            return "left out"
        return "warning" if self.problems else "ok"

    def __str__(self) -> str:
        return f"{self.name} ({self.origin} {self.version})".replace(" )", ")")


class Plugins:
    """The loaded plugins of one process. `load` loads them; `get` and `named` look up objects."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager("cbr")
        self.manager.add_hookspecs(hookspecs)
        self.plugins: list[Plugin] = []
        self.files: list[Path] = []
        #: Kinds of objects that can be registered: those of the engine, and those of plugins.
        self.kinds = list(KINDS)
        self._registered: dict[str, dict[str, tuple[Plugin, Any]]] = {}
        self._by_object: dict[int, Plugin] = {}

    def load(self, files: Sequence[str | Path] = ()) -> Plugins:
        """Load the engine's own parts, then entry points, the plugins folder, and `files`."""
        engine = Plugin("engine", OURS, _own_version())
        self._guarded(engine, lambda: importlib.import_module("cbr.builtin"))
        wanted = os.environ.get("CBR_LOAD_PLUGINS")
        limit = None if wanted is None else {name.strip() for name in wanted.split(",") if name}
        found = list(self._entry_points(limit)) + list(self._folder(limit))
        for name in sorted((limit or set()) - {plugin.name for plugin, _ in found}):
            unknown = Plugin(name, "CBR_LOAD_PLUGINS")
            unknown.problems.append("there is no plugin of this name")
            self.plugins.append(unknown)
        self.files = [Path(path).absolute() for path in files]
        found += [self._file(Path(path)) for path in files]
        for plugin, load in found:
            self._guarded(plugin, load)
        self._report_unknown_hooks()
        return self

    def add(self, module: Any, name: str) -> Plugin:
        """Add an imported module (or any object with hooks and marked functions)."""
        plugin = Plugin(name, "added in Python")
        self._guarded(plugin, lambda: module)
        self._registered.clear()
        self._report_unknown_hooks()
        return plugin

    # --- finding ------------------------------------------------------------------------------

    def _entry_points(self, limit: set[str] | None) -> Iterator[tuple[Plugin, Callable[[], Any]]]:
        for point, origin, version in _installed():
            if limit is None or point.name in limit:
                yield Plugin(point.name, origin, version), point.load

    def _folder(self, limit: set[str] | None) -> Iterator[tuple[Plugin, Callable[[], Any]]]:
        folder = os.environ.get("CBR_PLUGINS_DIR")
        if not folder:
            return
        if not Path(folder).is_dir():
            missing = Plugin("CBR_PLUGINS_DIR", folder)
            missing.problems.append(f"CBR_PLUGINS_DIR names {folder}, which is no folder")
            self.plugins.append(missing)
            return
        for path in sorted(Path(folder).glob("*.py")):
            # The test of a starter is in the same folder and is not a plugin.
            if not path.name.startswith(("_", "test_")) and (limit is None or path.stem in limit):
                yield self._file(path)

    def _file(self, path: Path) -> tuple[Plugin, Callable[[], Any]]:
        return Plugin(path.stem, str(path)), lambda: _import_file(path)

    # --- loading ------------------------------------------------------------------------------

    def _guarded(self, plugin: Plugin, load: Callable[[], Any]) -> None:
        """Import and register one plugin; a failure becomes a problem of this plugin only."""
        same = next((p for p in self.plugins if p.name == plugin.name and p.loaded), None)
        if same is not None:
            if Path(same.origin).resolve() == Path(plugin.origin).resolve() and not plugin.version:
                return  # the same file, named twice
            plugin.problems.append(f"the name {plugin.name!r} is taken by {same}")
            self.plugins.append(plugin)
            return
        self.plugins.append(plugin)
        try:
            # What a plugin prints while it is imported must not mix with a command's output.
            with contextlib.redirect_stdout(sys.stderr):
                module = load()
                self._register(plugin, module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            plugin.problems.append(one_line(error))

    def _register(self, plugin: Plugin, module: Any) -> None:
        for one in (module, _hooks_of_marked(module)):
            if one is None:
                continue
            self._by_object[id(one)] = plugin
            try:
                self.manager.register(one, name=f"{plugin.origin}:{plugin.name}:{id(one)}")
            except BaseException:
                if self.manager.is_registered(one):
                    self.manager.unregister(one)
                raise
            plugin.hooks += [c.name for c in self.manager.get_hookcallers(one) or []]
        plugin.loaded = True
        plugin.problems += _badly_marked(module) + _unmarked(module, dir(hookspecs))
        for impl in self.manager.hook.cbr_add_hooks.get_hookimpls():
            if impl.plugin is module:
                kinds: Any = impl.function(self.manager)
                self.kinds += kinds or ()

    def _report_unknown_hooks(self) -> None:
        """Report every hook without a spec; pluggy's `check_pending` stops at the first."""
        known = [name for name in vars(self.manager.hook) if not name.startswith("_")]
        known = [name for name in known if getattr(self.manager.hook, name).has_spec()]
        for module in self.manager.get_plugins():
            plugin = self._by_object.get(id(module)) or self._stranger(module)
            for caller in self.manager.get_hookcallers(module) or []:
                optional = any(i.optionalhook for i in caller.get_hookimpls() if i.plugin is module)
                if not caller.has_spec() and not optional and caller.name in plugin.hooks:
                    plugin.hooks.remove(caller.name)
                    plugin.problems.append(str(NoSuchName("hook", caller.name, sorted(known))))

    # --- look-up ------------------------------------------------------------------------------

    @property
    def problems(self) -> list[str]:
        """One line for each thing that is wrong with a plugin."""
        return [
            f"plugin {plugin}: {problem}" for plugin in self.plugins for problem in plugin.problems
        ]

    def named(self, kind: str) -> dict[str, Any]:
        """All objects of a kind, by name; raises `NameClash` if two plugins use one name."""
        return {name: thing for name, (_, thing) in self._all(kind).items()}

    def get(self, kind: str, name: str) -> Any:
        """The object of that kind and name."""
        return self._one(kind, name)[1]

    def is_ours(self, kind: str, name: str) -> bool:
        """Whether the object of that kind and name comes with this distribution."""
        return self._one(kind, name)[0].origin == OURS

    def _one(self, kind: str, name: str) -> tuple[Plugin, Any]:
        things = self._all(kind)
        if name not in things:
            raise NoSuchName(kind, name, sorted(things))
        return things[name]

    def _all(self, kind: str) -> dict[str, tuple[Plugin, Any]]:
        if kind not in self._registered:
            found: dict[str, tuple[Plugin, Any]] = {}
            for plugin, thing in self.given(kind):
                name = thing.name
                if name in found:
                    raise NameClash(
                        f"{kind} {name!r} is registered by two plugins, {found[name][0]} and "
                        f"{plugin}; rename one, or leave one out with CBR_LOAD_PLUGINS"
                    )
                found[name] = (plugin, thing)
            self._registered[kind] = found
        return self._registered[kind]

    def given(self, kind: str) -> Iterator[tuple[Plugin, Any]]:
        """The objects that each plugin's hook returns, plugins in the order of loading."""
        for plugin, given in self.call(hook_of(kind)):
            try:
                with guarded(hook_of(kind)):
                    things = [marked(thing, thing) for thing in given or ()]
                    for thing in things:
                        _verify_is(thing, kind)
            except PluginFailure as error:
                self.blame(plugin, str(error))
                continue
            yield from ((plugin, thing) for thing in things)

    def call(self, hook: str, **arguments: Any) -> Iterator[tuple[Plugin, Any]]:
        """Call a hook plugin by plugin, so that a plugin that raises does not stop the others."""
        for impl in getattr(self.manager.hook, hook).get_hookimpls():
            plugin = self._by_object.get(id(impl.plugin)) or self._stranger(impl.plugin)
            try:
                with guarded(hook), contextlib.redirect_stdout(sys.stderr):
                    given = impl.function(*(arguments[name] for name in impl.argnames))
            except CbrError as error:
                self.blame(plugin, str(error))
            else:
                yield plugin, given

    def _stranger(self, module: Any) -> Plugin:
        """The entry of a plugin that was registered with pluggy directly."""
        plugin = Plugin(getattr(module, "__name__", type(module).__name__), "registered by hand")
        plugin.loaded = True
        self.plugins.append(plugin)
        self._by_object[id(module)] = plugin
        return plugin

    def blame(self, plugin: Plugin, problem: str) -> None:
        """Add a problem of a plugin, once."""
        if problem not in plugin.problems:
            plugin.problems.append(problem)

    def registered_by(self, plugin: Plugin) -> dict[str, list[str]]:
        """Names that a plugin registered, by kind; clashes included."""
        names: dict[str, list[str]] = {}
        for kind in self.kinds:
            mine = [thing.name for owner, thing in self.given(kind) if owner is plugin]
            if mine:
                names[kind] = sorted(mine)
        return names

    def clashes(self) -> list[str]:
        """A sentence for each kind in which two plugins use one name."""
        found = []
        for kind in self.kinds:
            try:
                self._all(kind)
            except NameClash as error:
                found.append(str(error))
        return found


_default: Plugins | None = None


def default_plugins() -> Plugins:
    """The plugins of this process, loaded at the first call."""
    global _default
    if _default is None:
        _default = Plugins().load()
    return _default


def start_worker(files: Sequence[str | Path]) -> None:
    """Initializer of a worker process: load the same plugins as the process that started it.

    ``ProcessPoolExecutor(initializer=start_worker, initargs=(default_plugins().files,))``
    """
    use_plugins(Plugins().load(files))


def plugins_with(files: Sequence[str]) -> Plugins:
    """The plugins of this process, loaded again if their files are not these. For workers that were
    not started for this work, as on a cluster."""
    plugins = default_plugins()
    if [str(path) for path in plugins.files] != list(files):
        plugins = use_plugins(Plugins().load(files))
    return plugins


def use_plugins(plugins: Plugins) -> Plugins:
    """Make these the plugins of this process."""
    global _default
    _default = plugins
    return plugins


@cache
def _own_version() -> str:
    from importlib.metadata import version

    return version(OURS)


@cache
def _installed() -> list[tuple[EntryPoint, str, str]]:
    """Entry points of the group `cbr`, with the name and version of their distributions. They are
    looked up once, because reading the metadata of every distribution is slow."""
    from importlib.metadata import entry_points

    found = []
    for point in sorted(entry_points(group="cbr"), key=lambda point: point.name):
        origin, version = (point.dist.name, point.dist.version) if point.dist else ("unknown", "")
        found.append((point, origin, version))
    return found


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginFailure(f"there is no file {path}")
    # The path is part of the name, so that two files of one name do not clash in sys.modules.
    mark = hashlib.blake2b(str(path.resolve()).encode(), digest_size=4).hexdigest()
    name = f"cbr_file_{path.stem}_{mark}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginFailure(f"{path} is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _verify_is(thing: Any, kind: str) -> None:
    if getattr(thing, "kind", None) != kind or not isinstance(getattr(thing, "name", None), str):
        raise PluginFailure(f"{hook_of(kind)} gave {thing!r}, which is no {kind}")


def _hooks_of_marked(module: Any) -> ModuleType | None:
    """Hook implementations that return a module's marked functions; None if it has none."""
    by_hook: dict[str, list[Any]] = {}
    for thing in vars(module).values():
        extension = getattr(thing, "__cbr__", None)
        if isinstance(extension, BadMark):
            continue  # reported by `_badly_marked`
        if extension is not None and _is_of(thing, module):
            by_hook.setdefault(hook_of(extension.kind), []).append(extension)
    # A module that implements the hook itself decides what it returns.
    givers = {n: _giver(things) for n, things in by_hook.items() if not hasattr(module, n)}
    if not givers:
        return None
    holder = ModuleType(f"{module.__name__}.marked")
    vars(holder).update(givers)
    return holder


def _badly_marked(module: Any) -> list[str]:
    """A problem for each function whose mark could not be made; the others are not affected."""
    things = {name: getattr(thing, "__cbr__", None) for name, thing in vars(module).items()}
    return [f"{name}: {bad.error}" for name, bad in things.items() if isinstance(bad, BadMark)]


def _is_of(thing: Any, module: Any) -> bool:
    """Whether a function is defined in this module, or inside this package."""
    inside = hasattr(module, "__path__") and thing.__module__.startswith(module.__name__ + ".")
    return bool(inside or thing.__module__ == module.__name__)


def _giver(things: list[Any]) -> Callable[[], list[Any]]:
    def give() -> list[Any]:
        return things

    return hookspecs.hook(give)


def _unmarked(module: Any, hooks: Iterable[str]) -> list[str]:
    """A problem for each function that has the name of a hook but is not marked as one."""
    return [
        f"{name} is not marked; write @cbr.hook above it"
        for name in hooks
        if name.startswith("cbr_")
        and callable(getattr(module, name, None))
        and not hasattr(getattr(module, name), "cbr_impl")
    ]
