"""A model written for pyABC, moved to Counterpoise.

In pyABC it was:

    import pyabc
    prior = pyabc.Distribution(rate=pyabc.RV("uniform", 0, 5), size=pyabc.RV("gamma", 2, scale=3))
    abc = pyabc.ABCSMC(model, prior, distance_function=pyabc.AdaptivePNormDistance(p=2), population_size=500)
    abc.new("sqlite:///run.db", observed)
    history = abc.run(max_nr_populations=4)
    frame, weights = history.get_distribution()

The model is a function of a dict that gives a dict: it stays. pyABC seeds nothing, so the model takes its numbers from numpy's global generator; `seeded` below gives it
a seed of its own for each call. scipy's RV("uniform", a, b) is Uniform(a, a + b). No distance is chosen: that is what Counterpoise is for.
"""

import numpy as np

import counterpoise as cp


def model(parameters):
    """As it was."""
    jumps = np.random.poisson(parameters["rate"] * 20)
    sizes = np.random.exponential(parameters["size"], size=jumps)
    return {"count": float(jumps), "sum": sizes.sum(), "largest": sizes.max(initial=0.0)}


def seeded(theta, seed):
    np.random.seed(seed)
    return model(theta)


def main():
    observed = {"count": 31.0, "sum": 205.0, "largest": 24.0}
    prior = {"rate": cp.Uniform(0, 5), "size": cp.Gamma(2, 3)}
    # A population of 500 at an acceptance of 10 %.
    run = cp.run(seeded, prior, observed, simulations=5000, keep=500, generations=4, seed=1)
    frame, weights = dict(run.posterior), run.posterior["importance_weight"]
    for name in run.parameters:
        print(f"{name}: {np.average(frame[name], weights=weights):.2f}")
    return run


if __name__ == "__main__":
    main()
