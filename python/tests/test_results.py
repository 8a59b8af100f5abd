"""What a run gives, and to whom."""

import warnings

import numpy as np
import pytest
from conftest import OBSERVED

import counterpoise as cp


@pytest.mark.parametrize("where", ["finished", "kept"])
def test_dataframes_take_the_posterior(where, request):
    run = request.getfixturevalue(where)
    expected = run.posterior["m"]
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    assert (polars.DataFrame(run.posterior)["m"].to_numpy() == expected).all()
    table = pyarrow.table(run.posterior)
    assert table.column_names == ["m", "s", "importance_weight", "distance", "generation", "row"]
    assert (table["m"].to_numpy() == expected).all()
    assert (run.posterior.to_pandas()["m"] == expected).all()
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert (pandas.DataFrame.from_arrow(run.posterior)["m"] == expected).all()
    assert dict(run.posterior).keys() == set(table.column_names)


def test_texts_cross_as_well(kept):
    pyarrow = pytest.importorskip("pyarrow")
    outcome = pyarrow.table(kept.simulations(0))["outcome"]
    assert outcome.null_count == len(outcome) == 400


def test_arrow_memory_outlives_the_run(kept):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(cp.load(kept.directory).simulations(0))
    assert frame["mean"].to_numpy().sum() == pytest.approx(kept.simulations(0)["mean"].sum())


def test_equal_weights(finished):
    posterior = finished.posterior
    weights = posterior["importance_weight"]
    assert weights.sum() == pytest.approx(1)
    drawn = finished.sample(20_000)["m"]
    # Systematic resampling: the error of a mean is far below that of independent draws.
    assert drawn.mean() == pytest.approx((posterior["m"] * weights).sum(), abs=0.01)
    assert (finished.sample(50, seed=3)["m"] == finished.sample(50, seed=3)["m"]).all()


def test_arviz(finished):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        data = finished.to_arviz(draws=300)
        groups = set(data.children) if hasattr(data, "children") else set(data.groups())
        wanted = {"posterior", "sample_stats", "prior", "prior_predictive", "posterior_predictive"}
        assert wanted | {"observed_data", "constant_data"} <= groups
        assert data["posterior"]["m"].shape == (1, 300)
        assert data["posterior_predictive"]["statistics"].shape == (1, 300, 3)
        assert list(data["observed_data"]["statistics"].values) == list(OBSERVED.values())
        assert list(data["observed_data"]["statistic"].values) == list(OBSERVED)
        weights = data["constant_data"]["distance_weight"].values
        assert list(weights) == list(finished.distance_weights.values())
        mean = float(data["posterior"]["m"].mean())
        assert mean == pytest.approx(finished.summary()["parameters"]["m"]["mean"], abs=0.05)
        assert float(arviz.summary(data, kind="stats")["mean"].iloc[0]) == pytest.approx(mean, abs=0.01)


@pytest.mark.parametrize("where", ["memory", "directory"])
def test_arviz_where_the_posterior_has_other_rows_than_the_population(where, tmp_path):
    """The rule `auto` may adjust more of the nearest than were accepted; here a straight line fits all of them."""

    def simulate(theta, seed):
        return {"reading": theta["m"] + np.random.default_rng(seed).normal(0, 0.1)}

    into = None if where == "memory" else tmp_path / "r"
    budget = {"simulations": 2000, "keep": 40, "generations": 1, "seed": 1}
    run = cp.run(simulate, {"m": cp.Uniform(-5, 5)}, {"reading": 0.3}, **budget, into=into)
    assert len(run.posterior) == len(run.predictive()) > len(run.population()) == 40
    # The exact posterior is N(0.3, 0.1).
    assert abs(run.summary()["parameters"]["m"]["sd"] - 0.1) < 0.03
    pytest.importorskip("arviz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = run.to_arviz(draws=500)
    assert data["posterior_predictive"]["statistics"].shape == (1, 500, 1)
    chosen = data["sample_stats"]["particle"].values[0]
    assert chosen.max() >= 40
    assert (data["posterior_predictive"]["statistics"].values[0, :, 0] == run.predictive()["reading"][chosen]).all()


def test_plots(finished):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    heights = [patch.get_height() for patch in finished.plot_posterior()[0].patches]
    assert sum(heights) == pytest.approx(1)
    bars = finished.plot_weights()[0].patches
    assert len(bars) == len(finished.distance_weights) and max(bar.get_height() for bar in bars) > 0
    assert len(finished.plot_history()) == 3
    assert finished.plot_predictive()[0].lines
    with pytest.raises(ValueError, match="`axes` must be 2 axes"):
        finished.plot_posterior(plt.gca())
    plt.close("all")


def test_notebooks_show_something(finished):
    assert "<td>m</td>" in finished._repr_html_() and "importance_weight" in finished.posterior._repr_html_()


def test_a_report_needs_a_directory(finished, kept, tmp_path):
    with pytest.raises(ValueError, match="give `into`"):
        finished.report(tmp_path / "r.html")
    assert "<html" in kept.report(tmp_path / "r.html").read_text()


def test_generations(finished):
    assert [step["generation"] for step in finished.generations] == [0, 1]
    assert finished.population(0)["m"].shape == (40,)
    assert np.isfinite(finished.population(-2)["log_importance_weight"]).all()
    with pytest.raises(ValueError, match="generation must be one of the 2"):
        finished.population(2)
    with pytest.raises(KeyError):
        finished.posterior["nothing"]
