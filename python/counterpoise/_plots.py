"""Pictures of a run, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._result import Run

#: Bars of a picture of weights, and statistics of a picture of predictions, at the most.
_BARS = 40


def _axes(axes: Any, count: int, width: float = 4.0) -> Any:
    import matplotlib.pyplot as plt

    if axes is None:
        _, axes = plt.subplots(1, count, figsize=(width * count, 3.0), squeeze=False, layout="constrained")
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(axes) < count:
        raise ValueError(f"`axes` must be {count} axes, found {len(axes)}")
    return axes


def plot_posterior(run: Run, axes: Any = None) -> Any:
    """Weighted histograms of the parameters."""
    posterior, summary = run.posterior, run.summary()["parameters"]
    axes = _axes(axes, len(run.parameters))
    for axis, name in zip(axes, run.parameters, strict=False):
        values, log = posterior[name], summary[name].get("scale") == "log"
        low, high = values.min(), values.max()
        spread = high > low
        edges = np.geomspace(low, high, 31) if log and spread else 30
        axis.hist(values, bins=edges, weights=posterior["importance_weight"], color="0.6")
        if log:
            axis.set_xscale("log")
        axis.set(xlabel=name, ylabel="probability")
    return axes


def plot_weights(run: Run, axes: Any = None) -> Any:
    """Bars of the distance weights, in units of each statistic's spread."""
    axes = _axes(axes, 1, 7.0)
    spread = run.summary().get("statistic_sd", {})
    sized = {name: (weight or 0.0) * (spread.get(name) or 0.0) for name, weight in run.distance_weights.items()}
    names = sorted(sized, key=lambda name: -sized[name])[:_BARS]
    axes[0].bar(range(len(names)), [sized[name] for name in names], color="0.6")
    axes[0].set_xticks(range(len(names)), names, rotation=90, fontsize="small")
    axes[0].set_ylabel("distance weight x sd")
    return axes


def plot_history(run: Run, axes: Any = None) -> Any:
    """Effective sample size, threshold and information by generation."""
    axes = _axes(axes, 3, 3.5)
    steps = run.generations
    index = [step["generation"] for step in steps]
    pick = {
        "effective sample size": [step["ess"] for step in steps],
        "threshold": [step["threshold"] for step in steps],
        "information, held out": [step["information"]["held_out"] for step in steps],
    }
    for axis, (label, values) in zip(axes, pick.items(), strict=False):
        axis.plot(index, values, "o-", color="0.3")
        axis.set(xlabel="generation", ylabel=label)
    return axes


def plot_predictive(run: Run, axes: Any = None) -> Any:
    """What the kept particles predict, beside what was observed."""
    axes = _axes(axes, 1, 7.0)
    predicted, observed = run.predictive(), run.observed
    names = list(observed)[:_BARS]
    axes[0].boxplot([predicted[name] for name in names], whis=(5, 95), showfliers=False)
    axes[0].plot(range(1, len(names) + 1), [observed[name] for name in names], "x", color="C3", label="observed")
    axes[0].set_xticks(range(1, len(names) + 1), names, rotation=90, fontsize="small")
    axes[0].legend()
    return axes
