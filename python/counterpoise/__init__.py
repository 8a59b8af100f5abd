"""Approximate Bayesian computation that weighs the evidence by itself.

You have a stochastic simulator, observed statistics, and more statistics than you know what to do with:

>>> import numpy as np, counterpoise as cp
>>> def simulate(theta, seed):
...     x = np.random.default_rng(seed).exponential(1 / theta["rate"], size=50)
...     return {"mean": x.mean(), "max": x.max(), "noise": x[0]}
>>> run = cp.run(simulate, {"rate": cp.LogUniform(0.01, 100)}, {"mean": 0.5, "max": 2.2, "noise": 0.1},
...              simulations=1000, generations=2, seed=1)
>>> 1 < run.summary()["parameters"]["rate"]["median"] < 4
True
"""

from ._frame import Frame
from ._models import Network, Sbml, Table
from ._native import VERSION as __version__
from ._priors import (
    Beta,
    Exponential,
    Gamma,
    Integer,
    Joint,
    Law,
    LogNormal,
    LogUniform,
    Normal,
    Uniform,
)
from ._result import Run
from ._run import calibrate, compare, load, run
from ._simulators import batch

__all__ = [
    "Beta",
    "Exponential",
    "Frame",
    "Gamma",
    "Integer",
    "Joint",
    "Law",
    "LogNormal",
    "LogUniform",
    "Network",
    "Normal",
    "Run",
    "Sbml",
    "Table",
    "Uniform",
    "__version__",
    "batch",
    "calibrate",
    "compare",
    "load",
    "run",
]
