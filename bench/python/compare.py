"""Ours beside pyABC, ELFI and sbi on the death process: the same simulator, the same number of simulations, one run.

    bench/python/prepare && bench/.peers/ours/bin/python bench/python/compare.py [--datasets 3] [--simulations 10000]

Peers take turns, each in a process of its own on one core; one that is not installed is reported as absent. Engine time is processor time without imports and
without the time inside the simulator, over the number of simulations. Most memory is numba's: the last line has what the simulator alone takes.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "reference" / "death"
PEERS = HERE.parent / ".peers"
TOOLS = {
    "ours, batch": ("ours", "ours.py", "batch", "auto"),
    "ours, batch, uniform weights": ("ours", "ours.py", "batch", "uniform"),
    "ours, batch, in a directory": ("ours", "ours.py", "batch directory", "auto"),
    "ours, plain function": ("ours", "ours.py", "plain", "auto"),
    "ours, plain function, uniform weights": ("ours", "ours.py", "plain", "uniform"),
    "ours, plain, in a directory": ("ours", "ours.py", "plain directory", "auto"),
    "ELFI rejection, batch": ("elfi", "elfi_peer.py"),
    "sbi SMCABC, batch": ("sbi", "sbi_peer.py"),
    "pyABC, plain function": ("pyabc", "pyabc_peer.py"),
    "pyABC, plain function, MLP": ("pyabc", "pyabc_peer.py", "mlp"),
    "the simulator alone": ("ours", "baseline.py"),
}


def wasserstein(values, weights, exact):
    """W1 between weighted values and equally weighted ones."""
    order = np.argsort(values)
    values, levels = values[order], np.cumsum(weights[order]) / np.sum(weights)
    grid = (np.arange(20_000) + 0.5) / 20_000
    ours = values[np.minimum(np.searchsorted(levels, grid), len(values) - 1)]
    theirs = np.sort(exact)[(grid * len(exact)).astype(int)]
    return np.abs(ours - theirs).mean()


def one_core():
    """Keeps what is started on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=3)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--keep", type=int, default=250)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    lines = (REFERENCE / "observed.csv").read_text().splitlines()[1 : 1 + options.datasets]
    exact = parquet.read_table(REFERENCE / "posterior.parquet").to_pydict()
    rows = {name: [] for name in TOOLS if options.only in name}
    for number, line in enumerate(lines, start=1):
        chosen = np.array(exact["dataset"]) == number
        truth = np.column_stack([np.array(exact["log10_k"])[chosen], np.array(exact["log10_sigma"])[chosen]])
        for name in rows:
            peer, script, *rest = TOOLS[name]
            python = PEERS / peer / "bin" / "python"
            with tempfile.TemporaryDirectory() as folder:
                given = {
                    "observed": [float(cell) for cell in line.split(",")[1:]],
                    "simulations": options.simulations,
                    "keep": options.keep,
                    "generations": options.generations,
                    "seed": number,
                    "folder": folder,
                }
                words = [str(python), str(HERE / script), json.dumps(given), *rest]
                if not python.exists():
                    continue
                begun = time.perf_counter()
                try:
                    done = subprocess.run(words, capture_output=True, text=True, cwd=HERE, timeout=900, preexec_fn=one_core)
                except subprocess.TimeoutExpired:
                    print(f"{name}: not done after 15 minutes")
                    continue
                if done.returncode:
                    print(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
                    continue
                found = json.loads(done.stdout.strip().splitlines()[-1])
                found["process"] = time.perf_counter() - begun
            log10, weights = np.array(found["log10"]), np.array(found["weights"])
            found["w1"] = np.mean(
                [wasserstein(log10[:, j], weights, truth[:, j]) / truth[:, j].std() for j in range(2)]
            )
            found["particles"] = len(log10)
            rows[name].append(found)
    print(f"death process, {options.generations} x {options.simulations} simulations, {options.keep} kept, medians of {len(lines)} datasets")
    print("| | simulations | engine, microseconds a simulation | seconds, run | seconds, process | memory, MB | disk, bytes a simulation | W1 |")
    print("|---|---|---|---|---|---|---|---|")
    for name, all_found in rows.items():
        if not all_found:
            print(f"| {name} | absent |")
            continue

        def median(value, found=all_found):
            return float(np.median([value(one) for one in found]))

        if name == "the simulator alone":
            print(f"| {name} | | | | | {median(lambda f: f['memory']) / 1e6:.0f} | | |")
            continue
        engine = median(lambda f: 1e6 * (f["processor"] - f["simulating"]) / f["simulations"])
        disk = median(lambda f: f["disk"] / f["simulations"])
        print(
            f"| {name} | {median(lambda f: f['simulations']):.0f} | {engine:.1f} | {median(lambda f: f['wall']):.2f} | "
            f"{median(lambda f: f['process']):.2f} | {median(lambda f: f['memory']) / 1e6:.0f} | {disk:.0f} | "
            f"{np.mean([f['w1'] for f in all_found]):.2f} |"
        )


if __name__ == "__main__":
    main()
