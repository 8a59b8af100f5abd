"""Makes simulations.csv.gz and observed.csv: readings of an unknown mu, and a column that has nothing to do with it."""

import gzip
import random

draw = random.Random(2026)


def simulate(mu):
    """The mean of nine readings, one more reading, and noise; each reading has a deviation of one."""
    return [draw.gauss(mu, 1 / 3), draw.gauss(mu, 1), draw.uniform(0, 1000)]


def line(values):
    return ",".join(f"{value:.8f}" for value in values) + "\n"


with gzip.GzipFile("simulations.csv.gz", "w", mtime=0) as file:
    file.write(b"mu,mean,reading,humidity\n")
    for _ in range(4000):
        mu = draw.gauss(0, 3)
        file.write(line([mu, *simulate(mu)]).encode())
with open("observed.csv", "w") as file:
    file.write("mean,reading,humidity\n" + line(simulate(2.0)))
