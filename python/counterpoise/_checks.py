"""Checks of arguments: what is wrong is named, with what was expected."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

#: Processes or threads of this machine, at the most: a slip of the pen must not bring it down.
MOST_WORKERS = 1000


def whole(name: str, number: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number from `least` to `most`.

    >>> whole("n", 3)
    3
    """
    is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    if not is_whole or number < least or (most is not None and number > most):
        expected = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"`{name}` must be a whole number {expected}, found {number!r}")
    return int(number)


def seed(number: Any) -> int:
    """A seed of the engine."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < 2**64:
        raise ValueError(f"`seed` must be a whole number from 0 to 2**64 - 1, found {number!r}")
    return int(number)


def names(name: str, given: Any) -> list[str]:
    """Names, each of them once.

    >>> names("statistics", ("a", "b"))
    ['a', 'b']
    """
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"`{name}` must be a list of names, found {given!r}")
    listed = [str(one) for one in given]
    if len(set(listed)) < len(listed):
        again = next(one for at, one in enumerate(listed) if one in listed[:at])
        raise ValueError(f"`{name}` must be different names, found {again!r} twice")
    return listed


def path(name: str, given: Any) -> str:
    """A path, made absolute: it means the same after a change of the folder."""
    text = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"`{name}` must be a path, found {type(given).__name__}")
    if not text or "\0" in text:
        raise ValueError(f"`{name}` must be a path, found {text!r}")
    return os.path.abspath(text)


def needed(module: str, extra: str) -> Any:
    """A module that the package can do without, but not what was asked for."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name not in (package, module):
            raise
        message = f"this needs {package}, which is not installed: pip install counterpoise[{extra}]"
        raise ModuleNotFoundError(message, name=package) from None
