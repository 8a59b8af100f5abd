"""The exact posterior of theta given the number of sites alone: mean and deviation of log10 theta as JSON.

The mutations while there are j lineages are geometric, so that the law of their sum is a convolution (Watterson 1975).
"""

import csv
import json
import math
import os

SEQUENCES = 20


def probability(theta, sites):
    law = [1.0] + [0.0] * sites
    for others in range(1, SEQUENCES):
        go = theta / (theta + others)
        # A geometric law is added by one pass: its generating function is (1 - go) / (1 - go x).
        for k in range(sites + 1):
            law[k] = (1 - go) * law[k] + (go * law[k - 1] if k else 0.0)
    return law[sites]


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "observed.csv")) as file:
        sites = int(next(csv.DictReader(file))["sites"])
    low, high, steps = math.log10(0.5), math.log10(100), 1000
    grid = [low + (high - low) * (i + 0.5) / steps for i in range(steps)]
    weights = [probability(10**at, sites) for at in grid]
    mean = sum(w * at for w, at in zip(weights, grid)) / sum(weights)
    square = sum(w * (at - mean) ** 2 for w, at in zip(weights, grid)) / sum(weights)
    print(json.dumps({"theta": {"log10_mean": mean, "log10_sd": math.sqrt(square)}}))
