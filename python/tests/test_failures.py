"""Simulations that fail: counted, explained, and never accepted."""

import os
import sys

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, gaussian, gaussians, same

import counterpoise as cp


def test_failures_are_counted_and_their_tracebacks_kept(tmp_path):
    def simulate(theta, seed):
        if theta["m"] > 4:
            raise ArithmeticError("too large")
        if theta["m"] < -4:
            return {"mean": np.nan, "sd": 1.0, "max": 1.0}
        if 3 < theta["m"] < 3.5:
            return [1.0, 2.0]
        return gaussian(theta, seed)

    run = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r")
    first = run.simulations(0)
    m, outcome = first["m"], first["outcome"]
    for value, why in zip(m, outcome, strict=True):
        if value > 4:
            assert why.startswith("crashed: ArithmeticError: too large")
            assert "test_failures.py" in why and "raise ArithmeticError" in why
        elif value < -4:
            assert why == "not-finite: 0"
        elif 3 < value < 3.5:
            assert "must give 3 statistics" in why
        else:
            assert why is None
    failed = (m > 4) | (m < -4) | ((m > 3) & (m < 3.5))
    assert run.generations[0]["failed"] == failed.sum() > 0
    assert run.population(0)["m"].max() <= 4
    assert any("ArithmeticError" in warning or "failed" in warning for warning in run.warnings)
    same(run, cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, workers=2))


def test_a_row_of_a_batch_that_raises_is_found():
    @cp.batch(size=50)
    def simulate(thetas, seeds):
        if (thetas[:, 0] > 4).any():
            raise ValueError("too large")
        return np.stack(
            [np.random.default_rng(seed).normal(theta, size=3) for theta, seed in zip(thetas[:, 0], seeds, strict=True)]
        )

    run = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET)
    assert 0 < run.generations[0]["failed"] < 100
    assert run.population(0)["m"].max() <= 4


def test_too_many_failures_end_a_run():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        cp.run(lambda theta, seed: 1 / 0, PARAMETERS, OBSERVED, **BUDGET, workers=2)


def test_a_worker_that_dies_costs_its_row_alone():
    def simulate(theta, seed):
        if 3 < theta["m"] < 3.06:
            os._exit(1)
        return gaussian(theta, seed)

    run = cp.run(simulate, PARAMETERS, OBSERVED, **{**BUDGET, "generations": 1}, workers=2)
    m = cp.run(gaussian, PARAMETERS, OBSERVED, **{**BUDGET, "generations": 1}).prior()["m"]
    assert run.generations[0]["failed"] == ((m > 3) & (m < 3.06)).sum() > 0


def test_a_simulator_that_exits_is_a_failure():
    def simulate(theta, seed):
        if theta["m"] > 4:
            sys.exit("the program gives up")
        return gaussian(theta, seed)

    alone = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET)
    assert 0 < alone.generations[0]["failed"] < 100
    same(alone, cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, workers=2))


def test_complex_statistics_are_failures():
    for simulate in (
        lambda theta, seed: np.full(3, 1j),
        lambda theta, seed: [1j, 1.0, 1.0],
        cp.batch(lambda thetas, seeds: np.ones((len(thetas), 3), dtype=complex)),
    ):
        with pytest.raises(ValueError, match="must give real numbers, found complex"):
            cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET)


def test_a_failure_may_say_what_no_text_can(tmp_path):
    class Mute(Exception):
        def __str__(self):
            raise LookupError("no words")

    def simulate(theta, seed):
        if theta["m"] > 4:
            raise ValueError("bad file \udcff")
        if theta["m"] < -4:
            raise Mute
        return gaussian(theta, seed)

    runs = [cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, workers=workers) for workers in (None, 2)]
    same(*runs)
    kept = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r")
    said = {why.splitlines()[0] for why in kept.simulations(0)["outcome"] if why}
    assert said == {r"crashed: ValueError: bad file \udcff", "crashed: Mute: it cannot say what"}


def test_a_failure_names_its_statistic(tmp_path):
    answers = {
        "nan": {"mean": np.nan},
        "text": {"mean": "much"},
        "array": {"mean": np.ones(2)},
        "one": {"mean": np.ones(1)},
    }

    def simulate(theta, seed):
        return {**gaussian(theta, seed), **(answers[kind] if theta["m"] > 4 else {})}

    kind = "one"
    assert cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET).summary()["failed"] == 0
    said = {
        "nan": "the statistic mean is not finite",
        "text": "must give one real number for 'mean', found 'much'",
        "array": "must give one real number for 'mean', found an array of shape (2,)",
    }
    for kind in said:
        warnings = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET).warnings
        assert any(said[kind] in warning for warning in warnings), warnings


def test_a_batch_of_another_shape_is_not_tried_row_by_row():
    sizes = []

    @cp.batch(size=100)
    def ragged(thetas, seeds):
        sizes.append(len(seeds))
        made = gaussians.function(thetas, seeds)
        return {**made, "sd": made["sd"][:3]}

    with pytest.raises(ValueError, match=r"must give an array of shape \(100,\) for 'sd', found \(3,\)"):
        cp.run(ragged, PARAMETERS, OBSERVED, **BUDGET)
    assert set(sizes) == {100}

    @cp.batch(size=100)
    def raises(thetas, seeds):
        if (thetas[:, 0] > 4).any():
            raise ArithmeticError("too large")
        return gaussians.function(thetas, seeds)

    with pytest.warns(RuntimeWarning, match="a batch of 100 rows raised, .* ArithmeticError: too large"):
        cp.run(raises, PARAMETERS, OBSERVED, **BUDGET)
