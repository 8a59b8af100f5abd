"""The command `counterpoise`, the same as the program in Rust, with clusters that Python reaches."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
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
    sys.exit(_native.program(words, _dask))


def _remote(path: str, set: Sequence[str], description: str) -> Native:
    return Native("", "", os.path.abspath(path), set, description)


def _dask(kind: str, address: str | None, path: str, set: Sequence[str], description: str) -> Spread:
    try:
        from distributed import Client
        from distributed.comm import get_address_host
    except ImportError:
        raise RuntimeError("--dask needs Dask: pip install distributed") from None
    # A client of an address that means nothing would wait long before it goes.
    get_address_host(address)
    client: Any = Client(address, set_as_default=False, timeout=10)
    return Spread(_remote(os.fspath(path), set, description), client.get_executor())


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

            def make(kind: str, address: object, path: str, set: Sequence[str], description: str) -> Spread:
                return Spread(_remote(os.fspath(path), set, description), executor, world.Get_size() - 1)

            code = _native.program(words, make)
    return code if world.Get_rank() == 0 else 0


if __name__ == "__main__":
    main()
