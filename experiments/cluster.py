"""Tasks on the workers of a dask scheduler, recorded where the study was started.

A study travels by the name of its function, a task by its parameters: every worker must have the
same sources and libraries as here, and is asked, since outcomes are kept under these versions.

The client is used directly, and not as a backend of joblib: joblib (1.6) waits for ever for a task
that fails before or after its own code, as where a worker dies or lacks a module.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import logging
import queue
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from experiments.record import versions
from experiments.study import Outcome, Study, Task, timed

if TYPE_CHECKING:
    from distributed import Client, Future

ANSWER = 10.0  # seconds in which a scheduler answers
PATIENCE = 30.0  # seconds without any worker
LOOK = 2.0  # seconds without an outcome after which somebody looks whether there are workers


class WorkerError(Exception):
    """No scheduler, no worker, or a worker that can't do the tasks."""


def outcomes_on(
    address: str,
    study: Study,
    tasks: Sequence[Task],
    chosen: Sequence[int],
    *,
    patience: float = PATIENCE,
) -> Iterator[tuple[int, Outcome]]:
    """Places and outcomes of the chosen tasks, as workers finish them.

    Args:
        address: of the scheduler, like ``tcp://127.0.0.1:8786``.
        study: its `run` is a function of a module.
        tasks: all of them.
        chosen: places of those to be done.
        patience: seconds without any worker, at the most.

    Raises:
        WorkerError: no scheduler, no worker, or a worker that can't do the tasks.
    """
    with _client(address, patience) as client:
        here = versions()
        _ask_workers(client, address, here, patience)
        place = f"{study.run.__module__}:{study.run.__qualname__}"
        futures = client.map(
            done, [tasks[k] for k in chosen], place=place, found=here, pure=False,
            key=[f"{study.name}-{k}-{time.time_ns():x}" for k in chosen],
        )  # fmt: skip
        pending = dict(zip(futures, chosen, strict=True))
        ready: queue.SimpleQueue[Future] = queue.SimpleQueue()
        for future in futures:
            future.add_done_callback(ready.put)
        del futures  # a worker keeps an outcome for as long as somebody refers to it
        alone_since = None
        while pending:
            try:
                future = ready.get(timeout=min(LOOK, patience))
            except queue.Empty:
                alone_since = _alone(client, address, alone_since, patience)
                continue
            alone_since = None
            k = pending.pop(future)
            yield k, _result(future, tasks[k], address)


def done(task: Task, place: str, found: Mapping[str, str]) -> Outcome:
    """On a worker: one task's outcome, if sources and libraries are those of the driver.

    Args:
        task: the task.
        place: of the function, ``module:name``.
        found: versions at the driver's.

    Raises:
        WorkerError: they are others.
    """
    other = difference(own_versions(), found)
    if other:
        raise WorkerError(other)
    module, _, name = place.partition(":")
    return timed(functools.reduce(getattr, name.split("."), importlib.import_module(module)), task)


@functools.cache
def own_versions() -> dict[str, str]:
    """The `versions` when this process first asked, of which it has its code."""
    return versions()


def difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """How versions of a worker differ from the driver's; empty if they don't."""
    parts = [
        f"{name} {there.get(name, 'absent')} in place of {version}"
        for name, version in here.items()
        if there.get(name) != version
    ]
    return ", ".join(parts)


@contextlib.contextmanager
def _client(address: str, patience: float) -> Iterator[Client]:
    try:
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    except ImportError as problem:
        raise WorkerError(
            "--scheduler needs the package distributed; install the extra `cluster`"
        ) from problem
    try:
        resolve_address(address)  # a client of what is no address would wait for it at its end
        client = Client(address, timeout=min(ANSWER, patience), set_as_default=False)
    except (OSError, ValueError) as problem:  # a timeout is an OSError
        raise WorkerError(
            f"no dask scheduler answers at {address} ({problem}); start one by `dask scheduler`, "
            "which says its address"
        ) from problem
    # What the library logs when a scheduler goes is said by our own error.
    log = logging.getLogger("distributed.client")
    level = log.level
    try:
        log.setLevel(logging.CRITICAL)
        with client:
            yield client
    finally:
        log.setLevel(level)


def _ask_workers(client: Client, address: str, here: Mapping[str, str], patience: float) -> None:
    """Whether they can do our tasks, before any is sent."""

    # Defined here so that it travels as code: a worker without our package can still answer.
    def look() -> Any:
        try:
            from experiments.cluster import own_versions
        except ImportError as problem:
            return f"{problem}"
        return own_versions()

    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError as problem:
        raise WorkerError(_no_worker(address, patience)) from problem
    answers: Any = client.run(look, on_error="return")
    for worker, there in answers.items():
        if isinstance(there, Exception | str):
            raise WorkerError(
                f"worker {worker} can't load the studies ({there}); install the same sources there"
            )
        other = difference(there, here)
        if other:
            raise WorkerError(_unlike(worker, other))


def _alone(client: Client, address: str, since: float | None, patience: float) -> float | None:
    """Since when there is no worker; an error if that is too long ago."""
    now = time.monotonic()
    if client.status == "running" and client.nthreads():
        return None
    if since is not None and now - since > patience:
        raise WorkerError(_no_worker(address, patience))
    return now if since is None else since


def _result(future: Future, task: Task, address: str) -> Outcome:
    from distributed import KilledWorker

    if future.cancelled():
        raise WorkerError(f"the scheduler at {address} is gone; finished tasks are kept")
    try:
        return future.result()
    except KilledWorker as problem:
        raise WorkerError(
            f"task {task.name!r}: each worker that had it died, as one does when its memory is "
            "used up; finished tasks are kept"
        ) from problem
    except WorkerError as problem:  # of a worker that came later
        raise WorkerError(_unlike("that came later", str(problem))) from problem
    except ImportError as problem:
        raise WorkerError(
            f"task {task.name!r}: a worker can't load the study ({problem}); install the same "
            "sources there"
        ) from problem


def _no_worker(address: str, patience: float) -> str:
    return (
        f"no worker at {address} for {patience:g} s; start some by `dask worker {address}`, with "
        "the same sources installed; finished tasks are kept"
    )


def _unlike(worker: str, other: str) -> str:
    return (
        f"worker {worker}: {other}; install the same there, and restart it if it runs since before "
        "the last change"
    )
