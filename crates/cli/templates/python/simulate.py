"""A culture grows until the dish is full, and is counted eight times with an error of about a tenth."""

import math
import random

from counterpoise_serve import serve

TIMES = [2, 4, 6, 8, 10, 12, 14, 16]


def simulate(theta, seed):
    noise = random.Random(seed)
    rate, capacity = theta["rate"], theta["capacity"]
    grown = [capacity / (1 + (capacity / 5 - 1) * math.exp(-rate * time)) for time in TIMES]
    return [cells * math.exp(noise.gauss(0, 0.1)) for cells in grown]


serve(simulate, [f"cells@{time}" for time in TIMES])
