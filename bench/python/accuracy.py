"""How near ours and pyABC come to the exact posterior of the death process: datasets x seeds, the same simulator and number of simulations.

    bench/python/prepare pyabc && bench/.peers/ours/bin/python bench/python/accuracy.py [--only ours] [--datasets 3] [--seeds 5]

Every run is a line of `--into FILE`; runs that are there already are not repeated, so that it may be done in parts. W1 is in log10 of the
parameter. The spread between seeds is the standard deviation of the W1 of one dataset, mean over datasets.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from compare import HERE, PEERS, REFERENCE, wasserstein

TOOLS = {
    "ours, auto": ("ours", "ours.py", "batch", "auto"),
    "ours, hellinger": ("ours", "ours.py", "batch", "hellinger"),
    "pyABC, 1/sd": ("pyabc", "pyabc_peer.py"),
    "pyABC, MLP": ("pyabc", "pyabc_peer.py", "mlp"),
}


def run(name, given):
    """W1 of both parameters, seconds and simulations; None if it failed."""
    peer, script, *rest = TOOLS[name]
    words = [str(PEERS / peer / "bin" / "python"), str(HERE / script)]
    with tempfile.TemporaryDirectory() as folder:
        words += [json.dumps({**given, "folder": folder}), *rest]
        begun = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, cwd=HERE)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
        return None
    found = json.loads(done.stdout.strip().splitlines()[-1])
    found["process"] = time.perf_counter() - begun
    return found


def table(runs):
    print("| | datasets x seeds | simulations | W1 of k | of sigma | least and most | spread of k between seeds | of sigma |")
    print("|---|---|---|---|---|---|---|---|")
    for name in TOOLS:
        of = [one for one in runs if one["tool"] == name]
        if not of:
            continue
        datasets = sorted({one["dataset"] for one in of})
        seeds = len({one["seed"] for one in of})
        w1 = np.array([[one["k"], one["sigma"]] for one in of])
        each = [w1[[one["dataset"] == number for one in of]] for number in datasets]
        spread = [np.mean([one[:, j].std(ddof=1) for one in each if len(one) > 1]) if seeds > 1 else np.nan for j in range(2)]
        counts = np.mean([one["simulations"] for one in of])
        ends = f"{w1[:, 0].min():.3f} to {w1[:, 0].max():.3f}, {w1[:, 1].min():.2f} to {w1[:, 1].max():.2f}"
        print(
            f"| {name} | {len(datasets)} x {seeds} | {counts:,.0f} | {w1[:, 0].mean():.3f} | {w1[:, 1].mean():.3f} | {ends} | "
            f"{spread[0]:.3f} | {spread[1]:.3f} |"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--keep", type=int, default=250)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--into", type=Path, default=PEERS / "accuracy.jsonl")
    options = parser.parse_args()
    lines = (REFERENCE / "observed.csv").read_text().splitlines()[1 : 1 + options.datasets]
    exact = parquet.read_table(REFERENCE / "posterior.parquet").to_pydict()
    budget = {"simulations": options.simulations, "keep": options.keep, "generations": options.generations}
    old = options.into.read_text().splitlines() if options.into.exists() else []
    runs = [one for one in map(json.loads, old) if all(one["budget"][key] == value for key, value in budget.items())]
    known = {(one["tool"], one["dataset"], one["seed"]) for one in runs}
    for name in TOOLS:
        for seed in range(1, options.seeds + 1):
            for number, line in enumerate(lines, start=1):
                if options.only not in name or (name, number, seed) in known:
                    continue
                observed = [float(cell) for cell in line.split(",")[1:]]
                found = run(name, {"observed": observed, "seed": 100 * number + seed, **budget})
                if found is None:
                    continue
                chosen = np.array(exact["dataset"]) == number
                truth = [np.array(exact[column])[chosen] for column in ("log10_k", "log10_sigma")]
                log10, weights = np.array(found["log10"]), np.array(found["weights"])
                k, sigma = (float(wasserstein(log10[:, j], weights, truth[j])) for j in range(2))
                one = {"tool": name, "dataset": number, "seed": seed, "k": k, "sigma": sigma, "budget": budget}
                one |= {"particles": len(log10), "simulations": found["simulations"], "seconds": found["wall"], "processor": found["processor"]}
                runs.append(one)
                with options.into.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    table(runs)


if __name__ == "__main__":
    main()
