"""What every peer's script shares: its task, and what it hands back."""

import json
import os
import resource
import sys
import time

import numpy as np


def task():
    """The observed statistics, the budget and a folder of its own."""
    given = json.loads(sys.argv[1])
    return np.array(given["observed"]), given["simulations"], given["keep"], given["generations"], given["seed"], given["folder"]


class Measured:
    """Time and memory from here on."""

    def __init__(self):
        self.wall, self.processor = time.perf_counter(), time.process_time()

    def report(self, clock, log10, weights, folder=None):
        """Print what was measured as one line of JSON."""
        wall, processor = time.perf_counter() - self.wall, time.process_time() - self.processor
        simulating = clock.nanoseconds / 1e9 if clock else 0.0
        simulations = clock.simulations if clock else None
        disk = 0
        if folder:
            disk = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)
        print(
            json.dumps(
                {
                    "wall": wall,
                    "processor": processor,
                    "simulating": simulating,
                    "simulations": simulations,
                    "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                    "disk": disk,
                    "log10": np.asarray(log10, dtype=float).tolist(),
                    "weights": np.asarray(weights, dtype=float).tolist(),
                }
            )
        )
