"""The seven octiles of 1,000 draws from a g-and-k law, without making the draws."""

import math
import random
from statistics import NormalDist

DRAWS = 1000
RANKS = [125, 250, 375, 500, 625, 750, 875]
NORMAL = NormalDist()


def quantile(theta, z):
    """Of the law, at the probability of which a standard normal variate has the quantile z."""
    skewed = 1 + 0.8 * math.tanh(theta["g"] * z / 2)
    return theta["A"] + theta["B"] * skewed * (1 + z * z) ** theta["k"] * z


def simulate(theta, seed):
    # Gaps between sorted uniform variates are as gamma variates over their sum: eight of them do for a thousand draws.
    draw, sums, total = random.Random(seed), [], 0.0
    for low, high in zip([0, *RANKS], [*RANKS, DRAWS + 1]):
        total += draw.gammavariate(high - low, 1)
        sums.append(total)
    return [quantile(theta, NORMAL.inv_cdf(part / total)) for part in sums[:-1]]


if __name__ == "__main__":
    from counterpoise_serve import serve

    serve(simulate, [f"octile{i}" for i in range(1, 8)])
