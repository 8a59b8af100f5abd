"""The Ricker map: a population that grows fast, crashes, and is counted in samples (Wood, Nature 2010, 466:1102)."""

import math
import random

from counterpoise_serve import serve

YEARS = 50
NAMES = ["mean", "sd", "largest", "zeros", "acf1", "acf2", "acf3", "acf4"]


def poisson(mean, draw):
    """Below 30 by counting arrivals, above by halving the mean: exact, and quick enough for a few hundred."""
    if mean > 30:
        return poisson(mean / 2, draw) + poisson(mean / 2, draw)
    count, product, limit = 0, draw.random(), math.exp(-mean)
    while product > limit:
        count, product = count + 1, product * draw.random()
    return count


def simulate(theta, seed):
    draw = random.Random(seed)
    animals, counts = 1.0, []
    for year in range(2 * YEARS):
        animals *= math.exp(theta["log_r"] - animals + draw.gauss(0, theta["sigma"]))
        if year >= YEARS:
            counts.append(poisson(theta["phi"] * animals, draw))
    mean = sum(counts) / YEARS
    off = [count - mean for count in counts]
    variance = sum(x * x for x in off) / YEARS
    if variance == 0:
        raise ValueError("nobody was ever counted")
    acf = [sum(a * b for a, b in zip(off, off[lag:])) / YEARS / variance for lag in (1, 2, 3, 4)]
    return [mean, math.sqrt(variance), max(counts), counts.count(0), *acf]


serve(simulate, NAMES)
