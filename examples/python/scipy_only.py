"""A simulator of differential equations with scipy, spread over two processes: predator and prey, counted with error."""

import numpy as np
from scipy.integrate import solve_ivp

import counterpoise as cp

TIMES = np.linspace(1, 12, 6)


def simulate(theta, seed):
    a, b = theta["a"], theta["b"]
    path = solve_ivp(lambda t, y: [a * y[0] - y[0] * y[1], b * y[0] * y[1] - y[1]], (0, 12), [1.0, 0.5], t_eval=TIMES)
    if not path.success:
        raise ArithmeticError(path.message)
    counted = path.y + np.random.default_rng(seed).normal(0, 0.05, size=path.y.shape)
    return {f"{who}@{time:g}": value for who, row in zip(("prey", "predator"), counted) for time, value in zip(TIMES, row)}


def main():
    observed = simulate({"a": 1.0, "b": 1.0}, seed=123)
    prior = {"a": cp.LogUniform(0.2, 5), "b": cp.LogUniform(0.2, 5)}
    run = cp.run(simulate, prior, observed, simulations=400, keep=40, generations=2, workers=2)
    for name, numbers in run.summary()["parameters"].items():
        print(f"{name}: {numbers['median']:.2f}, 90 % between {numbers['q05']:.2f} and {numbers['q95']:.2f}")
    return run


if __name__ == "__main__":
    main()
