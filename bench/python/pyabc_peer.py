"""pyABC: adaptive distance, median epsilon, one process, a database on disk with named statistics."""

import logging
import sys

import death
import numpy as np
import pyabc
from measure import Measured, task

observed, simulations, keep, generations, seed, folder = task()
logging.getLogger("ABC").setLevel(logging.ERROR)
np.random.seed(seed)
names = death.NAMES
state = np.random.default_rng(seed)


def named(k, sigma, seed):
    return dict(zip(names, death.one(k, sigma, seed).tolist()))


clock = death.Clock(named)


def model(theta):
    return clock(10 ** theta["k"], 10 ** theta["sigma"], int(state.integers(1, 2**31)))


death.one(1.0, 1.0, 1)
prior = pyabc.Distribution(k=pyabc.RV("uniform", -3, 6), sigma=pyabc.RV("uniform", -3, 6))
measured = Measured()
abc = pyabc.ABCSMC(
    model,
    prior,
    pyabc.AdaptivePNormDistance(p=2),
    population_size=keep,
    sampler=pyabc.sampler.SingleCoreSampler(),
)
abc.new("sqlite:///" + folder + "/run.db", dict(zip(names, observed)))
history = abc.run(max_total_nr_simulations=simulations * generations, min_acceptance_rate=keep / simulations / 2)
frame, weights = history.get_distribution()
print(f"{history.max_t + 1} populations", file=sys.stderr)
measured.report(clock, frame[["k", "sigma"]].to_numpy(), weights, folder)
