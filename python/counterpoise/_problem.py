"""From arguments to a problem that the engine reads: names and tables mean what they mean in a problem file."""

from __future__ import annotations

import inspect
import json
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _checks, _native, _toml
from ._models import Table, _Simulated
from ._priors import Integer, Joint, Law
from ._simulators import Batch, BatchFunction, Native, Plain, real

#: Ends of files that are no problem files, and what to give in their place.
_NO_PROBLEMS = {
    ".py": "give its function itself",
    ".csv": "cp.Table takes simulations",
    ".parquet": "cp.Table takes simulations",
    ".xml": "cp.Sbml takes models",
    ".sbml": "cp.Sbml takes models",
}
#: Draws from the prior at which a function is tried for the names of its statistics.
_TRIALS = 10


class Question:
    """A problem, and the Python simulator in it, if there is one."""

    def __init__(
        self,
        simulator: Any,
        parameters: Any,
        observed: Any,
        *,
        statistics: Sequence[str] | None,
        name: str | None,
        method: Mapping[str, Any],
        stop: Mapping[str, Any] | None,
        max_failures: float,
        truth: Mapping[str, float] | None = None,
        needs_observed: bool = True,
    ) -> None:
        self.method = {key: value for key, value in method.items() if value is not None}
        if "seed" in self.method:
            self.method["seed"] = _checks.seed(self.method["seed"])
        self.work: Plain | Batch | None = None
        self.path, self.text, self.directory = "", "", os.getcwd()
        self.set: list[str] = []
        self._plan: tuple[int | None, int | None] | None = None
        if stop is not None and not isinstance(stop, Mapping):
            raise TypeError(f"`stop` must be a dict of limits, found {type(stop).__name__}")
        if isinstance(simulator, (str, os.PathLike)):
            self._file(_checks.path("simulator", simulator), parameters, observed, statistics, name, stop, truth)
            return
        if not isinstance(simulator, (_Simulated, Table)):
            _check_function(simulator)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be text, found {type(name).__name__}")
        self.name = name or _name(simulator)
        laws, whole, joint = _laws(parameters)
        document: dict[str, Any] = {"name": self.name, "parameters": laws}
        if isinstance(simulator, (_Simulated, Table)):
            document["model"] = simulator.table()
        values = _observed(observed, statistics)
        if values is None and truth is None:
            if needs_observed:
                raise TypeError("`observed` must be the observed statistics, found None")
            values = {}
        if isinstance(simulator, (_Simulated, Table)):
            values = _renamed(values, observed, statistics, lambda: simulator.statistics(list(laws)))
        else:
            values = self._function(simulator, list(laws), whole, values, joint, laws)
        document["observed"] = {"truth": dict(truth)} if truth is not None else {"values": values}
        document["method"] = self.method or None
        document["stop"] = dict(stop) if stop else None
        self.text = _toml.text(document)
        law = None if joint is None else (joint, joint.identity())
        model = None
        if self.work is not None:
            share = _share(max_failures)
            identity = json.dumps(self.work.identity())
            kind = "batches" if isinstance(self.work, Batch) else "one by one"
            headline = f"the Python function {self.name}, {kind}"
            model = (list(self.work.statistics), self.work, self.work.unit, identity, headline, share)
        self.native = _native.Problem(self.text, self.directory, model, law)

    def _file(
        self, path: str, parameters: Any, observed: Any, statistics: Any, name: Any, stop: Any, truth: Any
    ) -> None:
        given = {"parameters": parameters, "observed": observed, "statistics": statistics, "name": name, "truth": truth}
        end = os.path.splitext(path)[1].lower()
        if end in _NO_PROBLEMS:
            expected = f"`simulator` must be the path of a problem file (.toml), found {path}"
            raise ValueError(f"{expected}: {_NO_PROBLEMS[end]}")
        for argument, value in given.items():
            if value is not None:
                raise ValueError(f"`{argument}` stands in the problem file and must not be given beside it")
        keys = {**{f"method.{key}": value for key, value in self.method.items()}}
        keys |= {f"stop.{key}": value for key, value in (stop or {}).items()}
        self.path = path
        self.set = [f"{key}={_toml.value(value, key)}" for key, value in keys.items()]
        self.name = os.path.basename(path)
        self.native = _native.Problem.file(self.path, self.set)

    def _function(
        self,
        function: Any,
        parameters: list[str],
        whole: list[str],
        values: dict[str, float] | None,
        joint: Joint | None,
        laws: Mapping[str, Any],
    ) -> dict[str, float]:
        if not values:
            values = _tried(function, parameters, whole, joint, laws)
        names = list(values)
        if isinstance(function, BatchFunction):
            self.work = Batch(function, parameters, names)
        else:
            self.work = Plain(function, parameters, names, whole)
        return values

    def plan(self) -> tuple[int | None, int | None]:
        """Tell the simulations of a generation and the number of generations, as the problem has them."""
        if self._plan is None:
            method = json.loads(self.native.description).get("method", {})
            self._plan = method.get("simulations"), method.get("generations")
        return self._plan

    def remote(self) -> Any:
        """What a worker elsewhere calls: the function, or the engine's own simulator with the problem."""
        if self.work is not None:
            return self.work
        return Native(self.text, self.directory, self.path, self.set, self.native.description)


def _check_function(simulator: Any) -> None:
    if not callable(simulator):
        message = "a function, cp.batch(f), cp.Network, cp.Sbml, cp.Table or the path of a problem file"
        raise TypeError(f"`simulator` must be {message}, found {type(simulator).__name__}")
    is_batch = isinstance(simulator, BatchFunction)
    try:
        signature = inspect.signature(simulator.function if is_batch else simulator)
    except (TypeError, ValueError):
        return  # Functions of other languages may not tell.
    try:
        signature.bind(None, None)
    except TypeError as error:
        expected = "(thetas, seeds)" if is_batch else "(theta, seed)"
        raise TypeError(f"`simulator` must be a function of {expected}: {error}") from None


def _name(simulator: Any) -> str:
    function = getattr(simulator, "function", simulator)
    return str(getattr(function, "__name__", type(simulator).__name__.lower()))


def _laws(parameters: Any) -> tuple[dict[str, Any], list[str], Joint | None]:
    if parameters is None:
        raise TypeError("`parameters` must be a dict of laws, found None")
    if not isinstance(parameters, Mapping):
        joint = Joint.of(parameters)
        return joint.frame(), [], joint
    if not parameters:
        raise ValueError("`parameters` must have at least one parameter")
    laws, whole = {}, []
    for name, law in parameters.items():
        if not isinstance(name, str):
            raise TypeError(f"`parameters` must have names as its keys, found {name!r}")
        if isinstance(law, Law):
            laws[name] = law.table()
        elif isinstance(law, Mapping):
            laws[name] = dict(law)
        else:
            raise TypeError(f"`parameters` must have laws as its values, such as cp.Uniform(0, 1): {name!r} is {law!r}")
        if isinstance(law, Integer) or laws[name].get("law") == "integer":
            whole.append(name)
    return laws, whole, None


def _observed(observed: Any, statistics: Sequence[str] | None) -> dict[str, float] | None:
    if observed is None:
        if statistics is not None:
            return dict.fromkeys(_checks.names("statistics", statistics), 0.0)
        return None
    if hasattr(observed, "to_dict") and not isinstance(observed, Mapping):
        observed = observed.to_dict()
    if isinstance(observed, Mapping):
        if statistics is not None:
            raise ValueError("`statistics` are named by `observed` already")
        pairs = dict(zip(_checks.names("observed", observed), observed.values(), strict=True))
    else:
        try:
            if np.iscomplexobj(observed):
                raise TypeError
            array = np.atleast_1d(np.asarray(observed, dtype=np.float64))
        except (TypeError, ValueError):
            raise TypeError(f"`observed` must be a dict or numbers, found {type(observed).__name__}") from None
        if array.ndim != 1:
            raise ValueError(f"`observed` must be one row of numbers, found shape {array.shape}")
        numbered = [f"s{at + 1}" for at in range(len(array))]
        names = numbered if statistics is None else _checks.names("statistics", statistics)
        if len(names) != len(array):
            raise ValueError(f"`statistics` must name the {len(array)} observed numbers, found {len(names)} names")
        pairs = dict(zip(names, array, strict=True))
    if not pairs:
        raise ValueError("`observed` must have at least one statistic")
    values = {}
    for name, value in pairs.items():
        if isinstance(value, Mapping) and len(value) == 1:
            # A dataframe of one row.
            (value,) = value.values()
        try:
            if np.iscomplexobj(value):
                raise TypeError
            values[name] = float(value)
        except OverflowError:
            values[name] = np.inf
        except (TypeError, ValueError):
            raise TypeError(f"`observed` must have numbers as its values: {name!r} is {value!r}") from None
        if not np.isfinite(values[name]):
            raise ValueError(f"`observed` must have finite numbers as its values: {name!r} is {value!r}")
    return values


def _renamed(
    values: dict[str, float] | None,
    observed: Any,
    statistics: Sequence[str] | None,
    names: Callable[[], list[str]],
) -> dict[str, float] | None:
    """Numbers without names take those of the model."""
    if values is None:
        return values
    if not values:
        return dict.fromkeys(names(), 0.0)
    if statistics is not None or isinstance(observed, Mapping) or hasattr(observed, "to_dict"):
        return values
    known = names()
    if len(known) != len(values):
        raise ValueError(f"`observed` must have {len(known)} numbers for {known[:5]}..., found {len(values)}")
    return dict(zip(known, values.values(), strict=True))


def _tried(
    function: Any, parameters: list[str], whole: list[str], joint: Joint | None, laws: Mapping[str, Any]
) -> dict[str, float]:
    """Try a function for the names of its statistics."""
    if joint is None:
        text = _toml.text({"name": "trial", "parameters": laws})
        thetas = _native.Problem(text, ".", (["s"], function, 1, "{}", "", 1.0)).draw(_TRIALS, 0)
    else:
        thetas = np.array([joint.draw(1 + seed) for seed in range(_TRIALS)])
    last: Exception | None = None
    for seed, theta in enumerate(thetas, start=1):
        try:
            if isinstance(function, BatchFunction):
                result = function(theta[None, :], np.array([seed]))
                if not isinstance(result, Mapping):
                    result = np.atleast_1d(real(result))[0]
            else:
                named: dict[str, Any] = dict(zip(parameters, theta.tolist(), strict=True))
                result = function({**named, **{name: int(named[name]) for name in whole}}, seed)
                if not isinstance(result, Mapping):
                    result = real(result)
        except Exception as error:
            last = error
            continue
        if isinstance(result, Mapping):
            found = _checks.names("simulator", result)
        else:
            found = [f"s{at + 1}" for at in range(np.size(result))]
        if not found:
            raise ValueError("`simulator` must give at least one statistic, found none")
        return dict.fromkeys(found, 0.0)
    raise ValueError(f"`simulator` failed at {_TRIALS} draws from the prior: {last!r}") from last


def _share(share: Any) -> float:
    if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0 <= float(share) <= 1:
        raise ValueError(f"`max_failures` must be a share between 0 and 1, found {share!r}")
    return float(share)
