"""What came of a run."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _checks, _native
from ._frame import Frame

#: Statistics that are shown in a few lines, and figures of each parameter.
_HEAVIEST = 10
_KEYS = ("mean", "sd", "median", "q05", "q95")


class Run:
    """A run, finished or stopped: its posterior, weights, history, and the ways to look at them.

    >>> import counterpoise as cp
    >>> network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2])
    >>> run = cp.run(network, {"k": cp.LogUniform(0.01, 10)}, [45, 41], simulations=500, generations=2, seed=1)
    >>> run
    <counterpoise.Run: network, 2 generations, finished, in memory>
    >>> 0.05 < run.summary()["parameters"]["k"]["median"] < 0.2
    True
    >>> len(run.sample(100)["k"]), [step["generation"] for step in run.generations]
    (100, [0, 1])
    """

    def __init__(self, native: _native.Outcome) -> None:
        self._native = native
        self._posterior: Frame | None = None
        self._summary: dict[str, Any] = json.loads(native.summary) or {}
        self._description: dict[str, Any] = json.loads(native.description) or {}

    @property
    def posterior(self) -> Frame:
        """Parameters, importance_weight, distance; simulated as `row` of `simulations(generation)`."""
        if self._posterior is None:
            self._posterior = Frame(self._native.posterior())
        return self._posterior

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
        return list(self._description["parameters"])

    @property
    def observed(self) -> dict[str, float]:
        """The observed statistics."""
        return dict(self._description["observed"])

    @property
    def distance_weights(self) -> dict[str, float]:
        """Weights of what the last generation's distance compares: the statistics, or features made of them."""
        return dict(self._summary.get("distance_weights", {}))

    @property
    def influence(self) -> dict[str, float]:
        """How much each statistic counts for the posterior, by itself or within features; shares of one.

        Where a regression moves what was accepted: how far the means of the posterior would move, by a linear
        regression, if this statistic alone were another simulation's. Elsewhere: how far the data would, by the
        distance. Empty for runs of versions that did not tell.
        """
        return dict(self._summary.get("influence", {}))

    @property
    def generations(self) -> list[dict[str, Any]]:
        """One dict a generation: simulations, failed, kept, ess, threshold, information."""
        return list(self._summary.get("history", []))

    @property
    def warnings(self) -> list[str]:
        """What to worry about, in words."""
        return list(self._summary.get("warnings", []))

    @property
    def finished(self) -> bool:
        """Whether it came to its end; otherwise the same call goes on, if it is in a directory."""
        return bool(self._summary.get("finished"))

    @property
    def stopped(self) -> str | None:
        """Why it stopped before its end, if it did."""
        return self._native.stopped

    @property
    def directory(self) -> Path | None:
        """Where it is kept; None in memory."""
        directory = self._native.directory
        return None if directory is None else Path(directory)

    def summary(self) -> dict[str, Any]:
        """What `counterpoise show --json` prints."""
        return dict(self._summary)

    def description(self) -> dict[str, Any]:
        """Everything that determines the result: problem, method, seed, version."""
        return dict(self._description)

    def population(self, generation: int = -1) -> Frame:
        """Kept particles of a generation, before any adjustment; simulated as `row` of `simulations(generation)`."""
        return Frame(self._native.population(self._generation(generation)))

    def predictive(self, generation: int = -1) -> Frame:
        """Statistics of the particles of a generation's posterior, in its order: of `posterior`, for the last."""
        return Frame(self._native.predictive(self._generation(generation)))

    def prior(self) -> Frame:
        """The first draws from the prior, at most a thousand; those that failed are left out."""
        return Frame(self._native.prior(False))

    def prior_predictive(self) -> Frame:
        """Statistics of these draws."""
        return Frame(self._native.prior(True))

    def simulations(self, generation: int = -1) -> Frame:
        """Every simulation of a generation, with its parameters and its outcome; only of a run in a directory."""
        return Frame(self._native.simulations(self._generation(generation)))

    def sample(self, draws: int | None = None, seed: int = 1) -> dict[str, NDArray[np.float64]]:
        """Draws of equal weight from the posterior, by systematic resampling."""
        posterior = self.posterior
        chosen = self._resampled(self._beside(posterior)[0], draws, seed)
        return {name: posterior[name][chosen] for name in self.parameters}

    def _beside(self, posterior: Frame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Importance weights and distances: by their place, for a parameter may have such a name itself."""
        first = len(self.parameters)
        return posterior[posterior.columns[first]], posterior[posterior.columns[first + 1]]

    def _heaviest(self) -> tuple[dict[str, float], str]:
        """How much each statistic counts in percent, the heaviest first, and what that is called."""
        counts, called = self.influence, "influence"
        if not counts:
            # Runs of versions that did not tell.
            sd = self._summary.get("statistic_sd", {})
            counts = {name: weight * (sd.get(name) or 0) for name, weight in self.distance_weights.items() if weight}
            called = "share of the distance"
        total = sum(counts.values()) or 1.0
        ordered = sorted(counts.items(), key=lambda pair: -pair[1])
        return {name: 100 * count / total for name, count in ordered}, called

    def _generation(self, generation: Any) -> int:
        count = self._native.count
        is_whole = isinstance(generation, (int, np.integer)) and not isinstance(generation, bool)
        if not is_whole or not -count <= generation < count:
            expected = f"`generation` must be one of the {count} that are finished, from 0 or, from the last, from -1"
            raise ValueError(f"{expected}: found {generation!r}")
        return int(generation)

    def _resampled(self, weights: NDArray[np.float64], draws: int | None, seed: int) -> NDArray[np.int64]:
        count = len(weights) if draws is None else _checks.whole("draws", draws)
        seed = _checks.seed(seed)
        levels = (np.arange(count) + np.random.default_rng(seed).uniform()) / count
        chosen = np.searchsorted(np.cumsum(weights) / np.sum(weights), levels)
        return np.minimum(chosen, len(weights) - 1)

    def to_arviz(self, draws: int | None = None, seed: int = 1) -> Any:
        """An InferenceData of ArviZ 0.x, or a DataTree of ArviZ 1.x; see docs/python.md for its groups."""
        from ._arviz import to_arviz

        return to_arviz(self, draws, seed)

    def plot_posterior(self, axes: Any = None) -> Any:
        """Weighted histograms of the parameters; needs matplotlib."""
        from ._plots import plot_posterior

        return plot_posterior(self, axes)

    def plot_weights(self, axes: Any = None) -> Any:
        """Bars of how much each statistic counts, the heaviest first; needs matplotlib."""
        from ._plots import plot_weights

        return plot_weights(self, axes)

    def plot_history(self, axes: Any = None) -> Any:
        """Effective sample size, threshold and information by generation; needs matplotlib."""
        from ._plots import plot_history

        return plot_history(self, axes)

    def plot_predictive(self, axes: Any = None) -> Any:
        """What the kept particles predict, beside what was observed; needs matplotlib."""
        from ._plots import plot_predictive

        return plot_predictive(self, axes)

    def report(self, path: str | os.PathLike[str] = "report.html", *, overwrite: bool = False) -> Path:
        """Write one self-contained HTML page with pictures; an existing file only with `overwrite`."""
        out = _checks.path("path", path)
        if os.path.exists(out) and not overwrite:
            raise ValueError(f"`path` must be a new file, and {out} exists already: overwrite=True writes over it")
        self._native.report(out)
        return Path(path)

    def __repr__(self) -> str:
        state = "finished" if self.finished else "stopped"
        where = "memory" if self.directory is None else str(self.directory)
        name, done = self._summary.get("problem"), self._summary.get("generations")
        plural = "" if done == 1 else "s"
        return f"<counterpoise.Run: {name}, {done} generation{plural}, {state}, in {where}>"

    def __str__(self) -> str:
        lines = [repr(self)[1:-1]]
        if parameters := self._summary.get("parameters", {}):
            rows = [("parameter", *_KEYS)]
            rows += [(name, *(_figure(numbers.get(key)) for key in _KEYS)) for name, numbers in parameters.items()]
            wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for name, *figures in rows:
                cells = (f"{figure:>{width}}" for figure, width in zip(figures, wide[1:], strict=True))
                lines.append("  ".join([f"{name:<{wide[0]}}", *cells]))
        shares, called = self._heaviest()
        weighed = [(name, share) for name, share in shares.items() if share > 0][:_HEAVIEST]
        if weighed:
            lines.append(f"{called}: " + ", ".join(f"{name} {share:.3g} %" for name, share in weighed))
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{key}</th>" for key in ("parameter", *_KEYS))
        body = ""
        for name, numbers in self._summary.get("parameters", {}).items():
            cells = "".join(f"<td>{_figure(numbers.get(key))}</td>" for key in _KEYS)
            body += f"<tr><td>{html.escape(name)}</td>{cells}</tr>"
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        labels = {"simulations": "simulations", "failed": "failed", "kept": "kept", "ess": "effective sample size"}
        figures = (f"{label} {_figure(self._summary.get(key))}" for key, label in labels.items())
        shares, called = self._heaviest()
        weighed = [(name, share) for name, share in shares.items() if share > 0][:_HEAVIEST]
        heaviest = ", ".join(f"{html.escape(name)} {share:.3g} %" for name, share in weighed)
        heaviest = f"<p>heaviest statistics, {called}: {heaviest}</p>" if heaviest else ""
        notes = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings)
        notes = f"<p>to worry about:</p><ul>{notes}</ul>" if notes else ""
        title = html.escape(repr(self)[1:-1])
        return f"<p>{title}</p>{table}<p>{', '.join(figures)}</p>{heaviest}{notes}"


def _figure(value: Any) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.4g}"
