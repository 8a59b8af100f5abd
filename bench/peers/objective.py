"""The search objective in numpy and scipy: answers `weights...` on stdin with `seconds value`."""
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import math
import sys
import time

import numpy as np
from scipy.spatial import cKDTree

rows, kappa, d, keep, k, path = *map(int, sys.argv[1:6]), sys.argv[6]
raw = np.fromfile(path)
units = raw[: rows * d].reshape(rows, d).copy()
prior = raw[rows * d : rows * (d + 1)].copy()
squares = raw[rows * (d + 1) :].reshape(rows, kappa).copy()
ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
constant = math.gamma(k) / math.gamma(k + 0.5)


def evaluate(weights):
    distances = squares @ (weights * weights)
    kept = np.argpartition(distances, keep)[:keep]
    points = units[kept]
    rho = cKDTree(points).query(points, k=k + 1)[0][:, k]
    return 1 - constant * np.sqrt(prior[kept] * (keep - 1) * ball * rho**d).mean()


for line in sys.stdin:
    weights = np.array([float(word) for word in line.split()])
    start = time.process_time()
    value = evaluate(weights)
    print(time.process_time() - start, value, flush=True)
