"""The text of a problem file from plain values."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

#: Tables of a problem file whose keys are arguments of their own.
_TABLES = ("method.", "model.network.", "model.sbml.", "model.table.")


def text(document: Mapping[str, Any]) -> str:
    """Write tables of plain values as TOML.

    >>> print(text({"name": "x", "method": {"keep": 0.05, "proposal": {"rule": "local"}}}))
    "name" = "x"
    "method" = {"keep" = 0.05, "proposal" = {"rule" = "local"}}
    """
    return "\n".join(f"{_string(key, key)} = {value(item, key)}" for key, item in document.items() if item is not None)


def value(item: Any, name: str) -> str:
    """Write one value, which goes by this name in messages."""
    if isinstance(item, str):
        return _string(item, name)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, numbers.Integral):
        return str(int(item))
    if isinstance(item, numbers.Real):
        return _number(item)
    if isinstance(item, Mapping):
        inner = [(str(key), one) for key, one in item.items() if one is not None]
        pairs = (f"{_string(key, name)} = {value(one, f'{name}.{key}')}" for key, one in inner)
        return "{" + ", ".join(pairs) + "}"
    if hasattr(item, "tolist"):
        return value(item.tolist(), name)
    if isinstance(item, Sequence) and not isinstance(item, (bytes, bytearray, memoryview)):
        return "[" + ", ".join(value(one, name) for one in item) + "]"
    expected = "text, a number, a list or a dict"
    raise TypeError(f"`{_argument(name)}` must be {expected}, found {type(item).__name__}")


def _argument(name: str) -> str:
    for table in _TABLES:
        name = name.removeprefix(table)
    return name


def _number(real: Any) -> str:
    try:
        number = float(real)
    except OverflowError:
        number = float("inf")
    if number != number:
        return "nan"
    if number in (float("inf"), float("-inf")):
        return "inf" if number > 0 else "-inf"
    return repr(number)


def _string(content: str, name: str) -> str:
    try:
        content.encode()
    except UnicodeEncodeError:
        raise ValueError(f"`{_argument(name)}` must be text that UTF-8 can write, found {content!r}") from None

    def escaped(letter: str) -> str:
        if letter in '"\\':
            return "\\" + letter
        if ord(letter) < 32 or ord(letter) == 127:
            return f"\\u{ord(letter):04x}"
        return letter

    return '"' + "".join(map(escaped, content)) + '"'
