"""Worker processes on this machine, or on a Dask cluster.

Work is submitted in order and results are returned in order, so they do not depend on the number of
workers.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from cbr import compile_notice
from cbr.errors import BadValue, CbrError, NeedsPackage
from cbr.plugging.plugins import default_plugins, start_worker
from cbr.store import shared_arrays

#: The most processes on one machine: more would only use memory.
_MOST = 256
#: Seconds within which a Dask scheduler must answer.
_PATIENCE = 10.0

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def executor(workers: int = 1, dask: str = "") -> Iterator[Executor | None]:
    """An executor with this many worker processes; None for one worker: work in this process.

    `dask` is the address of a scheduler whose workers are used instead. Processes are spawned,
    because compiled code and FAISS do not survive a fork.
    """
    if workers > _MOST:
        raise BadValue(f"{workers:,} workers; at most {_MOST} make sense on one machine")
    if dask:
        with _dask_client(dask) as client:
            yield client.get_executor()
    elif workers > 1:
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(
            workers,
            mp_context=spawn,
            initializer=_begin,
            initargs=(default_plugins().files, compile_notice.tell is not None),
        )
        try:
            for _ in range(workers):
                pool.submit(_hello)  # so that they start now, while this process gets ready
            yield pool
        except BaseException:
            # Their results are no longer needed.
            children = multiprocessing.active_children()
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.terminate()
            raise
        pool.shutdown(wait=True)
    else:
        yield None


def _begin(files: Sequence[Path], noted: bool) -> None:
    """Initializer of a worker: it ignores interrupts, ends when its parent process ends, and keeps
    what plugins print out of the results."""
    sys.stdout = sys.stderr
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    if noted and multiprocessing.current_process().name.endswith("-1"):
        compile_notice.to_terminal()  # one of the workers is enough
    shared_arrays.share()
    start_worker(files)


def _end_with(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def _hello() -> None:
    """Import in advance what most work needs and takes long to import."""
    import numba  # noqa: F401


def _dask_client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise NeedsPackage("--dask", "distributed") from None
    try:
        return Client(address, timeout=_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise CbrError(f"no Dask scheduler answers at {address}: {error}") from None


def in_order(
    pool: Executor | None, work: Callable[[T], R], items: Iterable[T], ahead: int = 4
) -> Generator[R, None, None]:
    """The results of `work` on each item, in order; at most `ahead` items are pending at a time."""
    if pool is None:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenExecutor:
        raise CbrError("a worker process ended unexpectedly; run it again to go on") from None
