"""Spreading the rows of a generation: in this process, over processes, or over any executor."""

from __future__ import annotations

import bisect
import contextlib
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._simulators import MUST_GIVE, Answer, pieces

#: Places in the list of rows, their summaries, and which of them failed, why.
Finished: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], list[tuple[int, str]]]"

#: Seconds that a chunk should take: of this process, of another one.
_HERE, _THERE = 0.2, 0.5
#: Rows of the first chunk, when nobody knows what a row costs, and of the largest.
_FIRST, _LARGEST = 4, 65_536
#: Seconds after which the engine is told that time passes.
_TICK = 0.1
#: How often a chunk is sent before it is given up.
_ATTEMPTS = 3
#: Seconds between two looks of a worker for its coordinator.
_WATCH = 0.25


class Chunks:
    """Cuts the rows of a generation into chunks by what a row has cost so far."""

    def __init__(self, simulator: Any, seconds: float) -> None:
        self.simulator, self.seconds = simulator, seconds
        self.cost: float | None = None
        self.size = _FIRST
        # Why the first row was not what was observed, while no row was.
        self.unlike: str | None = None
        self.is_new = True

    def begin(
        self, thetas: NDArray[np.float64], seeds: NDArray[np.int64], rows: NDArray[np.int64], generation: int
    ) -> None:
        """Take the rows of a generation."""
        self.thetas, self.seeds, self.rows, self.generation = thetas, seeds, rows, generation
        self.cuts = pieces(rows, self.simulator.unit)
        self.at = 0

    def left(self) -> int:
        """Rows that nobody has taken yet."""
        return len(self.rows) - self.at

    def take(self, share: int) -> tuple[int, int] | None:
        """Take the next chunk: at most one part in `share` of what is left, unless rows belong together."""
        if self.at == len(self.rows):
            return None
        most = self.at + max(1, min(self.size, -(-self.left() // share)))
        place = bisect.bisect_right(self.cuts, most) - 1
        end = self.cuts[place] if place >= 0 and self.cuts[place] > self.at else self.cuts[place + 1]
        start, self.at = self.at, end
        return start, end

    def arguments(self, start: int, end: int) -> tuple[Any, ...]:
        """What a simulator is called with."""
        part = slice(start, end)
        return self.thetas[part], self.seeds[part], self.rows[part], self.generation

    def look(self, rows: int, failures: list[tuple[int, str]]) -> None:
        """Take note of results that cannot be compared with what was observed."""
        if self.is_new or self.unlike is not None:
            reasons = [why for _, why in failures if f": {MUST_GIVE}" in why.partition("\n")[0]]
            self.unlike = reasons[0] if len(reasons) == rows else None
            self.is_new = False

    def learn(self, rows: int, seconds: float) -> None:
        """Take note of what some rows have cost."""
        cost = max(seconds, 1e-7) / rows
        self.cost = cost if self.cost is None else 0.5 * (self.cost + cost)
        self.size = int(min(max(1, self.seconds / self.cost), 4 * max(self.size, rows), _LARGEST))


class Here:
    """Simulates in this process, one chunk after another."""

    def __init__(self, simulator: Any) -> None:
        self.chunks = Chunks(simulator, _HERE)
        self.unit = simulator.unit

    def begin(self, *generation: Any) -> None:
        """Take the rows of a generation."""
        self.chunks.begin(*generation)
        self.stopped = False

    def stop(self) -> None:
        """Begin nothing more."""
        self.stopped = True

    def next(self) -> Finished | None:
        """Simulate a chunk."""
        taken = None if self.stopped else self.chunks.take(1)
        if taken is None:
            return None
        start, end = taken
        begun = time.perf_counter()
        summaries, failures = self.chunks.simulator(*self.chunks.arguments(start, end))
        self.chunks.learn(end - start, time.perf_counter() - begun)
        self.chunks.look(end - start, failures)
        return np.arange(start, end), summaries, failures


def timed(simulator: Any, *arguments: Any) -> tuple[Answer, float]:
    """Simulate, and tell how long it took: what an executor is given."""
    begun = time.perf_counter()
    return simulator(*arguments), time.perf_counter() - begun


class Spread:
    """Sends chunks to an executor and takes what comes back, whatever its order.

    A chunk that is lost is sent again: its seeds are its own, so its answer is the same. One that loses its worker is
    sent again alone, so that it is known who is to blame; if it loses that one as well it is cut into halves, until a
    single row is left, which is then a failure.
    """

    def __init__(self, simulator: Any, executor: Executor, workers: int | None = None) -> None:
        self.simulator, self.executor = simulator, executor
        self.workers = workers or _workers(executor)
        self.chunks = Chunks(simulator, _THERE)
        self.unit = simulator.unit
        self.columns = len(simulator.statistics)
        self.under_way: dict[Future[Any], tuple[int, int]] = {}

    def submit(self, arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a chunk."""
        return self.executor.submit(timed, self.simulator, *arguments)

    def renew(self) -> bool:
        """Replace a broken executor; whether that was possible."""
        return False

    def begin(self, *generation: Any) -> None:
        """Take the rows of a generation."""
        self.chunks.begin(*generation)
        self.under_way.clear()
        self.stopped = False
        # Chunks to be sent again, with how often they were; those that may be to blame for the end of a worker; and the
        # one of these that is under way, with nothing beside it.
        self.again: deque[tuple[int, int]] = deque()
        self.suspects: deque[tuple[int, int]] = deque()
        self.alone: tuple[int, int] | None = None
        self.attempts: dict[tuple[int, int], int] = {}
        self.given_up: list[Finished] = []

    def stop(self) -> None:
        """Begin nothing more; what is under way is waited for."""
        self.stopped = True
        for future in list(self.under_way):
            if future.cancel():
                del self.under_way[future]

    def next(self) -> Finished | None:
        """Give the next finished chunk, or none after a tick."""
        self._fill()
        if self.given_up:
            return self.given_up.pop()
        if not self.under_way:
            return None
        done, _ = wait(self.under_way, timeout=_TICK, return_when=FIRST_COMPLETED)
        for future in done:
            start, end = self.under_way.pop(future)
            was_alone = self.alone == (start, end)
            self.alone = None if was_alone else self.alone
            error = _error(future)
            if error is None:
                (summaries, failures), seconds = future.result()
                self.chunks.learn(end - start, seconds)
                self.chunks.look(end - start, failures)
                return np.arange(start, end), summaries, failures
            self._lost(start, end, error, was_alone)
        return np.arange(0), np.empty((0, self.columns)), []

    def _fill(self) -> None:
        while not self.stopped and self.alone is None:
            if self.suspects:
                if self.under_way:
                    return
                start, end = self.alone = self.suspects.popleft()
            elif len(self.under_way) >= 2 * self.workers:
                return
            elif self.again:
                start, end = self.again.popleft()
            else:
                taken = self.chunks.take(2 * self.workers)
                if taken is None:
                    return
                start, end = taken
            try:
                future = self.submit(self.chunks.arguments(start, end))
            except BrokenExecutor as error:
                if not self.renew():
                    raise _beyond_repair(error) from error
                future = self.submit(self.chunks.arguments(start, end))
            if not isinstance(future, Future):
                raise TypeError(f"`executor` must give futures of concurrent.futures, found {type(future).__name__}")
            self.under_way[future] = (start, end)

    def _lost(self, start: int, end: int, error: BaseException, was_alone: bool) -> None:
        died = isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"
        attempts = self.attempts[start, end] = self.attempts.get((start, end), 0) + 1
        if isinstance(error, BrokenExecutor):
            if self.stopped:
                return
            if not self.renew():
                raise _beyond_repair(error) from error
            if not was_alone:
                self.suspects.append((start, end))
                return
        elif attempts < _ATTEMPTS:
            if not self.stopped:
                self.again.append((start, end))
            return
        if not died:
            raise RuntimeError(f"a chunk failed {attempts} times on its workers: {error!r}") from error
        if end - start == 1:
            why = "the process that simulated it ended"
            self.given_up.append((np.arange(start, end), np.full((1, self.columns), np.nan), [(0, why)]))
            return
        # Rows of a batch belong together even so: a part of them may give other numbers, but the others are lost.
        middle = (start + end) // 2
        for half in ((start, middle), (middle, end)):
            self.attempts[half] = 1
            self.suspects.append(half)


def _beyond_repair(error: BaseException) -> RuntimeError:
    what = "`executor` has lost its workers and cannot be used any more"
    return RuntimeError(f"{what}: {error} (workers= in its place starts new processes and finds the row to blame)")


def _error(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return error


def _workers(executor: Executor) -> int:
    """How many chunks an executor works on at a time, as far as it tells."""
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "nthreads"):
        return max(1, int(sum(client.nthreads().values())))
    for name in ("_max_workers", "num_workers", "max_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return number
    return os.cpu_count() or 1


_adopted: Any = None


def _adopt(simulator: Any, coordinator: int) -> None:
    """Begin a worker: the terminal's interrupt is the coordinator's affair, and so is the worker's end."""
    global _adopted
    _adopted = simulator
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(coordinator,), daemon=True).start()


def _end_with(coordinator: int) -> None:
    """End with the coordinator: one that was killed tells nobody, and its workers would wait for it for ever."""
    while os.getppid() == coordinator:
        time.sleep(_WATCH)
    os._exit(1)


#: Files of locks that runs of this process hold: a fork has every open file of its parent, and would hold them on.
_locks: set[str] = set()


@contextlib.contextmanager
def locked(directory: str | None) -> Iterator[None]:
    """Say that the engine holds the lock of a directory meanwhile."""
    if directory is None:
        yield
        return
    lock = os.path.join(directory, "lock")
    _locks.add(lock)
    try:
        yield
    finally:
        _locks.discard(lock)


def _let_go() -> None:
    """Close the locks of the parent after a fork."""
    for lock in _locks:
        with contextlib.suppress(OSError):
            held = os.stat(lock)
            for name in os.listdir("/dev/fd"):
                with contextlib.suppress(OSError, ValueError):
                    if os.path.samestat(os.fstat(int(name)), held):
                        os.close(int(name))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _adopted_timed(*arguments: Any) -> tuple[Answer, float]:
    return timed(_adopted, *arguments)


class Processes(Spread):
    """Simulates in processes of this machine, which get the function once and then arrays."""

    def __init__(self, simulator: Any, workers: int) -> None:
        self._make = self._maker(simulator, workers)
        super().__init__(simulator, self._make(), workers)

    @staticmethod
    def _maker(simulator: Any, workers: int) -> Callable[[], Executor]:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # A fork has the function already, be it a lambda or one of a notebook; elsewhere it must be importable.
        method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
        context: Any = multiprocessing.get_context(method)
        given = (simulator, os.getpid())
        return lambda: ProcessPoolExecutor(workers, mp_context=context, initializer=_adopt, initargs=given)

    def submit(self, arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a chunk."""
        with warnings.catch_warnings():
            # Of forks in a process with threads: those of numpy's mathematics know how to be forked.
            warnings.simplefilter("ignore", DeprecationWarning)
            return self.executor.submit(_adopted_timed, *arguments)

    def renew(self) -> bool:
        """Start new processes."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._make()
        return True

    def close(self) -> None:
        """End the processes."""
        self.executor.shutdown(wait=False, cancel_futures=True)
