"""What is believed of the parameters before the data."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from . import _checks


@dataclass(frozen=True)
class Law:
    """A law of one parameter; `low` and `high` cut it."""

    name: ClassVar[str] = ""

    def table(self) -> dict[str, Any]:
        """As it stands in a problem file."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        for key, number in given.items():
            if number is not None and (isinstance(number, bool) or not isinstance(number, numbers.Real)):
                raise TypeError(f"`{key}` of {type(self).__name__} must be a number, found {number!r}")
        return {"law": self.name, **{key: number for key, number in given.items() if number is not None}}


@dataclass(frozen=True)
class Uniform(Law):
    """Every value from `low` to `high` is as likely as another."""

    low: float
    high: float
    name: ClassVar[str] = "uniform"


@dataclass(frozen=True)
class LogUniform(Law):
    """Uniform in the logarithm.

    >>> LogUniform(1e-3, 1e3).table()
    {'law': 'log-uniform', 'low': 0.001, 'high': 1000.0}
    """

    low: float
    high: float
    name: ClassVar[str] = "log-uniform"


@dataclass(frozen=True)
class Normal(Law):
    """Mean and standard deviation."""

    mean: float
    sd: float
    low: float | None = None
    high: float | None = None
    name: ClassVar[str] = "normal"


@dataclass(frozen=True)
class LogNormal(Law):
    """Mean and standard deviation of the natural logarithm."""

    mean: float
    sd: float
    low: float | None = None
    high: float | None = None
    name: ClassVar[str] = "log-normal"


@dataclass(frozen=True)
class Gamma(Law):
    """Mean `shape * scale`."""

    shape: float
    scale: float
    low: float | None = None
    high: float | None = None
    name: ClassVar[str] = "gamma"


@dataclass(frozen=True)
class Beta(Law):
    """On 0 to 1."""

    alpha: float
    beta: float
    low: float | None = None
    high: float | None = None
    name: ClassVar[str] = "beta"


@dataclass(frozen=True)
class Exponential(Law):
    """Mean `1 / rate`."""

    rate: float
    low: float | None = None
    high: float | None = None
    name: ClassVar[str] = "exponential"


@dataclass(frozen=True)
class Integer(Law):
    """Whole numbers, both ends included; simulators get an `int`."""

    low: int
    high: int
    name: ClassVar[str] = "integer"


#: Draws that tell where a joint law lies and how wide it is, and those at which its density is tried.
_TRIALS, _DENSITIES = 1000, 10


class Joint:
    """A prior of several parameters together.

    `draw(seed)` gives a dict of parameters (or numbers in the order of `names`) and draws from that seed alone;
    `ln_density(theta)` takes such a dict and gives the logarithm of the density, `-inf` outside the support.
    Parameters in `log` are positive and are handled by their logarithm.

    >>> import numpy as np
    >>> def draw(seed):
    ...     a = np.random.default_rng(seed).uniform(size=2)
    ...     return {"low": a.min(), "high": a.max()}
    >>> def ln_density(theta):
    ...     return np.log(2) if 0 <= theta["low"] <= theta["high"] <= 1 else -np.inf
    >>> prior = Joint(["low", "high"], draw, ln_density)
    >>> sorted(prior.frame())
    ['high', 'low']
    """

    def __init__(
        self,
        names: Sequence[str],
        draw: Callable[[int], Mapping[str, float] | Sequence[float]],
        ln_density: Callable[[dict[str, float]], float],
        log: Sequence[str] = (),
    ) -> None:
        self.names = _checks.names("names", names)
        for argument, function in (("draw", draw), ("ln_density", ln_density)):
            if not callable(function):
                raise TypeError(f"`{argument}` must be a function, found {type(function).__name__}")
        if not self.names:
            raise ValueError("`names` must have at least one name")
        self.log = tuple(_checks.names("log", log))
        if unknown := set(self.log) - set(self.names):
            raise ValueError(f"`log` must list some of `names`, found {sorted(unknown)}")
        self._draw, self._ln_density = draw, ln_density

    @classmethod
    def of(cls, law: Any) -> Joint:
        """Take any object with `names`, `draw` and `ln_density`."""
        if isinstance(law, cls):
            return law
        missing = [name for name in ("names", "draw", "ln_density") if not hasattr(law, name)]
        if missing:
            raise TypeError(f"`parameters` must be a dict of laws, or have names, draw and ln_density: no {missing[0]}")
        return cls(law.names, law.draw, law.ln_density, getattr(law, "log", ()))

    def draw(self, seed: int) -> list[float]:
        """Draw once, in the order of the names."""
        drawn = self._draw(seed)
        try:
            ordered = [drawn[name] for name in self.names] if isinstance(drawn, Mapping) else list(drawn)
            theta = [float(number) for number in ordered]
        except (TypeError, ValueError, KeyError):
            theta = []
        if len(theta) != len(self.names) or not all(map(math.isfinite, theta)):
            raise ValueError(f"`draw` must give {len(self.names)} finite numbers, for {self.names}: found {drawn!r}")
        return theta

    def ln_density(self, theta: Sequence[float]) -> float:
        """Log density at numbers in the order of the names."""
        density = self._ln_density(dict(zip(self.names, theta, strict=True)))
        try:
            return float(density)
        except (TypeError, ValueError):
            raise TypeError(f"`ln_density` must give a number, -inf outside the support: found {density!r}") from None

    def frame(self) -> dict[str, dict[str, Any]]:
        """Independent laws that are about as wide: they span the space in which the engine thinks."""
        drawn = np.array([self.draw(1 + seed) for seed in range(_TRIALS)])
        for theta in drawn[:_DENSITIES]:
            density = self.ln_density(theta.tolist())
            if not math.isfinite(density):
                at = dict(zip(self.names, theta.tolist(), strict=True))
                raise ValueError(f"`ln_density` must be finite where `draw` draws: it is {density} at {at}")
        laws: dict[str, dict[str, Any]] = {}
        for name, column in zip(self.names, drawn.T, strict=True):
            is_log = name in self.log
            if is_log and not (column > 0).all():
                raise ValueError(f"`log` lists {name!r}, which is not always positive")
            values = np.log(column) if is_log else column
            law = "log-normal" if is_log else "normal"
            laws[name] = {"law": law, "mean": float(values.mean()), "sd": float(values.std()) or 1.0}
        return laws

    def __repr__(self) -> str:
        return f"<counterpoise.Joint: {', '.join(self.names)}>"

    def identity(self) -> str:
        """What tells this law from another, as JSON."""
        return json.dumps({"draw": fingerprint(self._draw), "ln_density": fingerprint(self._ln_density)})


def fingerprint(function: Any) -> str:
    """A hash of a function's source; of its code where there is none. What it calls is not looked at.

    >>> from functools import partial
    >>> fingerprint(partial(pow, 2)) == fingerprint(partial(pow, 3))
    False
    """
    return hashlib.blake2b(_content(function), digest_size=16).hexdigest()


def _content(function: Any) -> bytes:
    if isinstance(function, functools.partial):
        bound = [*function.args, *sorted(function.keywords.items())]
        return b"\0".join([_content(function.func), *map(_constant, bound)])
    inner = inspect.unwrap(function) if callable(function) else function
    inner = getattr(inner, "py_func", getattr(inner, "__func__", inner))
    code = getattr(inner, "__code__", None)
    # An object that can be called is what its class says.
    subject = inner if code is not None or inspect.isroutine(inner) else type(inner)
    try:
        return inspect.getsource(subject).encode()
    except (OSError, TypeError):
        if code is not None:
            return _code(code)
        return str(getattr(inner, "__qualname__", type(inner).__qualname__)).encode()


def _code(code: types.CodeType) -> bytes:
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *map(_constant, code.co_consts)])


def _constant(value: Any) -> bytes:
    """What tells a value from another, as far as it can be seen: never an address."""
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, (tuple, list)):
        return b"(" + b",".join(map(_constant, value)) + b")"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} ".encode() + bytes(value.tobytes())
    plain = value is None or isinstance(value, (str, bytes, bool, int, float, complex, np.number))
    return repr(value).encode() if plain else type(value).__qualname__.encode()
