"""ELFI: rejection with a vectorised simulator, Euclidean distance; nothing is kept on disk.

Its SMC takes as many simulations as its thresholds need, and was not done after five minutes.
"""

import death
import elfi
import numpy as np
from measure import Measured, task

observed, simulations, keep, generations, seed, folder = task()
clock = death.Clock(death.many, len)
death.many(np.ones((2, 2)), np.arange(2))


def simulate(k, sigma, batch_size=1, random_state=None):
    thetas = 10 ** np.column_stack([np.broadcast_to(k, batch_size), np.broadcast_to(sigma, batch_size)])
    return clock(thetas, random_state.randint(1, 2**31, size=batch_size))


model = elfi.ElfiModel()
k = elfi.Prior("uniform", -3, 6, model=model, name="k")
sigma = elfi.Prior("uniform", -3, 6, model=model, name="sigma")
simulator = elfi.Simulator(simulate, k, sigma, observed=observed[None, :], model=model, name="simulator")
statistics = elfi.Summary(lambda x: x, simulator, model=model, name="statistics")
distance = elfi.Distance("euclidean", statistics, model=model, name="distance")
measured = Measured()
rejection = elfi.Rejection(distance, batch_size=1000, seed=seed)
result = rejection.sample(keep, n_sim=simulations * generations, bar=False)
log10 = np.column_stack([result.samples["k"], result.samples["sigma"]])
measured.report(clock, log10, np.ones(keep))
