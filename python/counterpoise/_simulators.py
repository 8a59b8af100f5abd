"""Python functions as simulators of many rows: what a worker calls."""

from __future__ import annotations

import contextlib
import importlib
import json
import operator
import struct
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from . import _checks, _native
from ._priors import fingerprint

#: Summaries of some rows, and which of these failed, why.
Answer: TypeAlias = "tuple[NDArray[np.float64], list[tuple[int, str]]]"

#: How messages begin about results that are not what was observed.
MUST_GIVE = "the simulator must give"
#: The last frames of a traceback that are kept with a failure, and its letters.
_FRAMES, _LETTERS = 4, 1500


@dataclass(frozen=True)
class BatchFunction:
    """A function of many rows at once; made by `batch`."""

    function: Callable[[NDArray[np.float64], NDArray[np.int64]], Any]
    size: int

    def __call__(self, thetas: NDArray[np.float64], seeds: NDArray[np.int64]) -> Any:
        """Call the function itself."""
        return self.function(thetas, seeds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel by name where a decorator has taken the function's name, which then means this object."""
        module, name = getattr(self.function, "__module__", None), _qualified(self.function)
        if module is not None and _named(module, name) is self:
            if module != "__main__":
                return _named, (module, name)
            # Elsewhere there may be another main module: the function goes itself, by this name or in other ways.
            with contextlib.suppress(AttributeError, TypeError):
                self.function.__qualname__ = f"{name}{_WITHIN}"
        return BatchFunction, (self.function, self.size)


#: Where a batch keeps its function.
_WITHIN = ".function"


def _qualified(function: Any) -> str:
    """Name a function as it was defined."""
    return str(getattr(function, "__qualname__", type(function).__qualname__)).removesuffix(_WITHIN)


def _named(module: str, name: str) -> Any:
    try:
        return operator.attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return None


@overload
def batch(function: Callable[..., Any], *, size: int = 1000) -> BatchFunction: ...


@overload
def batch(*, size: int = 1000) -> Callable[[Callable[..., Any]], BatchFunction]: ...


def batch(function: Any = None, *, size: int = 1000) -> Any:
    """Mark a function of arrays: `(n, d)` parameters and `(n,)` seeds in, `(n, statistics)` out.

    `size` rows are simulated in a call; the last rows of a generation may be fewer. Which rows come together never
    depends on workers, so a function may make one generator of all its seeds. A batch that a limit or an interrupt
    parts is simulated whole each time. It gives an array, or a dict of arrays by statistic. If it raises, each of its
    rows is simulated alone to find those to blame, with a warning.

    >>> @batch
    ... def simulate(thetas, seeds):
    ...     rng = np.random.default_rng(seeds)
    ...     return rng.normal(thetas[:, :1], 1.0, size=(len(seeds), 3))
    >>> simulate.size
    1000
    """
    if function is None:
        return lambda inner: batch(inner, size=size)
    if not callable(function):
        raise TypeError(f"`function` must be a function, found {type(function).__name__}")
    return BatchFunction(function, _checks.whole("size", size, most=2**31))


def explain(error: BaseException) -> str:
    """What was raised, and where in the user's code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    lines = [f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames[-_FRAMES:]]
    text = "\n  ".join([f"{type(error).__name__}: {_said(error)}", *lines])[:_LETTERS]
    # Names of files may have letters that no text has.
    return text.encode("utf-8", "backslashreplace").decode()


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "it cannot say what"


class Plain:
    """Calls `function(theta, seed)` for each row."""

    unit = 1

    def __init__(
        self, function: Callable[..., Any], parameters: Sequence[str], statistics: Sequence[str], whole: Sequence[str]
    ) -> None:
        self.function, self.parameters, self.statistics = function, tuple(parameters), tuple(statistics)
        self.whole = tuple(whole)
        self._pick = _picker(self.statistics)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.function, self.parameters, self.statistics, self.whole)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def identity(self) -> dict[str, Any]:
        """What tells this simulator from another."""
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return {"python": {"function": name, "source": fingerprint(self.function)}}

    def __call__(
        self, thetas: NDArray[np.float64], seeds: NDArray[np.int64], rows: object = None, generation: int = 0
    ) -> Answer:
        """Simulate some rows."""
        summaries = np.full((len(seeds), len(self.statistics)), np.nan)
        failures: list[tuple[int, str]] = []
        function, names, whole, pick = self.function, self.parameters, self.whole, self._pick
        # A tuple of floats goes into a row quicker this way than by assignment, which allows for anything.
        row = struct.Struct(f"{len(self.statistics)}d")
        fill, size, cells = row.pack_into, row.size, summaries.data.cast("B")
        for at, (numbers, seed) in enumerate(zip(thetas.tolist(), seeds.tolist(), strict=True)):
            theta = dict(zip(names, numbers, strict=True))
            for name in whole:
                theta[name] = int(theta[name])
            try:
                picked = pick(function(theta, seed))
                if type(picked) is tuple:
                    try:
                        fill(cells, at * size, *picked)
                        continue
                    except struct.error:
                        # Not all are floats.
                        picked = [_number(name, value) for name, value in zip(self.statistics, picked, strict=True)]
                summaries[at] = real(picked)
            except (Exception, SystemExit) as error:
                failures.append((at, explain(error)))
        return summaries, failures


class Batch:
    """Calls `function(thetas, seeds)` for rows that belong together."""

    def __init__(self, batch: BatchFunction, parameters: Sequence[str], statistics: Sequence[str]) -> None:
        self.batch, self.parameters, self.statistics = batch, tuple(parameters), tuple(statistics)
        self.unit = batch.size

    def identity(self) -> dict[str, Any]:
        """What tells this simulator from another."""
        function = self.batch.function
        return {"python": {"function": _qualified(function), "source": fingerprint(function), "batch": self.unit}}

    def __call__(
        self,
        thetas: NDArray[np.float64],
        seeds: NDArray[np.int64],
        rows: NDArray[np.int64] | None = None,
        generation: int = 0,
    ) -> Answer:
        """Simulate some rows."""
        if rows is None or len(rows) <= 1 or rows[0] // self.unit == rows[-1] // self.unit:
            return self._together(thetas, seeds)
        cuts = 1 + np.flatnonzero(np.diff(rows // self.unit))
        ends = [*cuts.tolist(), len(rows)]
        # Each part goes to its place as soon as it is there: all of them at once would take as much again.
        summaries = np.empty((len(rows), len(self.statistics)))
        failures: list[tuple[int, str]] = []
        for start, end in zip([0, *ends], ends, strict=False):
            summaries[start:end], some = self._together(thetas[start:end], seeds[start:end])
            failures.extend((start + at, why) for at, why in some)
        return summaries, failures

    def _together(self, thetas: NDArray[np.float64], seeds: NDArray[np.int64]) -> Answer:
        # The function gets the engine's own arrays and may write into them: what is tried again is another one.
        given = thetas.copy(), seeds.copy()
        summaries = np.full((len(seeds), len(self.statistics)), np.nan)
        failures: list[tuple[int, str]] = []
        try:
            return self._call(thetas, seeds), []
        except (Exception, SystemExit) as error:
            why = explain(error)
            if len(seeds) == 1 or _said(error).startswith(MUST_GIVE):
                # What it gives is no answer to any row.
                return summaries, [(at, why) for at in range(len(seeds))]
        # Some row is to blame: each alone.
        what = f"a batch of {len(seeds)} rows raised, and each is simulated alone to find those to blame"
        warnings.warn(f"{what}: {why.splitlines()[0]}", RuntimeWarning, stacklevel=2)
        thetas, seeds = given
        for at in range(len(seeds)):
            try:
                summaries[at] = self._call(thetas[at : at + 1], seeds[at : at + 1])[0]
            except (Exception, SystemExit) as error:
                failures.append((at, explain(error)))
        return summaries, failures

    def _call(self, thetas: NDArray[np.float64], seeds: NDArray[np.int64]) -> NDArray[np.float64]:
        result = self.batch.function(thetas, seeds)
        if isinstance(result, Mapping):
            _same_names(result, self.statistics)
            result = np.column_stack([_column(name, result[name], len(seeds)) for name in self.statistics])
        array = np.ascontiguousarray(real(result))
        if array.ndim == 1 and len(self.statistics) == 1:
            array = array[:, None]
        expected = (len(seeds), len(self.statistics))
        if array.shape != expected:
            raise ValueError(f"{MUST_GIVE} an array of shape {expected}, found {array.shape}")
        return array


class Native:
    """Simulates a problem of the engine's own, on whatever machine this is called."""

    unit = 1
    _known: dict[str, _native.Problem] = {}  # noqa: RUF012 - read once a process

    def __init__(self, text: str, directory: str, path: str, set: Sequence[str], description: str) -> None:
        self.text, self.directory, self.path, self.set = text, directory, path, tuple(set)
        self.description, self.seed = description, int(json.loads(description)["seed"])
        self.statistics = tuple(self.problem().statistics)

    def problem(self) -> _native.Problem:
        """Read the problem here."""
        if self.path:
            return _native.Problem.file(self.path, self.set)
        return _native.Problem(self.text, self.directory)

    def __call__(
        self, thetas: NDArray[np.float64], seeds: object, rows: NDArray[np.int64], generation: int = 0
    ) -> Answer:
        """Simulate some rows."""
        key = json.dumps([self.text, self.directory, self.path, self.set, self.description])
        problem = self._known.get(key)
        if problem is None:
            problem = self.problem()
            ours, theirs = json.loads(problem.description), json.loads(self.description)
            for part in ("version", "parameters", "model"):
                if ours.get(part) != theirs.get(part):
                    raise RuntimeError(f"this worker reads another problem: its {part} differs from the coordinator's")
            self._known.clear()
            self._known[key] = problem
        return problem.simulate(thetas, rows, generation, self.seed, 1)


def _same_names(result: Mapping[str, Any], names: Sequence[str]) -> None:
    if len(result) != len(names) or any(name not in result for name in names):
        missing = [name for name in names if name not in result]
        beyond = [name for name in result if name not in names]
        found = [f"the simulator does not give {missing[:5]}"] if missing else []
        found += [f"`observed` does not have {beyond[:5]}"] if beyond else []
        raise ValueError(f"{MUST_GIVE} the statistics of `observed`: {' and '.join(found)}")


def real(numbers: Any) -> NDArray[np.float64]:
    """Real numbers as an array, without a copy where they are one."""
    if numbers is None:
        raise TypeError(f"{MUST_GIVE} statistics, found None")
    array = np.asarray(numbers)
    if array.dtype.kind == "c":
        raise TypeError(f"{MUST_GIVE} real numbers, found complex ones")
    return np.asarray(array, dtype=np.float64)


def _column(name: str, values: Any, count: int) -> NDArray[np.float64]:
    """One statistic of a batch: a number a row."""
    try:
        array = real(values)
    except ValueError as error:
        raise ValueError(f"{MUST_GIVE} real numbers for {name!r}: {error}") from None
    if array.shape not in ((count,), (count, 1)) and (array.size, count) != (1, 1):
        raise ValueError(f"{MUST_GIVE} an array of shape {(count,)} for {name!r}, found {array.shape}")
    return array


def _number(name: str, value: Any) -> float:
    """One statistic: a number, or an array that holds nothing else."""
    try:
        array = real(value)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.size != 1:
        found = f"an array of shape {array.shape}" if array.size else f"{value!r:.80}"
        raise ValueError(f"{MUST_GIVE} one real number for {name!r}, found {found}")
    return float(array.reshape(()))


def _picker(names: Sequence[str]) -> Callable[[Any], Any]:
    """Turn what a plain function gives into numbers in the order of the names."""
    count, many = len(names), operator.itemgetter(*names)

    def pick(result: Any) -> Any:
        if isinstance(result, dict):
            if len(result) != count:
                _same_names(result, names)
            try:
                return many(result)
            except KeyError:
                _same_names(result, names)
        if isinstance(result, Mapping):
            _same_names(result, names)
            return [result[name] for name in names]
        array = real(result)
        if array.shape != (count,) and not (array.ndim == 0 and count == 1):
            expected = f"{count} statistics, those of `observed`"
            raise ValueError(f"{MUST_GIVE} {expected}: found an array of shape {array.shape}")
        return array

    return pick


def pieces(rows: NDArray[np.int64], unit: int) -> Sequence[int]:
    """Places at which a list of rows may be cut without parting rows that belong together."""
    if unit == 1:
        return range(1, len(rows) + 1)
    inside: list[int] = (1 + np.flatnonzero(np.diff(rows // unit))).tolist()
    return [*inside, len(rows)] if len(rows) else inside
