"""The death process of the reference data, one simulation or many: the same code for every peer.

Ten particles die at rate k each and are counted at 33 times; one more statistic is a normal reading with standard deviation sigma.
"""

import numpy as np
from numba import njit

TIMES = np.linspace(0, 20, 33)
NAMES = [f"A@{time:g}" for time in TIMES] + ["z"]


@njit(cache=True)
def _uniform(state):
    # splitmix64: a state of one word, so that seeding costs nothing.
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@njit(cache=True)
def _fill(k, sigma, seed, out):
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
    alive, at, time = 10, 0, 0.0
    while alive > 0 and at < 33:
        time += -np.log(_uniform(state)) / (k * alive)
        while at < 33 and TIMES[at] < time:
            out[at] = alive
            at += 1
        alive -= 1
    while at < 33:
        out[at] = alive
        at += 1
    out[33] = sigma * np.sqrt(-2.0 * np.log(_uniform(state))) * np.cos(2.0 * np.pi * _uniform(state))


@njit(cache=True)
def one(k, sigma, seed):
    """34 statistics."""
    out = np.empty(34)
    _fill(k, sigma, seed, out)
    return out


@njit(cache=True)
def many(thetas, seeds):
    """34 statistics of each row of (k, sigma)."""
    out = np.empty((len(seeds), 34))
    for row in range(len(seeds)):
        _fill(thetas[row, 0], thetas[row, 1], seeds[row], out[row])
    return out


class Clock:
    """Sums up the processor time inside a simulator and counts simulations."""

    def __init__(self, function, rows=lambda result: 1):
        import time

        self.function, self.rows, self.now = function, rows, time.thread_time_ns
        self.nanoseconds = self.calls = self.simulations = 0

    def __call__(self, *arguments):
        begun = self.now()
        result = self.function(*arguments)
        self.nanoseconds += self.now() - begun
        self.calls += 1
        self.simulations += self.rows(result)
        return result
