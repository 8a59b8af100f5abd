"""Runs of Python functions, networks, tables and problem files."""

import functools
import json
import sys
import threading
import time
import types

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, ROOT, command, gaussian, gaussians, same

import counterpoise as cp
from counterpoise._priors import fingerprint


def test_a_posterior_is_the_exact_one():
    # Mean of 20 normal draws with sd 1, flat prior: the posterior is N(observed, 1 / 20).
    def simulate(theta, seed):
        return [np.random.default_rng(seed).normal(theta["m"], 1 / np.sqrt(20))]

    run = cp.run(simulate, {"m": cp.Uniform(-5, 5)}, [0.7], simulations=4000, keep=400, generations=3, seed=1)
    posterior = run.summary()["parameters"]["m"]
    # 400 particles: four standard errors of the mean are 0.05, and of the sd 0.03.
    assert abs(posterior["mean"] - 0.7) < 0.05
    assert abs(posterior["sd"] - 1 / np.sqrt(20)) < 0.04


@pytest.mark.parametrize("simulator", [gaussian, gaussians], ids=["plain", "batch"])
def test_workers_do_not_show(simulator):
    runs = [cp.run(simulator, PARAMETERS, OBSERVED, **BUDGET, workers=workers) for workers in (None, 2, 3)]
    same(runs[0], runs[1])
    same(runs[0], runs[2])


def test_a_directory_holds_the_same_run_as_memory(finished, kept):
    same(finished, kept)
    same(kept, cp.load(kept.directory))
    assert len(kept.simulations(1)) == 400
    for name in OBSERVED:
        assert (finished.predictive()[name] == kept.predictive()[name]).all()
        assert (finished.prior_predictive()[name] == kept.prior_predictive()[name]).all()
    for name in ("m", "importance_weight", "distance", "generation", "row"):
        assert (finished.posterior[name] == kept.posterior[name]).all()


def test_a_parameter_and_a_statistic_of_one_name(tmp_path):
    def simulate(theta, seed):
        return {"x": theta["x"] + 10, "y": theta["x"]}

    given = {"x": cp.Uniform(0, 1)}, {"x": 10.5, "y": 0.5}
    for into in (None, tmp_path / "r"):
        run = cp.run(simulate, *given, simulations=200, keep=20, generations=1, adjust="none", into=into)
        assert (run.predictive()["x"] == run.posterior["x"] + 10).all()
        assert (run.prior_predictive()["x"] == run.prior()["x"] + 10).all()


def test_particles_say_where_they_were_simulated(kept):
    """A row is one of the simulations of the generation beside it, also where earlier generations are used again."""
    simulations = [kept.simulations(index) for index in range(len(kept.generations))]

    def made(particles, name):
        places = zip(particles["generation"], particles["row"], strict=True)
        return np.array([simulations[generation][name][row] for generation, row in places])

    for index in range(len(kept.generations)):
        population = kept.population(index)
        assert (population["generation"] <= index).all()
        assert (population["m"] == made(population, "m")).all()
    assert (kept.predictive()["mean"] == made(kept.posterior, "mean")).all()
    assert len(set(zip(kept.posterior["generation"], kept.posterior["row"], strict=True))) == len(kept.posterior)


def test_a_seed_makes_a_row(kept):
    """What the function gives for its parameters and seed is what is kept."""
    rows = kept.simulations(0)
    with pytest.raises(RuntimeError, match=r"seed (\d+)") as raised:
        cp.run(lambda theta, seed: 1 / 0, PARAMETERS, OBSERVED, **BUDGET)
    seed = int(str(raised.value).split("the seed ")[1].split(")")[0])
    again = gaussian({"m": rows["m"][0], "s": rows["s"][0]}, seed)
    assert again["mean"] == rows["mean"][0]


def test_the_command_line_reads_and_extends_a_run_of_python(kept):
    show = command("show", str(kept.directory), "--json")
    assert json.loads(show.stdout)["parameters"] == kept.summary()["parameters"]
    assert command("verify", str(kept.directory)).returncode == 0


def test_a_problem_file_gives_what_the_command_line_gives(tmp_path):
    path = ROOT / "examples/death/problem.toml"
    run = cp.run(path, simulations=1000, keep=50, generations=2, into=tmp_path / "a")
    words = ["--set", "method.simulations=1000", "--set", "method.keep=50", "--set", "method.generations=2"]
    done = command("run", str(path), "--into", str(tmp_path / "b"), "--json", *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["parameters"] == run.summary()["parameters"]
    same(run, cp.load(tmp_path / "b"))


def test_whole_numbers_are_whole():
    seen = []

    def simulate(theta, seed):
        seen.append(theta["n"])
        return [float(np.random.default_rng(seed).binomial(theta["n"], 0.5))]

    run = cp.run(simulate, {"n": cp.Integer(1, 30)}, [5], simulations=200, keep=20, generations=1)
    assert all(isinstance(n, int) for n in seen) and {1, 30} & set(seen)
    assert run.posterior["n"].mean() == pytest.approx(10, abs=3)


def test_progress_goes_to_the_standard_error(capsys):
    cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, progress=True)
    cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET)
    out, err = capsys.readouterr()
    lines = [line.split(",")[0] for line in err.splitlines()]
    assert (out, lines) == ("", ["1 of 2 generations done", "2 of 2 generations done"])


def test_progress_tells_how_long_it_will_take(monkeypatch, capsys):
    """On a terminal, of a run that goes on: 1000 of the second of three generations are there."""
    from counterpoise import _progress

    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = _progress.Progress(None, lambda: (4000, 3))
    told = []
    for now, *event in (
        (1, "opened", 1, 0, 0),
        (1, "simulating", 1, 1000, 0),
        (2, "simulated", 1, 1100, 0),
        (11, "simulated", 1, 2000, 3),
        (31, "weighing", 1, 0, 0),
        (41, "committed", 2, 0, 0),
        (71, "simulated", 2, 3999, 0),
        (75, "committed", 3, 0, 0),
    ):
        clock[0] = now
        progress(*event)
        told.append(capsys.readouterr().err.strip())
    assert told == [
        "",
        "",
        "generation 2 of 3: 1100 of 4000 simulations, about 69 s left",
        "generation 2 of 3: 2000 of 4000 simulations, 3 failed, about 60 s left",
        "generation 2 of 3: choosing distance weights, about 40 s left",
        "2 of 3 generations done, about 53 s left",
        "generation 3 of 3: 3999 of 4000 simulations, about 1 s left",
        "3 of 3 generations done",
    ]
    assert [_progress._duration(seconds) for seconds in (0.2, 89, 600, 36_000)] == ["1 s", "89 s", "10 min", "10 h"]
    progress.close()


def test_notebooks_have_one_line_that_changes(monkeypatch):
    """Jupyter's shell, and one that is made from it, as Colab's."""
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        assert raw and display_id
        return Handle()

    class ZMQInteractiveShell:
        pass

    class Shell(ZMQInteractiveShell):
        pass

    ipython, within = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    within.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", within)
    for kind in (ZMQInteractiveShell, Shell):
        shown.clear()
        ipython.get_ipython = lambda kind=kind: kind()
        cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, progress=True)
        assert (
            any(text.startswith("generation 1 of 2: choosing distance weights") for text in shown)
            and shown[-1] == "2 of 2 generations done"
        )


def test_functions_are_told_apart():
    """Without a source by their code and its constants; bound arguments and classes count."""
    known = {}
    exec("one = lambda theta, seed: [theta['m'] + 1]\ntwo = lambda theta, seed: [theta['m'] + 2]", known)

    class Callable:
        def __call__(self, theta, seed):
            return [theta["m"]]

    def scaled(factor, theta, seed):
        return [factor * theta["m"]]

    partials = [functools.partial(scaled, factor) for factor in (1, 2, np.ones(2), np.zeros(2))]
    prints = [fingerprint(function) for function in (known["one"], known["two"], Callable(), scaled, *partials)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(Callable()) == fingerprint(Callable())
    assert fingerprint(functools.partial(scaled, 1)) == prints[4]


def test_a_changed_function_is_another_run(tmp_path):
    cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r")
    with pytest.raises(ValueError, match=r"model\.python\.source was"):
        cp.run(lambda theta, seed: gaussian(theta, seed), PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r")


def test_a_joint_prior_of_independent_parameters_is_their_product():
    def draw(seed):
        rng = np.random.default_rng(seed)
        return {"m": rng.uniform(-5, 5), "s": 10 ** rng.uniform(-1, 1)}

    def ln_density(theta):
        inside = -5 <= theta["m"] <= 5 and 0.1 <= theta["s"] <= 10
        return -np.log(10) - np.log(theta["s"]) - np.log(np.log(100)) if inside else -np.inf

    joint = cp.Joint(["m", "s"], draw, ln_density, log=["s"])
    budget = {"simulations": 2000, "keep": 200, "generations": 2, "seed": 3}
    tied = cp.run(gaussian, joint, OBSERVED, **budget).summary()["parameters"]
    free = cp.run(gaussian, PARAMETERS, OBSERVED, **budget).summary()["parameters"]
    for name in ("m", "s"):
        # Two estimates of 200 particles each: four standard errors of their difference.
        assert abs(tied[name]["median"] - free[name]["median"]) < 0.5 * free[name]["sd"]
        assert 0.6 < tied[name]["sd"] / free[name]["sd"] < 1.6


def test_a_joint_prior_ties_parameters():
    class Ordered:
        names = ("low", "high")

        def draw(self, seed):
            return np.sort(np.random.default_rng(seed).uniform(size=2))

        def ln_density(self, theta):
            return np.log(2) if 0 <= theta["low"] <= theta["high"] <= 1 else -np.inf

    def simulate(theta, seed):
        return np.random.default_rng(seed).normal([theta["low"], theta["high"]], 0.3)

    run = cp.run(simulate, Ordered(), [0.5, 0.5], simulations=400, keep=40, generations=3)
    for generation in range(3):
        population = run.population(generation)
        assert (population["low"] <= population["high"]).all()


def test_an_exception_of_a_joint_prior_is_raised():
    def broken(theta):
        raise LookupError("no density")

    joint = cp.Joint(["m"], lambda seed: [np.random.default_rng(seed).normal()], broken)
    with pytest.raises(LookupError, match="no density"):
        cp.run(lambda theta, seed: [theta["m"]], joint, [0.0], simulations=100, keep=20, generations=2)


def test_a_table_of_simulations(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    m = rng.uniform(-5, 5, 3000)
    data = {"m": m, "mean": rng.normal(m, 0.2), "noise": rng.normal(size=3000)}
    runs = [
        cp.run(cp.Table(table), {"m": cp.Uniform(-5, 5)}, {"mean": 1.0, "noise": 0.0}, keep=100)
        for table in (data, pandas.DataFrame(data))
    ]
    same(*runs)
    assert runs[0].summary()["parameters"]["m"]["mean"] == pytest.approx(1.0, abs=0.15)
    # Particles say which rows of the table they are.
    predicted, posterior = runs[0].predictive(), runs[0].posterior
    assert (predicted["mean"] == data["mean"][posterior["row"]]).all() and (posterior["generation"] == 0).all()
    assert (runs[0].prior()["m"] == m[:1000]).all() and (
        runs[0].prior_predictive()["mean"] == data["mean"][:1000]
    ).all()
    file = tmp_path / "t.csv"
    pandas.DataFrame(data).to_csv(file, index=False)
    same(runs[0], cp.run(cp.Table(file), {"m": cp.Uniform(-5, 5)}, {"mean": 1.0, "noise": 0.0}, keep=100))


def test_networks_simulate_and_infer():
    network = cp.Network("A -> 0 @ k", initial={"A": 100}, times=[1, 2, 5], observe=["A"])
    simulated = network.simulate({"k": 0.1}, n=4000, seed=1)
    survive = np.exp(-0.1 * np.array([1, 2, 5]))
    error = np.sqrt(100 * survive * (1 - survive) / 4000)
    assert (abs(simulated.mean(axis=0) - 100 * survive) < 5 * error).all()
    assert (simulated == network.simulate({"k": 0.1}, n=4000, seed=1, threads=1)).all()
    assert (simulated != network.simulate({"k": 0.1}, n=4000, seed=2)).any()
    many = network.simulate({"k": np.linspace(0.01, 1, 50)}, seed=1)
    assert many.shape == (50, 3) and many[0, 2] > many[-1, 2]
    assert network.statistics(["k"]) == ["A@1", "A@2", "A@5"]
    run = cp.run(network, {"k": cp.LogUniform(1e-3, 10)}, [90, 82, 61], **BUDGET)
    assert run.summary()["parameters"]["k"]["median"] == pytest.approx(0.1, abs=0.05)
    with pytest.raises(ValueError, match="`k` is not known"):
        network.simulate({"j": 0.1}, n=2)


def test_failed_simulations_of_a_network_are_rows_of_nan():
    network = cp.Network("A -> 2 A @ k", initial={"A": 1}, times=[50], max_events=1000)
    with pytest.warns(UserWarning, match="10 of 10 simulations failed"):
        assert np.isnan(network.simulate({"k": 1.0}, n=10)).all()


def test_an_sbml_file():
    model = cp.Sbml(ROOT / "examples/sbml/gene.xml", times={"to": 20, "count": 20}, observe=["mRNA", "Protein"])
    theta = {"transcription": 10.0, "translation": 5.0, "dilution": 0.2}
    ours = model.simulate(theta, n=20, seed=3)
    at = ",".join(f"{name}={value}" for name, value in theta.items())
    path = str(ROOT / "examples/sbml/problem.toml")
    theirs = command("simulate", path, "--rows", "20", "--at", at, "--seed", "3").stdout.splitlines()
    assert theirs[0].split(",")[3:] == model.statistics(list(theta))
    assert (ours == np.array([row.split(",")[3:] for row in theirs[1:]], dtype=float)).all()
    with pytest.raises(ValueError, match="nobody"):
        model.simulate({"nobody": 1.0}, n=2)


def test_comparing_and_calibrating():
    budget = {"simulations": 200, "keep": 30, "generations": 1, "seed": 1}
    compared = cp.compare(gaussian, PARAMETERS, rules=["uniform", "mad"], datasets=3, **budget)
    assert [judged["rule"] for judged in compared["rules"]] == ["uniform", "mad"]
    assert compared["datasets"] == 3 and compared["simulations"] == 200
    one, two = (cp.calibrate(gaussians, PARAMETERS, datasets=4, workers=n, **budget) for n in (1, 2))
    assert one == two and "verdict" in one
    network = cp.Network("A -> 0 @ k", initial={"A": 20}, times=[1, 2])
    law = {"k": cp.LogUniform(0.01, 1)}
    assert cp.compare(network, law, rules=["sd"], truth={"k": 0.1}, datasets=2, **budget)["truth"] == "given"
    with pytest.raises(ValueError, match="no part of a rule"):
        cp.compare(network, law, rules=["nonsense"], datasets=2, **budget)


def test_a_range_of_times():
    network = cp.Network("A -> 0 @ k", initial={"A": 5}, times=range(1, 4))
    assert network.statistics(["k"]) == ["A@1", "A@2", "A@3"]


def test_numbers_without_names_take_those_of_a_table():
    rng = np.random.default_rng(1)
    m = rng.uniform(-5, 5, 500)
    table = cp.Table({"m": m, "mean": rng.normal(m, 0.2), "noise": rng.normal(size=500)})
    law = {"m": cp.Uniform(-5, 5)}
    same(cp.run(table, law, [1.0, 0.0], keep=50), cp.run(table, law, {"mean": 1.0, "noise": 0.0}, keep=50))
    with pytest.raises(ValueError, match="`observed` must have 2 numbers"):
        cp.run(table, law, [1.0], keep=50)


def test_a_batch_function_may_write_into_what_it_gets():
    """Also where a row of it fails and each is tried alone."""

    def make(in_place):
        @cp.batch(size=50)
        def simulate(thetas, seeds):
            if in_place:
                thetas *= 2
                seeds += 1
            else:
                thetas, seeds = thetas * 2, seeds + 1
            if (thetas[:, 0] > 8).any():
                raise ValueError("too large")
            rows = zip(thetas[:, 0], seeds, strict=True)
            return np.stack([np.random.default_rng(seed).normal(theta, size=3) for theta, seed in rows])

        return simulate

    wrote, kept = (cp.run(make(in_place), PARAMETERS, OBSERVED, **BUDGET) for in_place in (True, False))
    assert kept.generations[0]["failed"] > 0
    same(wrote, kept)


def test_the_engine_lets_other_threads_run():
    """While the engine simulates and weighs for a second, Python goes on counting."""
    network = cp.Network("A -> 0 @ k", initial={"A": 5000}, times=list(range(1, 40)))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.perf_counter()
    network.simulate({"k": 0.05}, n=20_000, threads=1)
    took = time.perf_counter() - begun
    done.set()
    thread.join()
    # A thousand a second, if nobody holds it up; were the lock held, a handful.
    assert counted[0] > 100 * took


def test_studies_call_a_function_by_one_thread_at_a_time():
    inside, most = [0], [0]

    def simulate(theta, seed):
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.0005)
        inside[0] -= 1
        return gaussian(theta, seed)

    budget = {"simulations": 100, "keep": 20, "generations": 1, "seed": 1}
    cp.compare(simulate, PARAMETERS, rules=["uniform"], datasets=4, statistics=list(OBSERVED), workers=3, **budget)
    assert most == [1]
