"""The ten public tasks as problems of ours: priors, and simulators one row at a time."""
import sys
from pathlib import Path

import numpy as np

SHARED = Path(__file__).resolve().parents[3] / "shared" / "benchmarks"
sys.path.insert(0, str(SHARED / "code"))
import sbibm_tasks  # noqa: E402

NAMES = sbibm_tasks.ALL
UNIFORM = {"gaussian_linear_uniform": (-1, 1, 10), "gaussian_mixture": (-10, 10, 2), "two_moons": (-1, 1, 2),
           "slcp": (-3, 3, 5), "slcp_distractors": (-3, 3, 5)}
LOG_NORMAL = {"sir": ([np.log(0.4), np.log(0.125)], [0.5, 0.2]),
              "lotka_volterra": ([-0.125, -3, -0.125, -3], [0.5] * 4)}
# Data of these are those of another task, and so are the reference posteriors.
REFERENCE = {"bernoulli_glm_raw": "bernoulli_glm", "slcp_distractors": "slcp"}


def prior(task):
    """The lines of [parameters]."""
    if task in UNIFORM:
        low, high, count = UNIFORM[task]
        laws = [f'{{ law = "uniform", low = {low}, high = {high} }}'] * count
    elif task in LOG_NORMAL:
        laws = [f'{{ law = "log-normal", mean = {float(m)!r}, sd = {s!r} }}' for m, s in zip(*LOG_NORMAL[task])]
    else:
        laws = ['{ law = "normal", mean = 0, sd = 1 }'] * 10
    return "\n".join(f"p{j + 1} = {law}" for j, law in enumerate(laws))


def natural(task):
    """From our parameters, which are independent, to those of the task."""
    if task == "gaussian_linear":
        return lambda rows: rows * np.sqrt(0.1)
    if task.startswith("bernoulli"):
        _, precision = sbibm_tasks._glm()
        root = np.linalg.cholesky(np.linalg.inv(precision))
        return lambda rows: rows @ root.T
    return lambda rows: rows


def simulator(task):
    """A function of one row of parameters and a seed."""
    whole, convert = sbibm_tasks.get(task)["simulate"], natural(task)
    if task in ("sir", "lotka_volterra"):
        compile_integrator()
    return lambda row, seed: whole(np.random.default_rng(seed), convert(np.asarray(row)[None]))[0]


def compile_integrator():
    """The integrator of the tasks is vectorised over rows: one row at a time it needs a compiler."""
    import numba as nb

    @nb.njit(cache=True)
    def sir(t):
        out = np.empty((len(t), 10))
        for i in range(len(t)):
            s, x = 1e6 - 1, 1.0
            out[i, 0] = x
            for step in range(1530):
                a = np.empty((4, 2))
                u, v = s, x
                for k in range(4):
                    inf, rec = t[i, 0] * u * v / 1e6, t[i, 1] * v
                    a[k, 0], a[k, 1] = -inf, inf - rec
                    h = 0.1 if k == 2 else 0.05
                    u, v = s + h * a[k, 0], x + h * a[k, 1]
                s += 0.1 / 6 * (a[0, 0] + 2 * a[1, 0] + 2 * a[2, 0] + a[3, 0])
                x += 0.1 / 6 * (a[0, 1] + 2 * a[1, 1] + 2 * a[2, 1] + a[3, 1])
                if (step + 1) % 170 == 0:
                    out[i, (step + 1) // 170] = x
        return out

    @nb.njit(cache=True)
    def lotka_volterra(t):
        out = np.empty((len(t), 20))
        for i in range(len(t)):
            x, y = 30.0, 1.0
            out[i, 0], out[i, 10] = x, y
            for step in range(1890):
                a = np.empty((4, 2))
                u, v = x, y
                for k in range(4):
                    a[k, 0], a[k, 1] = t[i, 0] * u - t[i, 1] * u * v, -t[i, 2] * v + t[i, 3] * u * v
                    h = 0.01 if k == 2 else 0.005
                    u, v = x + h * a[k, 0], y + h * a[k, 1]
                x += 0.01 / 6 * (a[0, 0] + 2 * a[1, 0] + 2 * a[2, 0] + a[3, 0])
                y += 0.01 / 6 * (a[0, 1] + 2 * a[1, 1] + 2 * a[2, 1] + a[3, 1])
                if (step + 1) % 210 == 0:
                    out[i, (step + 1) // 210], out[i, 10 + (step + 1) // 210] = x, y
        return np.minimum(np.maximum(out, 1e-10), 1e4)

    sbibm_tasks.sir_mean, sbibm_tasks.lv_mean = sir, lotka_volterra
