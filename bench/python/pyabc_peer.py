"""pyABC: adaptive distance (1/sd), median epsilon, one process, a database on disk with named statistics.

With the word `mlp`: of statistics that a neural network learns, pyABC's `MLPPredictor`, fitted once after 40 % of the budget.
"""

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
distance = pyabc.AdaptivePNormDistance(p=2)
if sys.argv[2:] == ["mlp"]:
    when = pyabc.EventIxs(sims=0.4 * simulations * generations)
    learned = pyabc.PredictorSumstat(pyabc.predictor.MLPPredictor(), fit_ixs=when)
    distance = pyabc.AdaptivePNormDistance(p=2, sumstat=learned)
measured = Measured()
abc = pyabc.ABCSMC(
    model,
    prior,
    distance,
    population_size=keep,
    sampler=pyabc.sampler.SingleCoreSampler(),
)
abc.new("sqlite:///" + folder + "/run.db", dict(zip(names, observed)))
history = abc.run(max_total_nr_simulations=simulations * generations, min_acceptance_rate=keep / simulations / 2)
frame, weights = history.get_distribution()
print(f"{history.max_t + 1} populations", file=sys.stderr)
measured.report(clock, frame[["k", "sigma"]].to_numpy(), weights, folder)
