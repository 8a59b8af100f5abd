"""A moving average of order two: what is seen is a shock and some of the two before it."""

import random

LENGTH = 100
LAGS = range(5)


def series(theta, seed):
    draw = random.Random(seed)
    shocks = [draw.gauss(0, 1) for _ in range(LENGTH + 2)]
    a, b = theta["theta1"], theta["theta2"]
    return [now + a * one + b * two for two, one, now in zip(shocks, shocks[1:], shocks[2:])]


def summaries(seen):
    """Mean products of values so many steps apart."""
    return [sum(x * y for x, y in zip(seen, seen[lag:])) / LENGTH for lag in LAGS]


def simulate(theta, seed):
    # Outside of this triangle other parameters inside make the same series: there the prior is zero.
    a, b = theta["theta1"], theta["theta2"]
    if not (b < 1 and a + b > -1 and a - b < 1):
        raise ValueError("outside of the triangle in which the parameters can be told")
    return summaries(series(theta, seed))


if __name__ == "__main__":
    from counterpoise_serve import serve

    serve(simulate, [f"cov{lag}" for lag in LAGS])
