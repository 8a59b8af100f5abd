"""The exact posterior, given the octiles, as draws of a Markov chain: means and deviations as JSON.

The density of seven order statistics is known once the quantile function is inverted, which takes a search for each.
Too slow and too special to be the method; good enough to judge it.
"""

import csv
import json
import math
import os
import random

from simulate import DRAWS, NORMAL, RANKS, quantile

NAMES = ["A", "B", "g", "k"]
GAPS = [high - low - 1 for low, high in zip([0, *RANKS], [*RANKS, DRAWS + 1])]


def inverse(theta, x):
    """The z with quantile(theta, z) = x, or None beyond ten deviations."""
    low, high = -10.0, 10.0
    if not quantile(theta, low) < x < quantile(theta, high):
        return None
    while high - low > 1e-9:
        # Halving, which never fails, sped up by a secant step that is kept away from the ends.
        f, g = quantile(theta, low) - x, quantile(theta, high) - x
        for z in (low - f * (high - low) / (g - f), (low + high) / 2):
            if low < z < high:
                low, high = (z, high) if quantile(theta, z) < x else (low, z)
    return (low + high) / 2


def slope(theta, z):
    skewed, square = 1 + 0.8 * math.tanh(theta["g"] * z / 2), 1 + z * z
    bend = 0.4 * theta["g"] / math.cosh(theta["g"] * z / 2) ** 2
    stretch = skewed * (1 + 2 * theta["k"] * z * z / square)
    return theta["B"] * square ** theta["k"] * (bend * z + stretch)


def ln_posterior(point, octiles):
    if not all(0 < value < 10 for value in point):
        return -math.inf
    theta = dict(zip(NAMES, point))
    total, before = 0.0, 0.0
    for x, gap in zip(octiles, GAPS):
        z = inverse(theta, x)
        if z is None:
            return -math.inf
        share = NORMAL.cdf(z)
        if share <= before:
            return -math.inf
        total += gap * math.log(share - before) - z * z / 2 - math.log(slope(theta, z))
        before = share
    return total + GAPS[-1] * math.log(1 - before) if before < 1 else -math.inf


def chain(octiles, draw, start, steps, root):
    """Metropolis: jumps with the covariance root root'."""
    at, ln_at, points = start, ln_posterior(start, octiles), []
    for _ in range(steps):
        noise = [draw.gauss(0, 1) for _ in NAMES]
        to = [x + sum(r * n for r, n in zip(row, noise)) for x, row in zip(at, root)]
        ln_to = ln_posterior(to, octiles)
        if math.log(1 - draw.random()) < ln_to - ln_at:
            at, ln_at = to, ln_to
        points.append(at)
    return points


def moments(points):
    means = [sum(column) / len(points) for column in zip(*points)]
    off = [[x - m for x, m in zip(point, means)] for point in points]
    return means, [[sum(p[i] * p[j] for p in off) / len(off) for j in range(4)] for i in range(4)]


def cholesky(matrix, scale):
    root = [[0.0] * 4 for _ in range(4)]
    for i in range(4):
        for j in range(i + 1):
            rest = scale * matrix[i][j] - sum(root[i][k] * root[j][k] for k in range(j))
            root[i][j] = math.sqrt(max(rest, 1e-12)) if i == j else rest / root[j][j]
    return root


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "observed.csv")) as file:
        octiles = [float(value) for value in list(csv.reader(file))[1]]
    draw, points = random.Random(1), [[octiles[3], octiles[4] - octiles[3], 1.0, 0.2]]
    root = [[0.05 if i == j else 0.0 for j in range(4)] for i in range(4)]
    for steps in (1000, 2000, 12000):
        points = chain(octiles, draw, points[-1], steps, root)
        means, spread = moments(points[steps // 4 :])
        root = cholesky(spread, 2.4**2 / 4)
    print(json.dumps({name: {"mean": means[i], "sd": math.sqrt(spread[i][i])} for i, name in enumerate(NAMES)}))
