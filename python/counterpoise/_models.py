"""Models that the engine simulates or reads itself: reaction networks, SBML files, tables of simulations."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, _native, _toml


class _Simulated:
    """A model that the engine simulates."""

    kind = ""

    def __init__(self, **keys: Any) -> None:
        self._keys = {key: value for key, value in keys.items() if value is not None}
        # What no problem file can say is told at once, and not with the first simulation.
        _toml.text({"model": self.table()})
        self._ready: dict[tuple[str, ...], _native.Problem] = {}

    def table(self) -> dict[str, Any]:
        """As it stands in a problem file."""
        return {self.kind: self._keys}

    def __repr__(self) -> str:
        lines = [line.strip() for line in str(self._keys.get("reactions", self._keys.get("file"))).splitlines()]
        return f"<counterpoise.{type(self).__name__}: {'; '.join(line for line in lines if line)}>"

    def _problem(self, names: tuple[str, ...]) -> _native.Problem:
        if names not in self._ready:
            # The law is of no use here: parameters are given.
            laws = {name: {"law": "uniform", "low": 0, "high": 1} for name in names}
            text = _toml.text({"name": self.kind, "parameters": laws, "model": self.table()})
            problem = _native.Problem(text, os.getcwd())
            _ = problem.statistics
            self._ready[names] = problem
        return self._ready[names]

    def statistics(self, parameters: Sequence[str]) -> list[str]:
        """Names of the statistics, `A@1` for the observable A at time 1, for parameters of these names."""
        return self._problem(tuple(_checks.names("parameters", parameters))).statistics

    def simulate(
        self, theta: Mapping[str, ArrayLike], n: int | None = None, *, seed: int = 1, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Simulate: an array with a row a simulation and a column a statistic.

        Values of `theta` are numbers, or arrays with one number a simulation. A simulation that fails is a row of
        NaN, with a warning.
        """
        if not isinstance(theta, Mapping):
            raise TypeError(f"`theta` must be a dict of parameters, found {type(theta).__name__}")
        if not theta:
            raise ValueError("`theta` must have at least one parameter")
        try:
            columns = [np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in theta.values()]
        except (TypeError, ValueError) as error:
            raise TypeError(f"`theta` must have numbers as its values: {error}") from None
        count = max(map(len, columns)) if n is None else _checks.whole("n", n)
        if threads is not None:
            threads = _checks.whole("threads", threads, most=_checks.MOST_WORKERS)
        if any(column.ndim != 1 or len(column) not in (1, count) for column in columns):
            raise ValueError(f"`theta` must have one value or {count} values for each parameter")
        thetas = np.column_stack([np.broadcast_to(column, count) for column in columns])
        if not np.isfinite(thetas).all():
            raise ValueError("`theta` must have finite numbers as its values")
        problem = self._problem(tuple(map(str, theta)))
        rows = np.arange(count, dtype=np.int64)
        summaries, failures = problem.simulate(thetas, rows, 0, _checks.seed(seed), threads)
        if failures:
            at, why = failures[0]
            warnings.warn(f"{len(failures)} of {count} simulations failed; for example row {at}: {why}", stacklevel=2)
        return summaries


class Network(_Simulated):
    """A reaction network, simulated exactly.

    The arguments are the keys of `[model.network]` in a problem file. Everything that is no species, rule or constant
    is a parameter.

    >>> network = Network("A -> 0 @ k", initial={"A": 10}, times=[1, 2], observe=["A"])
    >>> network.simulate({"k": 0.1}, n=1000, seed=1).shape
    (1000, 2)
    """

    kind = "network"

    def __init__(
        self,
        reactions: str,
        *,
        initial: Mapping[str, float | str] | None = None,
        times: Any,
        observe: Sequence[str] | None = None,
        constants: Mapping[str, float] | None = None,
        rules: Mapping[str, str] | None = None,
        mass_action: str | None = None,
        noise: Mapping[str, Any] | None = None,
        simulator: Any = None,
        max_events: int | None = None,
    ) -> None:
        if not isinstance(reactions, str):
            raise TypeError(f"`reactions` must be text, found {type(reactions).__name__}")
        super().__init__(
            reactions=reactions,
            initial=initial,
            times=times,
            observe=observe,
            constants=constants,
            rules=rules,
            mass_action=mass_action,
            noise=noise,
            simulator=simulator,
            max_events=max_events,
        )


class Sbml(_Simulated):
    """A model in an SBML file, simulated exactly; parameters are names in it that are given laws or values."""

    kind = "sbml"

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        times: Any,
        observe: Sequence[str] | None = None,
        noise: Mapping[str, Any] | None = None,
        simulator: Any = None,
        max_events: int | None = None,
    ) -> None:
        super().__init__(
            file=_checks.path("file", file),
            times=times,
            observe=observe,
            noise=noise,
            simulator=simulator,
            max_events=max_events,
        )


class Table:
    """Simulations that exist already: a dataframe, a dict of arrays, or a `.csv`, `.csv.gz` or `.parquet` file.

    One row a simulation; parameters are found by name, and every other column is a statistic unless `statistics`
    lists some.

    >>> rng = np.random.default_rng(1)
    >>> k = rng.uniform(0, 1, 500)
    >>> table = Table({"k": k, "mean": k + rng.normal(0, 0.1, 500)})
    """

    def __init__(self, data: Any, statistics: Sequence[str] | None = None) -> None:
        self._statistics = None if statistics is None else _checks.names("statistics", statistics)
        if isinstance(data, (str, os.PathLike)):
            self._file = _checks.path("data", data)
            return
        names, columns = _columns(data)
        self._folder = tempfile.TemporaryDirectory(prefix="counterpoise-")
        self._file = os.path.join(self._folder.name, "table.parquet")
        _native.write_table(self._file, names, np.column_stack(columns))

    def table(self) -> dict[str, Any]:
        """As it stands in a problem file."""
        return {"table": {"file": self._file, "statistics": self._statistics}}

    def statistics(self, parameters: Sequence[str]) -> list[str]:
        """Names of the statistics, for parameters of these names."""
        laws = {name: {"law": "uniform", "low": 0, "high": 1} for name in _checks.names("parameters", parameters)}
        text = _toml.text({"name": "table", "parameters": laws, "model": self.table()})
        return _native.Problem(text, os.getcwd()).statistics

    def __repr__(self) -> str:
        return f"<counterpoise.Table: {self._file}>"


def _columns(data: Any) -> tuple[list[str], list[NDArray[np.float64]]]:
    names = data.keys() if isinstance(data, Mapping) else getattr(data, "columns", getattr(data, "column_names", None))
    if names is None:
        raise TypeError(f"`data` must be a dataframe, a dict of arrays or a path, found {type(data).__name__}")
    named = _checks.names("data", names)
    if not named:
        raise ValueError("`data` must have at least one column")
    columns = []
    for name in names:
        try:
            columns.append(np.asarray(data[name], dtype=np.float64))
        except (TypeError, ValueError):
            message = f"`data` must have columns of numbers, and {name!r} holds something else: drop it"
            raise ValueError(message) from None
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise ValueError("`data` must have columns of one length")
    return named, columns
