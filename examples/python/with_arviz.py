"""Summary and plots by ArviZ: needs arviz and matplotlib."""

import warnings

import matplotlib
import numpy as np

import counterpoise as cp

matplotlib.use("agg")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    import arviz as az


@cp.batch
def simulate(thetas, seeds):
    x = np.random.default_rng(seeds).normal(thetas[:, :1], thetas[:, 1:], size=(len(seeds), 30))
    return {"mean": x.mean(axis=1), "sd": x.std(axis=1), "median": np.median(x, axis=1)}


def main(picture="posterior.png"):
    prior = {"mu": cp.Normal(0, 5), "sigma": cp.LogUniform(0.1, 10)}
    run = cp.run(simulate, prior, {"mean": 1.2, "sd": 0.9, "median": 1.1}, simulations=2000, generations=3)
    data = run.to_arviz(draws=1000)
    # There is one chain and no Markov chain: diagnostics of convergence mean nothing here.
    print(az.summary(data, kind="stats"))
    if az.__version__.startswith("0."):
        az.plot_posterior(data, var_names=["mu", "sigma"])[0].figure.savefig(picture)
    else:
        # ArviZ 1.x.
        az.plot_dist(data, var_names=["mu", "sigma"]).savefig(picture)
    return data


if __name__ == "__main__":
    main()
