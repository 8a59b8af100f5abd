"""A table of a run, for whatever reads tables."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from . import _checks, _native


class Frame:
    """Named columns. pandas, polars and pyarrow take it through the Arrow interface; numpy by `frame["name"]`.

    >>> import counterpoise as cp
    >>> network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2])
    >>> run = cp.run(network, {"k": cp.LogUniform(0.01, 10)}, [45, 41], simulations=500, generations=1, seed=1)
    >>> run.posterior.columns
    ['k', 'importance_weight', 'distance', 'generation', 'row']
    >>> float(run.posterior["importance_weight"].sum().round(9))
    1.0
    """

    def __init__(self, native: _native.Frame) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._native.names

    def keys(self) -> list[str]:
        """Names of the columns, so that `dict(frame)` is a dict of arrays."""
        return self._native.names

    def __getitem__(self, name: str) -> Any:
        if name not in self._native.names:
            raise KeyError(f"no column {name!r}; the columns are {', '.join(self._native.names)}")
        return self._native.column(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.names)

    def __contains__(self, name: object) -> bool:
        return name in self._native.names

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._native)

    def __array__(self, *_: object, **__: object) -> Any:
        # pandas.DataFrame(frame) and numpy.asarray(frame) would take it for a list of its names.
        raise TypeError("a table of named columns is no array: use .to_pandas(), or dict(...) for arrays by name")

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """As a pandas DataFrame; needs pandas, and nothing else."""
        return _checks.needed("pandas", "pandas").DataFrame({name: self[name] for name in self.columns})

    def __repr__(self) -> str:
        return f"<counterpoise.Frame: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        shown = min(len(self), 8)
        columns = {name: self[name][:shown] for name in self.columns}
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = ("".join(f"<td>{html.escape(_cell(columns[name][at]))}</td>" for name in columns) for at in range(shown))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{len(self)} rows</p>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
