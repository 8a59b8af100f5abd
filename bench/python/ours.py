"""Counterpoise: a batch function, a plain one, and the engine's own network; in memory or in a directory."""

import sys

import death
import numpy as np
from measure import Measured, task

import counterpoise as cp

observed, simulations, keep, generations, seed, folder = task()
kind, weighting = sys.argv[2], sys.argv[3]
law = {"k": cp.LogUniform(1e-3, 1e3), "sigma": cp.LogUniform(1e-3, 1e3)}
budget = {"simulations": simulations, "keep": keep, "generations": generations, "seed": seed, "weighting": weighting}
into = folder + "/run" if kind.endswith("directory") else None
clock = None
if kind.startswith("batch"):
    clock = death.Clock(death.many, len)
    simulator = cp.batch(lambda thetas, seeds: clock(thetas, seeds))
    given = dict(zip(death.NAMES, observed))
elif kind.startswith("plain"):
    names = death.NAMES

    def named(theta, seed):
        return dict(zip(names, death.one(theta["k"], theta["sigma"], seed).tolist()))

    clock = death.Clock(named)

    def simulator(theta, seed):
        return clock(theta, seed)

    given = dict(zip(death.NAMES, observed))
else:
    raise SystemExit(f"unknown: {kind}")
death.many(np.ones((2, 2)), np.arange(2))
death.one(1.0, 1.0, 1)
measured = Measured()
run = cp.run(simulator, law, given, **budget, into=into)
posterior = run.posterior
measured.report(
    clock,
    np.log10(np.column_stack([posterior["k"], posterior["sigma"]])),
    posterior["importance_weight"],
    into,
)
