"""A run as ArviZ wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks

if TYPE_CHECKING:
    from ._frame import Frame
    from ._result import Run


def to_arviz(run: Run, draws: int | None, seed: int) -> Any:
    """Build the groups, and hand them to the ArviZ that is there."""
    arviz = _checks.needed("arviz", "arviz")
    posterior = run.posterior
    particle_weights, distances = run._beside(posterior)
    chosen = run._resampled(particle_weights, draws, seed)
    names = list(run.observed)
    weights = run.distance_weights
    groups: dict[str, dict[str, Any]] = {
        "posterior": {name: posterior[name][chosen][None] for name in run.parameters},
        "sample_stats": {
            "importance_weight": particle_weights[chosen][None],
            "distance": distances[chosen][None],
            "particle": chosen[None],
        },
        "observed_data": {"statistics": np.array(list(run.observed.values()))},
        "constant_data": {
            "distance_weight": np.array([np.nan if value is None else value for value in weights.values()]),
            "particle_weight": particle_weights,
        },
    }
    if run.influence:
        groups["constant_data"]["influence"] = np.array(list(run.influence.values()))
    coords = {"statistic": names, "feature": list(weights), "particles": np.arange(len(posterior))}
    dims = {
        "statistics": ["statistic"],
        "influence": ["statistic"],
        "distance_weight": ["feature"],
        "particle_weight": ["particles"],
    }
    # A directory does not keep the simulations of a table.
    if run.directory is None or "table" not in run.description()["model"]:
        groups["posterior_predictive"] = {"statistics": _matrix(run.predictive(), names)[chosen][None]}
        prior = run.prior()
        groups["prior"] = {name: prior[name][None] for name in run.parameters}
        groups["prior_predictive"] = {"statistics": _matrix(run.prior_predictive(), names)[None]}
    if arviz.__version__.split(".")[0] == "0":
        return arviz.from_dict(**groups, coords=coords, dims=dims)
    return arviz.from_dict(groups, coords=coords, dims=dims)


def write(data: Any, path: str) -> None:
    """Write what `to_arviz` gives as a file for `arviz.from_netcdf`."""
    _checks.needed("h5netcdf", "arviz")
    data.to_netcdf(path, engine="h5netcdf")


def _matrix(frame: Frame, names: list[str]) -> Any:
    return np.column_stack([frame[name] for name in names])
