"""One function on many items, in processes of their own; one that dies takes no other along."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    jobs: int,
    lost: Callable[[Item], Result],
) -> Iterator[Result]:
    """`map(function, items)` in order, in `jobs` processes if more than one.

    Args:
        function: of a module, so that it can be sent to another process.
        items: what it is called with.
        jobs: how many processes; with 1 everything runs in this one.
        lost: gives the result for an item on which the process died.
    """
    if jobs == 1 or len(items) < 2:
        yield from map(function, items)
        return
    rest = list(items)
    while rest:
        for result in _until_broken(function, rest, min(jobs, len(rest))):
            rest = rest[1:]
            yield result
        if rest:  # some process died: this item is tried alone, and the others go on after it
            alone = list(_until_broken(function, rest[:1], 1))
            yield alone[0] if alone else lost(rest[0])
            rest = rest[1:]


def _until_broken(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[Result]:
    """The results in order, up to the first that was lost with its process."""
    # Spawned, not forked: the tree's table of terms and FLINT's state start out clean.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_leave_interrupts)
    try:
        futures: list[Future[Result]] = [pool.submit(function, item) for item in items]
        for future in futures:
            try:
                result = future.result()
            except BrokenProcessPool:
                return
            yield result
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C goes to the parent alone, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
