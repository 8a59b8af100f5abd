"""The default configuration on three problems of Schälte & Hasenauer 2023: median over ten datasets of the mean squared error of the
posterior about the truth, beside that of the exact posterior and the published ones.

python bench/public/informative.py [--problems normal,cr,gk] [--simulations 10000] [--program target/release/counterpoise]
Needs numpy and pandas, and the folder ../shared/benchmarks. The same file, called with the name of a problem, is its simulator."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve()
TIMES = np.linspace(0, 60, 10)


def normal(theta, rng):
    """One statistic that tells everything, one that tells nothing."""
    return [rng.normal(theta[0], 0.1), rng.normal()]


def conversion(theta, rng):
    """Two species that turn into each other; the second is seen with noise."""
    there, back = 10.0 ** np.asarray(theta)
    return there / (there + back) * (1 - np.exp(-(there + back) * TIMES)) + 0.02 * rng.normal(size=10)


def quantiles(theta, rng):
    """Octiles of 10,000 draws from the g-and-k distribution; order statistics of uniforms are sums of exponentials."""
    a, b, g, k = theta
    sums = np.cumsum(np.r_[rng.gamma(1250.0, size=7), rng.gamma(1251.0)])
    z = inverse(sums[:7] / sums[7])
    return a + b * (1 + 0.8 * np.tanh(g * z / 2)) * (1 + z * z) ** k * z


def inverse(p):
    """Quantiles of the standard normal distribution."""
    from statistics import NormalDist

    return np.array([NormalDist().inv_cdf(x) for x in p])


# Name in the data, simulator, law of each parameter with its true value.
PROBLEMS = {
    "normal": ("prangle_normal", normal, {"theta": ('{ law = "normal", mean = 0, sd = 100 }', 0.0)}),
    "cr": ("cr", conversion, {name: ('{ law = "uniform", low = -3.5, high = 1 }', -1.5) for name in ("p0", "p1")}),
    "gk": ("prangle_gk", quantiles, {name: ('{ law = "uniform", low = 0, high = 10 }', value) for name, value in zip("ABgk", (3.0, 1.0, 1.5, 0.5))}),
}


def serve(name):
    _, simulate, laws = PROBLEMS[name]
    count = len(simulate([truth for _, truth in laws.values()], np.random.default_rng(0)))
    print(json.dumps({"ready": True, "statistics": [f"s{j + 1}" for j in range(count)]}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        values = simulate(list(asked["parameters"].values()), np.random.default_rng(asked["seed"]))
        print(json.dumps({"id": asked["id"], "statistics": [float(value) for value in values]}), flush=True)


def infer(program, name, observed, simulations):
    values = ", ".join(f"s{j + 1} = {float(value)!r}" for j, value in enumerate(observed))
    laws = "\n".join(f"{parameter} = {law}" for parameter, (law, _) in PROBLEMS[name][2].items())
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.toml"
        problem.write_text(f'name = "{name}"\n[parameters]\n{laws}\n[model.command]\nrun = {json.dumps([sys.executable, str(HERE), name])}\n'
                           f"[observed]\nvalues = {{ {values} }}\n[method]\nseed = 1\n[stop]\nsimulations = {simulations}\n")
        run = subprocess.run([program, "run", problem, "--into", Path(folder) / "run", "--json", "--quiet"], capture_output=True, text=True)
        if run.returncode not in (0, 3):
            raise SystemExit(run.stderr)
        return json.loads(run.stdout)["parameters"]


def main():
    import pandas as pd

    shared = HERE.parents[3] / "shared" / "benchmarks" / "schaelte2023"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--program", default="target/release/counterpoise")
    options = parser.parse_args()
    published = pd.read_csv(shared / "published_vs_exact.csv").set_index(["problem", "param"])
    print("| problem | parameter | ours | exact | ours over exact | adaptive MAD, published | best published |")
    print("|---|---|---|---|---|---|---|")
    for name in options.problems.split(","):
        data, _, laws = PROBLEMS[name]
        observations = pd.read_csv(shared / f"{data}.observations.csv").iloc[:, 1:].values
        found = [infer(options.program, name, observed, options.simulations) for observed in observations]
        for parameter, (_, truth) in laws.items():
            errors = [(one[parameter]["mean"] - truth) ** 2 + one[parameter]["sd"] ** 2 for one in found]
            row = published.loc[(data, parameter)]
            ours, exact = np.median(errors), row["exact_floor"]
            print(f"| {name} | {parameter} | {ours:.3g} | {exact:.3g} | {ours / exact:.2f} | {row['Adaptive(MAD)']:.3g} | {row['best']:.3g} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1] in PROBLEMS:
        serve(sys.argv[1])
    else:
        main()
