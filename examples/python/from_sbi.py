"""Simulations that exist already, for example those of an `sbi` project, used as they are.

With sbi they come as two tensors:

    theta = prior.sample((20_000,))
    x = simulate_for_sbi(simulator, prior, 20_000)

Columns with names are all that is needed. Where torch is not installed, this script makes the two arrays with numpy.
"""

import numpy as np

import counterpoise as cp


def simulations(count):
    """Two arrays, or tensors: parameters and statistics."""
    try:
        import torch
    except ImportError:
        rng = np.random.default_rng(1)
        theta = rng.uniform(-3, 3, size=(count, 2))
        return theta, np.column_stack([theta + 0.3 * rng.normal(size=(count, 2)), rng.normal(size=(count, 5))])
    torch.manual_seed(1)
    theta = 6 * torch.rand(count, 2) - 3
    return theta, torch.cat([theta + 0.3 * torch.randn(count, 2), torch.randn(count, 5)], dim=1)


def main():
    theta, x = simulations(20_000)
    columns = {f"theta{j + 1}": theta[:, j] for j in range(2)} | {f"x{j + 1}": x[:, j] for j in range(7)}
    observed = {"x1": 0.8, "x2": -1.1} | {f"x{j}": 0.0 for j in range(3, 8)}
    law = cp.Uniform(-3, 3)
    # The rows are draws from this prior: one generation of all of them.
    run = cp.run(cp.Table(columns), {"theta1": law, "theta2": law}, observed, keep=400)
    for name, numbers in run.summary()["parameters"].items():
        print(f"{name}: {numbers['mean']:.2f} +- {numbers['sd']:.2f}")
    return run


if __name__ == "__main__":
    main()
