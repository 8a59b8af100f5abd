"""Pictures of a run, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks

if TYPE_CHECKING:
    from ._result import Run

#: Bars of a picture of weights, and statistics of a picture of predictions, at the most.
_BARS = 40
#: All predictions together may span so many widths of the narrowest before each is drawn in a unit of its own.
_UNEVEN = 30


def _axes(axes: Any, count: int, width: float = 4.0) -> Any:
    plt = _checks.needed("matplotlib.pyplot", "plots")
    if axes is None:
        _, axes = plt.subplots(1, count, figsize=(width * count, 3.0), squeeze=False, layout="constrained")
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(axes) < count:
        raise ValueError(f"`axes` must be {count} axes, found {len(axes)}")
    return axes


def plot_posterior(run: Run, axes: Any = None) -> Any:
    """Weighted histograms of the parameters."""
    posterior, summary = run.posterior, run.summary()["parameters"]
    weights, _ = run._beside(posterior)
    axes = _axes(axes, len(run.parameters))
    for axis, name in zip(axes, run.parameters, strict=False):
        values = posterior[name]
        low, high = values.min(), values.max()
        # Within a factor of ten a logarithmic axis would have hardly a number on it.
        log = summary[name].get("scale") == "log" and high > 10 * low
        axis.hist(values, bins=np.geomspace(low, high, 31) if log else 30, weights=weights, color="0.6")
        if log:
            axis.set_xscale("log")
        axis.set(xlabel=name, ylabel="probability")
    return axes


def plot_weights(run: Run, axes: Any = None) -> Any:
    """Bars of how much each statistic counts, the heaviest first."""
    axes = _axes(axes, 1, 7.0)
    shares, called = run._heaviest()
    names = list(shares)[:_BARS]
    axes[0].bar(range(len(names)), [shares[name] for name in names], color="0.6")
    axes[0].set_xticks(range(len(names)), names, rotation=90, fontsize="small")
    axes[0].set_ylabel(f"{called} (%)")
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
        axis.xaxis.get_major_locator().set_params(integer=True)
    return axes


def plot_predictive(run: Run, axes: Any = None) -> Any:
    """Quantiles of what the posterior's particles predict, beside what was observed."""
    axes = _axes(axes, 1, 7.0)
    predicted, observed = run.predictive(), run.observed
    weights, _ = run._beside(run.posterior)
    names = list(observed)[:_BARS]
    # Quantiles at 5, 25, 50, 75 and 95 %, and the observed value.
    rows = np.array([[*_quantiles(predicted[name], weights), observed[name]] for name in names])
    label = "value"
    widths = rows[:, 4] - rows[:, 0]
    if rows.max() - rows.min() > _UNEVEN * min(widths[widths > 0], default=np.inf):
        scale = np.where(widths > 0, widths / 2, 1.0)
        rows = (rows - rows[:, 2:3]) / scale[:, None]
        label = "half-widths from the median"
    keys = ("whislo", "q1", "med", "q3", "whishi")
    boxes = [dict(zip(keys, row[:5], strict=True)) for row in rows]
    axes[0].bxp(boxes, showfliers=False)
    axes[0].plot(range(1, len(names) + 1), rows[:, 5], "x", color="C3", label="observed")
    axes[0].set_xticks(range(1, len(names) + 1), names, rotation=90, fontsize="small")
    axes[0].set_ylabel(label)
    if len(names) < len(observed):
        axes[0].set_xlabel(f"the first {len(names)} of {len(observed)} statistics")
    axes[0].legend()
    return axes


def _quantiles(values: Any, weights: Any) -> Any:
    order = np.argsort(values, kind="stable")
    levels = np.cumsum(weights[order]) / np.sum(weights)
    places = np.searchsorted(levels, (0.05, 0.25, 0.5, 0.75, 0.95))
    return values[order][np.minimum(places, len(values) - 1)]
