"""Compiled code: numba's `njit` with a cache that cannot be stale.

numba keeps what it compiled in a file beside the function's module, and compiles again when that
module changes. It does not notice when a function of another module that was compiled into it
changes, nor when an imported constant does, and would go on running the old code. Here the key is a
digest of all that the compiled code was made from: the function's own module, the modules of every
compiled function that it reaches, and the values of the constants that these read. An edit anywhere
else compiles nothing again. Entries of functions that are gone, and of older code, are removed when
something new is written. Where several processes need a function, one compiles it and the others
wait for its entry: eight workers on a new machine compile no more than one.

    from cbr.jit import njit

    @njit
    def total(values): ...

numba counts references to an array each time it is taken out of a tuple, which in small functions
that are given tuples of arrays takes most of the time. A function that makes no array itself needs
none of this: `@njit(allocates=False)` leaves it out, and numba refuses to compile the function if
it does make one. Arrays that it is given live until it returns, since its caller holds them.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import os
import time
import types
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, overload

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.options import DefaultOptions

from cbr import compile_notice

try:
    import fcntl
except ImportError:  # Windows: every process compiles for itself
    fcntl = None  # type: ignore[assignment]

#: Seconds to wait for another process that compiles a function, before compiling it here too: it
#: may have been stopped.
PATIENCE = 120.0
#: File names (without suffix) of the cache entries that belong to a module's present functions.
_entries: dict[Path, set[str]] = {}


Function = Callable[..., Any]


@overload
def njit(function: Function, *, allocates: bool = ..., **options: Any) -> Function: ...
@overload
def njit(*, allocates: bool = ..., **options: Any) -> Callable[[Function], Function]: ...
def njit(function: Any = None, *, allocates: bool = True, **options: Any) -> Any:
    """`numba.njit` with the cache and `allocates` described above; `options` are numba's."""
    if function is None:
        return lambda decorated: njit(decorated, allocates=allocates, **options)
    if not allocates and hasattr(DefaultOptions, "_nrt"):  # it only makes code faster
        options["_nrt"] = False
    # Nobody passes a compiled function on as a C function, for which numba would compile another
    # entry.
    compile_: Any = numba.njit  # whose types do not know this option
    compiled = compile_(no_cfunc_wrapper=True, **options)(function)
    _source(function)  # the digest of the module as it was imported, whatever is written later
    if not isinstance(compiled, Dispatcher):  # numba is disabled (NUMBA_DISABLE_JIT=1)
        # Compiled integers wrap around without a warning, as hashes want it.
        return np.errstate(all="ignore")(compiled)
    _compile_once(compiled, _Cache(function))
    return compiled


def _compile_once(compiled: Any, cache: _Cache) -> None:
    """Give a function its cache, whose lock is released however its compiling ends.

    It is compiled for types alone: numba would compile it again for each constant (0, 1, 2) that
    another compiled function calls it with.
    """
    compile_it = compiled.compile

    def compile_or_load(signature: Any) -> Any:
        cache.users += 1
        _notice.calls += 1
        try:
            with _without_collector():
                return compile_it(tuple(map(numba.types.unliteral, signature)))
        finally:
            cache.users -= 1
            cache.unlock()
            _notice.calls -= 1
            _notice.end()

    vars(compiled).update(_cache=cache, compile=compile_or_load)


class _Notice:
    """Tells `compile_notice` that compiling begins, once for a function and all that it calls."""

    calls = 0
    _ended: Callable[[], None] | None = None

    def begin(self) -> None:
        if self._ended is None and compile_notice.tell is not None:
            self._ended = compile_notice.tell()

    def end(self) -> None:
        if self._ended is not None and not self.calls:
            self._ended()
            self._ended = None


_notice = _Notice()


@contextmanager
def _without_collector() -> Iterator[None]:
    """Do not look for garbage meanwhile: compiling makes so many objects that are still in use that
    looking at them again and again costs a twentieth of its time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def digest_of(function: Callable[..., Any]) -> str:
    """A digest of everything that the compiled form of a Python function depends on."""
    reached, waiting = {function}, [function]
    parts: set[str] = set()
    while waiting:
        own, callees = _made_from(waiting.pop())
        parts |= own
        waiting += callees - reached
        reached |= callees
    return _digest("\n".join(sorted(parts)).encode())


@cache
def _made_from(function: Any) -> tuple[frozenset[str], frozenset[Any]]:
    """What one function is made from, and the Python functions of the compiled ones it calls."""
    parts = {f"{function.__module__}.{function.__qualname__} {_source(function)}"}
    callees = set()
    for name, value in _read_by(function):
        if isinstance(value, Dispatcher):
            callees.add(value.py_func)
        else:
            parts.add(f"{function.__module__}.{name} {_constant(value)}")
    return frozenset(parts), frozenset(callees)


def _read_by(function: Any) -> Iterator[tuple[str, Any]]:
    """Globals, variables of an enclosing function, and attributes of modules that are read."""
    names = set(_names(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, types.ModuleType):
            for attribute in names & vars(value).keys():
                yield f"{name}.{attribute}", vars(value)[attribute]
        else:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _constant(value: Any) -> str:
    """A text that differs where compiled code would."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{_array_digest(_Same(value))}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({','.join(map(_constant, value))})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, types.FunctionType):
        return f"{value.__module__}.{value.__qualname__} {_source(value)}"
    if isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        return f"{type(value).__name__} {value!r}"
    return f"{type(value).__module__}.{type(value).__qualname__}"


class _Same:
    """An array as a key: the same only as itself."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __hash__(self) -> int:
        return id(self.array)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.array is other.array


@cache
def _array_digest(key: _Same) -> str:
    return _digest(np.ascontiguousarray(key.array).tobytes())


def _source(function: Any) -> str:
    """A digest of the module that a function stands in, or of its code where there is no file."""
    try:
        return _file_digest(inspect.getfile(function))
    except (OSError, TypeError):
        return _digest(function.__code__.co_code + repr(function.__code__.co_consts).encode())


@cache
def _file_digest(path: str) -> str:
    return _digest(Path(path).read_bytes())


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class _Entry(CompileResultCacheImpl):
    """A cache entry named by its function alone, so that a moved function replaces its own."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        name: str = super().get_filename_base(fullname, abiflags)
        return name.replace(f"-{self.locator.get_disambiguator()}.py", ".py")


class _Cache(FunctionCache):
    """numba's cache of one function, stamped with `digest_of` in place of its module's digest."""

    _impl_class = _Entry

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._folder = Path(self._impl.locator.get_cache_path())
        self._module = self._folder / Path(inspect.getfile(function)).stem
        _entries.setdefault(self._module, set()).add(self._impl.filename_base)
        self._stamped = False
        self._locked = False
        self.users = 0

    def _stamp(self) -> None:
        """Done at the first call and not before: now all that the function reaches is there."""
        if not self._stamped:
            self._cache_file._source_stamp = digest_of(self._py_func)
            self._stamped = True

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._read(sig, target_context)
        if found is None and self._lock():
            found = self._read(sig, target_context)  # another process may have written it
        if found is None:
            _notice.begin()
        return found

    def _read(self, sig: Any, target_context: Any) -> Any:
        self._stamp()
        try:
            return super()._load_overload(sig, target_context)
        except Exception:  # damaged, or of a type that is no longer there
            self._discard()
            return None

    def _lock(self) -> bool:
        """Lock this function against other processes; False if it is locked by this one already,
        or cannot be. Callers are locked before what they call, so nobody waits in a circle."""
        file = None if self._locked else _lock_file(self._folder)
        end = time.monotonic() + PATIENCE
        while file is not None and time.monotonic() < end:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._lock_byte)
            except (BlockingIOError, PermissionError):
                time.sleep(0.02)
            except OSError:  # a file system without locks
                break
            else:
                self._locked = True
                return True
        return False

    def unlock(self) -> None:
        """Release the lock, unless the function is still being compiled for other types."""
        file = _lock_file(self._folder) if self._locked and not self.users else None
        if file is not None:
            self._locked = False
            fcntl.lockf(file, fcntl.LOCK_UN, 1, self._lock_byte)

    @property
    def _lock_byte(self) -> int:
        return zlib.crc32(self._impl.filename_base.encode())

    def _save_overload(self, sig: Any, data: Any) -> None:
        self._stamp()
        self._remove_old()
        super()._save_overload(sig, data)

    def _remove_old(self) -> None:
        """Remove compiled code of older versions of this function, and of functions that are gone.
        A function inside another one is known only once that has run, so those entries stay."""
        try:
            known = self._cache_file._load_index()
        except Exception:  # as above
            known = None
        if not known:
            self._discard()
        for index in self._folder.glob(f"{self._module.name}.*.nbi"):
            if index.stem not in _entries[self._module] and "locals" not in index.stem:
                _unlink([index, *self._folder.glob(f"{index.stem}.*.nbc")])

    def _discard(self) -> None:
        base = self._impl.filename_base
        _unlink([self._folder / f"{base}.nbi", *self._folder.glob(f"{base}.*.nbc")])


@cache
def _lock_file(folder: Path) -> int | None:
    """A file of which each function of a folder locks one byte. It stays open: closing it would
    release all locks of this process."""
    if fcntl is None:
        return None
    try:
        return os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # a folder that cannot be written
        return None


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
