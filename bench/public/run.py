"""The default configuration on the ten public tasks: C2ST to the reference posteriors, beside published scores.

python bench/public/run.py [--tasks two_moons,sir] [--observations 1,2,3] [--simulations 10000] [--program target/release/counterpoise]
Needs numpy, pandas, scipy and numba, and the folder ../shared/benchmarks."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# One thread a product: the classifier's are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import tasks  # noqa: E402
from c2st_fast import c2st  # noqa: E402

HERE = Path(__file__).resolve().parent
TARGETS = pd.read_csv(tasks.SHARED / "sbibm" / "targets.csv")
GOALS = {"gaussian_linear": (0.52, 0.51), "gaussian_linear_uniform": (0.57, 0.53), "gaussian_mixture": (0.57, 0.54),
         "two_moons": (0.55, 0.51), "sir": (0.56, 0.53), "bernoulli_glm": (0.75, 0.62), "bernoulli_glm_raw": (0.90, 0.80),
         "lotka_volterra": (0.85, 0.72), "slcp": (0.92, 0.85), "slcp_distractors": (0.96, 0.92)}


def infer(program, task, observation, simulations, folder, seed):
    observed = pd.read_csv(tasks.SHARED / "sbibm" / f"{task}.observations.csv").iloc[observation - 1, 1:]
    values = ", ".join(f"s{j + 1} = {float(value)!r}" for j, value in enumerate(observed))
    command = json.dumps([sys.executable, str(HERE / "simulate.py"), task, str(len(observed))])
    problem = folder / "problem.toml"
    problem.write_text(f'name = "{task} {observation}"\n[parameters]\n{tasks.prior(task)}\n[model.command]\nrun = {command}\n'
                       f"[observed]\nvalues = {{ {values} }}\n[method]\nseed = {seed}\n[stop]\nsimulations = {simulations}\n")
    run = subprocess.run([program, "run", problem, "--into", folder / "run", "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode not in (0, 3):
        raise SystemExit(run.stderr)
    subprocess.run([program, "export", folder / "run", "--draws", "10000", "--to", folder / "draws.csv", "--quiet"], check=True)
    return json.loads(run.stdout), tasks.natural(task)(pd.read_csv(folder / "draws.csv").values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default=",".join(tasks.NAMES))
    parser.add_argument("--observations", default="1,2,3")
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10_000, help="of the classifier at the most: fewer is a rough look")
    parser.add_argument("--program", default="target/release/counterpoise")
    options = parser.parse_args()
    print("| task | C2ST | by observation | SMC-ABC | best ABC | goal | ESS | seconds beyond simulating |")
    print("|---|---|---|---|---|---|---|---|")
    for task in options.tasks.split(","):
        name = tasks.REFERENCE.get(task, task)
        reference = pd.read_csv(tasks.SHARED / "sbibm" / f"{name}.reference_obs1-3.csv.gz")
        scores, sizes, spent = [], [], []
        for observation in map(int, options.observations.split(",")):
            exact = reference[reference["obs"] == observation].drop(columns="obs").values
            with tempfile.TemporaryDirectory() as folder:
                summary, draws = infer(options.program, task, observation, options.simulations, Path(folder), options.seed)
            scores.append(c2st(exact, draws, max_epochs=options.epochs))
            sizes.append(summary["ess"])
            spent.append(summary["seconds"]["total"] - summary["seconds"]["simulate"])
            for way in summary.get("evidence", []):
                if way["chosen"]:
                    print(f"{task} {observation}: {way['subject']} {way['name']} {way['score']:.3f}", file=sys.stderr)
        row = TARGETS[(TARGETS.task == task) & (TARGETS.sims == options.simulations)]
        smc, best = (f"{row[key].iloc[0]:.3f}" if len(row) else "" for key in ("SMC", "bestABC"))
        goal = GOALS[task][0 if options.simulations <= 10_000 else 1]
        each = " ".join(f"{score:.3f}" for score in scores)
        print(f"| {task} | {np.mean(scores):.3f} | {each} | {smc} | {best} | {goal} | {np.mean(sizes):.0f} | {np.mean(spent):.1f} |", flush=True)


if __name__ == "__main__":
    main()
