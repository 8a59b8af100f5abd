"""The command `counterpoise`, the same as the program in Rust, with clusters and files that Python knows."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

from . import _native
from ._pool import Spread
from ._simulators import Native


def main() -> None:
    """Run the program with the arguments it was started with."""
    words = list(sys.argv)
    words[:1] = ["counterpoise"]
    if "--mpi" in words[1:]:
        sys.exit(_on_mpi(words))
    sys.exit(_native.program(words, Host()))


class Host:
    """What the program asks of Python."""

    def __init__(self, ranks: Executor | None = None, workers: int | None = None) -> None:
        self.ranks, self.workers = ranks, workers

    def pool(self, address: str | None, path: str, set: Sequence[str], description: str) -> Spread:
        """Reach the workers of a Dask scheduler or, without an address, of this MPI job."""
        executor = _dask(address) if address is not None else self.ranks
        if executor is None:
            raise RuntimeError("this is no MPI job")
        return Spread(Native("", "", os.path.abspath(path), set, description), executor, self.workers)

    def write_arviz(self, directory: str, draws: int | None, to: str) -> None:
        """Write a run for `arviz.from_netcdf`."""
        from ._arviz import write
        from ._run import load

        with warnings.catch_warnings():
            # Of what ArviZ will be like in another version: nobody has written code here that could follow.
            warnings.simplefilter("ignore", FutureWarning)
            write(load(directory).to_arviz(draws), os.fspath(to))


def _dask(address: str) -> Executor:
    try:
        from distributed import Client
        from distributed.comm import get_address_host
    except ImportError:
        raise RuntimeError("--dask needs Dask: pip install distributed") from None
    # A client of an address that means nothing would wait long before it goes.
    get_address_host(address)
    client: Any = Client(address, set_as_default=False, timeout=10)
    executor: Executor = client.get_executor()
    return executor


def _on_mpi(words: list[str]) -> int:
    """Rank 0 does the work of the program; the others simulate for it."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except ImportError:
        print("error: --mpi needs mpi4py: pip install mpi4py", file=sys.stderr)
        return 2
    world = MPI.COMM_WORLD
    if world.Get_size() < 2:
        print("error: --mpi needs at least two ranks: mpiexec -n 4 counterpoise run PROBLEM --mpi", file=sys.stderr)
        return 2
    if world.Get_rank() > 0:
        # The end of a job's time is told to all its ranks: the first puts the run away, and then lets the others go.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    code = 0
    ranks: Any = MPICommExecutor(world, root=0)
    with ranks as executor:
        if executor is not None:
            code = _native.program(words, Host(executor, world.Get_size() - 1))
    return code if world.Get_rank() == 0 else 0


if __name__ == "__main__":
    main()
