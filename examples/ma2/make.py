"""Makes the data: series.csv, and its summaries in observed.csv."""

from simulate import LAGS, series, summaries

seen = series({"theta1": 0.6, "theta2": 0.2}, 2026)
with open("series.csv", "w") as file:
    file.write("value\n" + "".join(f"{value:.6f}\n" for value in seen))
seen = [float(f"{value:.6f}") for value in seen]
with open("observed.csv", "w") as file:
    file.write(",".join(f"cov{lag}" for lag in LAGS) + "\n")
    file.write(",".join(f"{value:.8f}" for value in summaries(seen)) + "\n")
