"""The text of a problem file from plain values."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any


def text(document: Mapping[str, Any]) -> str:
    """Write tables of plain values as TOML.

    >>> print(text({"name": "x", "method": {"keep": 0.05, "proposal": {"rule": "local"}}}))
    "name" = "x"
    "method" = {"keep" = 0.05, "proposal" = {"rule" = "local"}}
    """
    return "\n".join(f"{_string(key)} = {value(item)}" for key, item in document.items() if item is not None)


def value(item: Any) -> str:
    """Write one value."""
    if isinstance(item, str):
        return _string(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, numbers.Integral):
        return str(int(item))
    if isinstance(item, numbers.Real):
        return _number(float(item))
    if isinstance(item, Mapping):
        pairs = (f"{_string(str(key))} = {value(inner)}" for key, inner in item.items() if inner is not None)
        return "{" + ", ".join(pairs) + "}"
    if hasattr(item, "tolist"):
        return value(item.tolist())
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(value(inner) for inner in item) + "]"
    raise TypeError(f"expected text, a number, a list or a dict, found {type(item).__name__}")


def _number(number: float) -> str:
    if number != number:
        return "nan"
    if number in (float("inf"), float("-inf")):
        return "inf" if number > 0 else "-inf"
    return repr(number)


def _string(content: str) -> str:
    def escaped(letter: str) -> str:
        if letter in '"\\':
            return "\\" + letter
        if ord(letter) < 32 or ord(letter) == 127:
            return f"\\u{ord(letter):04x}"
        return letter

    return '"' + "".join(map(escaped, content)) + '"'
