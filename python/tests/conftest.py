"""What the tests share: simulators, finished runs, the command."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = {"m": cp.Uniform(-5, 5), "s": cp.LogUniform(0.1, 10)}
OBSERVED = {"mean": 1.0, "sd": 1.2, "max": 2.9}
BUDGET = {"simulations": 400, "keep": 40, "generations": 2, "seed": 7}


def gaussian(theta, seed):
    x = np.random.default_rng(seed).normal(theta["m"], theta["s"], size=20)
    return {"mean": x.mean(), "sd": x.std(), "max": x.max()}


@cp.batch(size=64)
def gaussians(thetas, seeds):
    """One generator for all rows of a batch: its numbers depend on which rows come together."""
    x = np.random.default_rng(seeds).normal(thetas[:, :1], thetas[:, 1:], size=(len(seeds), 20))
    return {"sd": x.std(axis=1), "mean": x.mean(axis=1), "max": x.max(axis=1)}


def same(a, b):
    """Whether two runs gave the same, to the bit."""
    for generation in range(len(a.generations)):
        one, other = a.population(generation), b.population(generation)
        assert one.columns == other.columns
        for name in one.columns:
            assert (np.asarray(one[name]) == np.asarray(other[name])).all(), (generation, name)
    assert a.distance_weights == b.distance_weights and a.influence == b.influence
    assert a.summary()["parameters"] == b.summary()["parameters"]


def command(*words):
    """What the command `counterpoise` does with these words."""
    called = [sys.executable, "-m", "counterpoise._command", *words]
    return subprocess.run(called, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="session")
def finished():
    return cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET)


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    return cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path_factory.mktemp("runs") / "gaussian")
