"""What a run gives, and to whom."""

import re
import shutil
import warnings

import numpy as np
import pytest
from conftest import OBSERVED, ROOT, command

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
        assert list(data["constant_data"]["influence"].values) == list(finished.influence.values())
        assert list(data["constant_data"]["statistic"].values) == list(finished.influence)
        mean = float(data["posterior"]["m"].mean())
        assert mean == pytest.approx(finished.summary()["parameters"]["m"]["mean"], abs=0.05)
        assert float(arviz.summary(data, kind="stats")["mean"].iloc[0]) == pytest.approx(mean, abs=0.01)


def test_a_file_for_arviz(kept, tmp_path):
    """The command writes what `to_arviz` gives, and ArviZ reads it."""
    pytest.importorskip("h5netcdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        words = ("export", str(kept.directory), "--to", str(tmp_path / "r.nc"), "--draws", "100")
        done = command(*words)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "Warning" not in done.stderr and "arviz.from_netcdf" in done.stderr
        read, given = arviz.from_netcdf(tmp_path / "r.nc"), kept.to_arviz(draws=100)
        for group in ("posterior", "sample_stats", "prior", "posterior_predictive", "observed_data", "constant_data"):
            assert list(read[group].data_vars) and set(read[group].data_vars) == set(given[group].data_vars)
            for name in read[group].data_vars:
                assert read[group][name].dims == given[group][name].dims
                assert (read[group][name].values == given[group][name].values).all(), (group, name)
        assert list(read["constant_data"]["statistic"].values) == list(OBSERVED)
    again = command(*words)
    assert again.returncode == 2 and "exists already" in again.stderr
    lost = command("export", str(kept.directory), "--to", str(tmp_path / "nowhere/r.nc"))
    assert lost.returncode == 1 and "cannot export to" in lost.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["r.nc"]


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


def test_influence_tells_what_counts_whatever_is_compared(tmp_path):
    """Of three statistics one is about the parameter, one is noise and one never varies."""

    def simulate(theta, seed):
        rng = np.random.default_rng(seed)
        return {"told": theta["m"] + rng.normal(0, 0.1), "noise": rng.normal(0, 1), "same": 3.0}

    observed = {"told": 1.0, "noise": 0.5, "same": 3.0}
    budget = {"simulations": 2000, "keep": 100, "generations": 2, "seed": 1}
    for more in ({"weighting": "auto"}, {"weighting": "uniform", "reduction": "learned"}, {"weighting": "informed"}):
        run = cp.run(simulate, {"m": cp.Uniform(-5, 5)}, observed, **budget, **more, into=tmp_path / str(more))
        told, noise, same = (run.influence[name] for name in observed)
        assert told + noise == pytest.approx(1) and told > 5 * noise and same == 0
        assert cp.load(tmp_path / str(more)).influence == run.influence
    # By weights of one it is the mean difference from what was observed.
    run = cp.run(simulate, {"m": cp.Uniform(-5, 5)}, observed, **budget, weighting="uniform", into=tmp_path / "uniform")
    moved = {name: np.abs(run.simulations()[name] - value).mean() for name, value in observed.items()}
    share = moved["noise"] / sum(moved.values())
    assert run.influence["noise"] == pytest.approx(share, rel=0.15)


def test_plots(finished):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    heights = [patch.get_height() for patch in finished.plot_posterior()[0].patches]
    assert sum(heights) == pytest.approx(1)
    bars = finished.plot_weights()[0].patches
    shares = sorted((100 * share for share in finished.influence.values()), reverse=True)
    assert [bar.get_height() for bar in bars] == pytest.approx(shares)
    assert len(bars) == len(OBSERVED) and bars[0].get_height() > 0
    assert len(finished.plot_history()) == 3
    assert finished.plot_predictive()[0].lines
    with pytest.raises(ValueError, match="`axes` must be 2 axes"):
        finished.plot_posterior(plt.gca())
    plt.close("all")


def test_a_plot_of_predictions_weighs_them(finished):
    """Its boxes are weighted quantiles: the least value that has the level's weight at or below it."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    weights = finished.posterior["importance_weight"]
    lines = finished.plot_predictive()[0].lines
    for at, name in enumerate(OBSERVED):
        values = finished.predictive()[name]
        # A box, two whiskers, two caps and a median.
        box = {value for line in lines[6 * at : 6 * at + 6] for value in line.get_ydata()}
        for level in (0.05, 0.25, 0.5, 0.75, 0.95):
            expected = min(value for value in values if weights[values <= value].sum() >= level)
            assert expected in box, (name, level)
    plt.close("all")


def test_predictions_of_uneven_size_are_drawn_in_their_own_units():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    def simulate(theta, seed):
        x = np.random.default_rng(seed).normal(theta["m"])
        return {"small": x, "large": 1e6 * x}

    run = cp.run(
        simulate, {"m": cp.Uniform(-5, 5)}, {"small": 1.0, "large": 1e6}, simulations=200, keep=40, generations=1
    )
    axis = run.plot_predictive()[0]
    assert "half-widths" in axis.get_ylabel() and max(map(abs, axis.get_ylim())) < 20
    plt.close("all")


def test_axes_have_numbers_on_them(finished):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    # The posterior of `s` spans less than a factor of ten, on a parameter that lives on a logarithmic scale.
    axes = finished.plot_posterior()
    axes[0].figure.canvas.draw()
    for axis in axes:
        low, high = axis.get_xlim()
        shown = [tick for tick in axis.get_xticks() if low <= tick <= high]
        assert len(shown) >= 3
    steps = finished.plot_history()[0].get_xticks()
    assert all(float(step).is_integer() for step in steps)
    plt.close("all")


def test_notebooks_show_something(finished):
    shown = finished._repr_html_()
    assert "<td>m</td>" in shown and "simulations 800" in shown and "heaviest statistics, influence: " in shown
    assert "<ul></ul>" not in shown
    assert "importance_weight" in finished.posterior._repr_html_()


def test_things_have_names():
    network = cp.Network("A -> 0 @ k\n B -> A @ j", initial={"A": 1}, times=[1])
    assert repr(network) == "<counterpoise.Network: A -> 0 @ k; B -> A @ j>"
    assert repr(cp.Table("/some/where.csv")) == "<counterpoise.Table: /some/where.csv>"
    assert repr(cp.Joint(["a", "b"], lambda seed: [1, 2], lambda theta: 0.0)) == "<counterpoise.Joint: a, b>"


@pytest.mark.parametrize("where", ["memory", "directory"])
def test_parameters_may_be_called_like_the_columns_beside_them(where, tmp_path):
    def simulate(theta, seed):
        return {"row": theta["distance"] + np.random.default_rng(seed).normal(0, 0.1), "outcome": theta["row"]}

    laws = {"importance_weight": cp.Uniform(5, 6), "distance": cp.Uniform(0, 1), "row": cp.Uniform(2, 3)}
    into = None if where == "memory" else tmp_path / "r"
    run = cp.run(simulate, laws, {"row": 0.5, "outcome": 2.5}, simulations=200, keep=30, generations=1, into=into)
    assert run.posterior.columns == [*laws, "importance_weight_", "distance_", "generation", "row_"]
    assert run.posterior["importance_weight_"].sum() == pytest.approx(1)
    drawn = run.sample(5000)
    weighted = (run.posterior["distance"] * run.posterior["importance_weight_"]).sum()
    assert drawn["distance"].mean() == pytest.approx(weighted, abs=0.01)
    assert drawn["importance_weight"].min() >= 5
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(run.posterior).columns == run.posterior.columns


def test_a_report_of_memory_is_that_of_a_directory(finished, kept, tmp_path):
    """But for where it is, and what time it took."""

    def sections(run, name):
        page = run.report(tmp_path / name).read_text()
        return {title: text for title, text in re.findall(r'<section id="(.*?)">(.*?)</section>', page, re.DOTALL)}

    memory, directory = sections(finished, "m.html"), sections(kept, "d.html")
    assert memory.keys() == directory.keys() and len(memory) > 5
    alike = [title for title in memory if memory[title] == directory[title]]
    assert len(memory) - len(alike) <= 2, set(memory) - set(alike)


def test_reports_overwrite_nothing_unasked(finished, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    with pytest.raises(ValueError, match="`path` must be a new file.*overwrite=True"):
        finished.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == "mine"
    assert "<html" in finished.report(tmp_path / "r.html", overwrite=True).read_text()
    with pytest.raises(OSError, match="cannot write"):
        finished.report(tmp_path / "nowhere/r.html")


def test_generations(finished):
    assert [step["generation"] for step in finished.generations] == [0, 1]
    assert finished.population(0)["m"].shape == (40,)
    assert np.isfinite(finished.population(-2)["log_importance_weight"]).all()


def test_runs_of_earlier_versions_show_what_counted():
    """They did not tell influence: then it is the share of the distance."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    old = cp.load(ROOT / "crates/cli/tests/data/format-2")
    assert old.influence == {}
    axes = old.plot_weights()[0]
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(100)
    assert axes.get_ylabel() == "share of the distance (%)"
    assert "heaviest statistics, share of the distance: " in old._repr_html_()


def test_a_run_is_printed_as_a_table(finished):
    lines = str(finished).splitlines()
    figures = finished.summary()["parameters"]["m"]
    assert lines[0] == repr(finished)[1:-1] and lines[1].split() == ["parameter", "mean", "sd", "median", "q05", "q95"]
    assert lines[2].split() == ["m", *(f"{figures[key]:.4g}" for key in ("mean", "sd", "median", "q05", "q95"))]
    assert lines[4].startswith("influence: ")


def test_a_table_is_not_taken_for_a_list_of_names(finished):
    pandas = pytest.importorskip("pandas")
    for take in (pandas.DataFrame, np.asarray):
        with pytest.raises(TypeError, match="to_pandas"):
            take(finished.posterior)
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert list(pandas.DataFrame.from_arrow(finished.posterior)) == finished.posterior.columns


def test_arviz_is_not_given_a_part_of_a_damaged_run(tmp_path, kept):
    pytest.importorskip("arviz")
    shutil.copytree(kept.directory, tmp_path / "r")
    file = tmp_path / "r/generations/000/simulations.parquet"
    file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(OSError):
        cp.load(tmp_path / "r").to_arviz()
