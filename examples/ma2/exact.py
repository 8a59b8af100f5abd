"""The exact posterior, given all of series.csv, by quadrature over the triangle: means and deviations as JSON.

The series is normal with a covariance that is zero beyond two steps, so its density takes one pass over the series.
"""

import json
import math
import os

STEP = 0.03


def ln_likelihood(a, b, seen):
    """By the rows of the Cholesky factor of the covariance, which has two entries beside the diagonal."""
    zero, one, two = 1 + a * a + b * b, a + a * b, b
    total = diagonal = before = 0.0
    side = residual = earlier = 0.0
    for at, value in enumerate(seen):
        far = two / before if at > 1 else 0.0
        near = (one - far * side) / diagonal if at > 0 else 0.0
        before, diagonal = diagonal, math.sqrt(zero - near * near - far * far)
        residual, earlier = (value - near * residual - far * earlier) / diagonal, residual
        side = near
        total -= math.log(diagonal) + residual * residual / 2
    return total


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "series.csv")) as file:
        seen = [float(line) for line in file.readlines()[1:]]
    cells = []
    for i in range(int(4 / STEP)):
        for j in range(int(2 / STEP)):
            a, b = -2 + (i + 0.5) * STEP, -1 + (j + 0.5) * STEP
            if b < 1 and a + b > -1 and a - b < 1:
                cells.append((ln_likelihood(a, b, seen), (a, b)))
    top = max(ln for ln, _ in cells)
    cells = [(math.exp(ln - top), point) for ln, point in cells]
    mass = sum(weight for weight, _ in cells)
    found = {}
    for at, name in enumerate(["theta1", "theta2"]):
        mean = sum(weight * point[at] for weight, point in cells) / mass
        square = sum(weight * (point[at] - mean) ** 2 for weight, point in cells) / mass
        found[name] = {"mean": mean, "sd": math.sqrt(square)}
    print(json.dumps(found))
