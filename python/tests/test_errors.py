"""Bad arguments raise ValueError or TypeError, with the argument's name and what was expected."""

import sys
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, gaussian

import counterpoise as cp


def run(simulator=gaussian, parameters=PARAMETERS, observed=OBSERVED, **arguments):
    return cp.run(simulator, parameters, observed, **{**BUDGET, **arguments})


class Odd(Executor):
    def submit(self, function, /, *arguments, **named):
        return 3


def joint(draw=lambda seed: [seed % 7], density=0.0):
    return cp.Joint(["m"], draw, lambda theta: density)


def decay(parameter="k", threads=None, seed=1, **keys):
    network = cp.Network("A -> 0 @ k", times=[1], **{"initial": {"A": 10}, **keys})
    return network.simulate({parameter: 1}, n=2, threads=threads, seed=seed)


BAD = [
    (lambda: run(simulations=3), ValueError, "`simulations` must be a whole number from 40"),
    (lambda: run(simulations="many"), ValueError, "`simulations` must be a whole number"),
    (lambda: run(keep=0), ValueError, "`keep` must be a share below 1 or a whole number, found 0"),
    (lambda: run(keep=400), ValueError, "cannot keep 400 of 400"),
    (lambda: run(generations=0), ValueError, "`generations` must be a whole number from 1"),
    (lambda: run(weighting="best"), ValueError, "`weighting` must be one of auto, uniform"),
    (lambda: run(weighting={"rule": "hellinger", "evaluation": 3}), ValueError, "did you mean `evaluations`"),
    (lambda: run(reduction="none at all"), ValueError, "`reduction` must be one of none"),
    (lambda: run(proposal={"rule": "local", "share": 2}), ValueError, "`proposal.share` must be a share"),
    (lambda: run(adjust=3), ValueError, "`adjust` must be text or a table"),
    (lambda: run(seed=-1), ValueError, "`seed` must be a whole number from 0"),
    (lambda: run(seed=1.5), ValueError, "`seed` must be a whole number"),
    (lambda: run(stop={"second": 3}), ValueError, "unknown key `second` in `stop`"),
    (lambda: run(stop=3), TypeError, "`stop` must be a dict"),
    (lambda: run(workers=0), ValueError, "`workers` must be a whole number from 1 to 1000"),
    (lambda: run(workers=10**6), ValueError, "`workers` must be a whole number from 1 to 1000"),
    (lambda: run(executor=3), TypeError, "`executor` must be a concurrent.futures.Executor"),
    (lambda: run(executor=ThreadPoolExecutor), TypeError, "`executor` must be .*, found the class ThreadPoolExecutor"),
    (lambda: run(executor=Odd()), TypeError, "`executor` must give futures of concurrent.futures, found int"),
    (lambda: run(max_failures=2), ValueError, "`max_failures` must be a share"),
    (lambda: run(simulator=3), TypeError, "`simulator` must be a function"),
    (lambda: run(parameters=None), TypeError, "`parameters` must be a dict of laws"),
    (lambda: run(parameters={}), ValueError, "`parameters` must have at least one"),
    (lambda: run(parameters={"m": 1}), TypeError, "`parameters` must have laws as its values"),
    (lambda: run(parameters={3: cp.Uniform(0, 1)}), TypeError, "`parameters` must have names"),
    (lambda: run(parameters=[1]), TypeError, "have names, draw and ln_density"),
    (lambda: run(parameters={"m": cp.Uniform(1, 0)}), ValueError, "parameter m: low must be below high"),
    (lambda: run(parameters={"m": cp.Normal(0, -1)}), ValueError, "parameter m: sd must be above 0"),
    (lambda: run(parameters={"m": cp.Uniform("0", 1)}), TypeError, "`low` of Uniform must be a number"),
    (lambda: run(parameters={"m": {"law": "uniforn"}}), ValueError, "did you mean `uniform`"),
    (lambda: run(observed=None), TypeError, "`observed` must be the observed statistics"),
    (lambda: run(observed={}), ValueError, "`observed` must have at least one"),
    (lambda: run(observed={"mean": "x"}), TypeError, "`observed` must have numbers"),
    (lambda: run(observed={"mean": np.nan}), ValueError, "`observed` must have finite numbers"),
    (lambda: run(observed=[[1, 2]]), ValueError, "`observed` must be one row"),
    (lambda: run(observed=[1, 2], statistics=["a"]), ValueError, "`statistics` must name the 2"),
    (lambda: cp.run("nowhere.toml"), ValueError, "cannot read .*nowhere.toml"),
    (lambda: cp.run("nowhere.toml", PARAMETERS), ValueError, "`parameters` stands in the problem file"),
    (lambda: cp.batch(3), TypeError, "`function` must be a function"),
    (lambda: cp.batch(gaussian, size=0), ValueError, "`size` must be a whole number"),
    (lambda: cp.batch(gaussian, size=10**30), ValueError, "`size` must be a whole number from 1 to 2147483648"),
    (lambda: cp.run(b"problem.toml"), TypeError, "`simulator` must be a function"),
    (lambda: run(simulator=lambda: 3), TypeError, r"`simulator` must be a function of \(theta, seed\)"),
    (lambda: run(simulator=cp.batch(lambda x: x)), TypeError, r"`simulator` must be a function of \(thetas, seeds\)"),
    (lambda: run(simulations=b"200"), TypeError, "`simulations` must be text, a number, a list or a dict, found bytes"),
    (lambda: run(weighting={"rule": object()}), TypeError, "`weighting.rule` must be text.*found object"),
    (lambda: run(into=3), TypeError, "`into` must be a path, found int"),
    (lambda: run(into=""), ValueError, "`into` must be a path, found ''"),
    (lambda: run(into="a\0b"), ValueError, "`into` must be a path"),
    (lambda: run(name=3), TypeError, "`name` must be text, found int"),
    (lambda: run(name="\ud800"), ValueError, "`name` must be text that UTF-8 can write"),
    (lambda: run(progress="loud"), TypeError, "`progress` must be True, False or None"),
    (lambda: run(parameters={"m": cp.Uniform(1j, 1)}), TypeError, "`low` of Uniform must be a number"),
    (lambda: run(observed={"mean": 10**400}), ValueError, "`observed` must have finite numbers"),
    (lambda: run(observed=np.ones(3, dtype=complex)), TypeError, "`observed` must be a dict or numbers"),
    (lambda: run(observed={"mean": np.complex128(1)}), TypeError, "`observed` must have numbers"),
    (lambda: run(observed={1: 1.0, "1": 2.0}), ValueError, "`observed` must be different names, found '1' twice"),
    (lambda: run(observed=[1, 2], statistics="ab"), TypeError, "`statistics` must be a list of names"),
    (lambda: run(observed=[1, 2], statistics=["a", "a"]), ValueError, "`statistics` must be different names"),
    (lambda: cp.load(3), TypeError, "`directory` must be a path"),
    (lambda: cp.load("nowhere"), FileNotFoundError, "holds no run"),
    (lambda: cp.Joint([], gaussian, gaussian), ValueError, "`names` must have at least one"),
    (lambda: cp.Joint(["a", "a"], gaussian, gaussian), ValueError, "`names` must be different names, found 'a' twice"),
    (lambda: cp.Joint("ab", gaussian, gaussian), TypeError, "`names` must be a list of names, found 'ab'"),
    (lambda: cp.Joint(["a"], gaussian, gaussian, log="a"), TypeError, "`log` must be a list"),
    (lambda: run(parameters=joint(lambda seed: None)), ValueError, "`draw` must give 1 finite numbers.*found None"),
    (lambda: run(parameters=joint(lambda seed: {"x": 1})), ValueError, "`draw` must give 1 finite numbers"),
    (lambda: run(parameters=joint(lambda seed: ["x"])), ValueError, "`draw` must give 1 finite numbers"),
    (lambda: run(parameters=joint(lambda seed: [np.inf])), ValueError, "`draw` must give 1 finite numbers"),
    (lambda: run(parameters=joint(density=None)), TypeError, "`ln_density` must give a number.*found None"),
    (lambda: run(parameters=joint(density=np.nan)), ValueError, "`ln_density` must be finite where `draw` draws"),
    (lambda: run(parameters=joint(density=-np.inf)), ValueError, "`ln_density` must be finite where `draw` draws"),
    (lambda: cp.Joint(["a"], 3, gaussian), TypeError, "`draw` must be a function"),
    (lambda: cp.Joint(["a"], gaussian, gaussian, log=["b"]), ValueError, "`log` must list some"),
    (lambda: cp.Table(3), TypeError, "`data` must be a dataframe"),
    (lambda: cp.Table({"a": ["x"]}), ValueError, "`data` must have columns of numbers"),
    (lambda: cp.Table({}), ValueError, "`data` must have at least one column"),
    (lambda: cp.Table({1: [1.0], "1": [2.0]}), ValueError, "`data` must be different names"),
    (lambda: cp.Table({"a": [1.0]}, statistics="a"), TypeError, "`statistics` must be a list"),
    (lambda: cp.Sbml(3, times=[1]), TypeError, "`file` must be a path, found int"),
    (lambda: cp.Network("A -> 0 @ k", times=object()), TypeError, "`times` must be text, a number, a list or a dict"),
    (lambda: decay(initial={"A": -1}), ValueError, "`initial.A` must be a number from 0"),
    (lambda: decay(observe="A"), ValueError, "`observe` must be a list of texts"),
    (lambda: decay(parameter="j"), ValueError, "`k` is not known .add it to `parameters` or constants"),
    (lambda: decay(threads=-1), ValueError, "`threads` must be a whole number from 1 to 1000"),
    (lambda: decay(threads=10**6), ValueError, "`threads` must be a whole number from 1 to 1000"),
    (lambda: decay(seed=-1), ValueError, "`seed` must be a whole number"),
    (lambda: cp.Table({"a": [1.0], "b": [1.0, 2.0]}), ValueError, "columns of one length"),
    (lambda: cp.Network(3, times=[1]), TypeError, "`reactions` must be text"),
    (lambda: cp.Network("A -> 0 @", times=[1]).simulate({"k": 1}, n=1), ValueError, "rate"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": np.inf}, n=1), ValueError, "`theta` must have finite"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": [1, 2]}, n=3), ValueError, "one value or 3 values"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": 1}, n=0), ValueError, "`n` must be a whole"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate(3), TypeError, "`theta` must be a dict"),
    (lambda: cp.compare(gaussian, PARAMETERS, rules="uniform"), TypeError, "`rules` must be a list"),
    (lambda: cp.compare(gaussian, PARAMETERS, rules=3), TypeError, "`rules` must be a list"),
    (lambda: cp.compare(gaussian, PARAMETERS, rules=[]), ValueError, "`rules` must have at least one"),
    (lambda: cp.compare(gaussian, PARAMETERS, rules=["--help"]), ValueError, "`rules` --help: .* is no part of a rule"),
    (lambda: cp.compare(gaussian, PARAMETERS, truth=3), TypeError, "`truth` must be a dict"),
    (lambda: cp.compare(gaussian, PARAMETERS, datasets=1), ValueError, "`datasets` must be a whole number from 2"),
    (lambda: cp.compare(gaussian, PARAMETERS, datasets=10**30), ValueError, "`datasets` must be a whole number from 2"),
    (lambda: cp.compare(lambda theta, seed: [], PARAMETERS), ValueError, "`simulator` must give at least one"),
    (lambda: cp.compare(lambda theta, seed: None, PARAMETERS), ValueError, "`simulator` failed at 10 .*found None"),
    (lambda: cp.compare(gaussian, PARAMETERS, keeps=3), TypeError, "unexpected argument `keeps`"),
    (lambda: cp.calibrate(gaussian, PARAMETERS, datasets=0), ValueError, "`datasets` must be a whole"),
    (lambda: cp.calibrate(lambda theta, seed: 1 / 0, PARAMETERS, datasets=2), ValueError, "`simulator` failed at 10"),
]


@pytest.mark.parametrize("case", BAD, ids=[message[:40] for _, _, message in BAD])
def test_a_bad_argument_is_named(case):
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call()


def test_names_cannot_break_out_of_the_text():
    name = 'a"]\n[method]\nseed = 3 #\x00'
    simulate = lambda theta, seed: {name: theta[name]}
    run = cp.run(simulate, {name: cp.Uniform(0, 1)}, {name: 0.5}, simulations=100, keep=20, generations=1, name=name)
    assert run.parameters == [name] and run.summary()["seed"] == 1 and run.summary()["problem"] == name


def test_html_is_escaped():
    name = "<script>alert(1)</script>"
    simulate = lambda theta, seed: {name: theta[name]}
    run = cp.run(simulate, {name: cp.Uniform(0, 1)}, {name: 0.5}, simulations=100, keep=20, generations=1, name=name)
    assert "<script>" not in run._repr_html_() + run.posterior._repr_html_()


BAD_OF_A_RUN = [
    (lambda run: run.population(2), "`generation` must be one of the 2 that are finished.*found 2"),
    (lambda run: run.population(-3), "`generation` must be one of the 2 that are finished.*found -3"),
    (lambda run: run.predictive(10**30), "`generation` must be one of the 2"),
    (lambda run: run.population("x"), "`generation` must be one of the 2.*found 'x'"),
    (lambda run: run.sample(0), "`draws` must be a whole number of at least 1"),
    (lambda run: run.sample(2.5), "`draws` must be a whole number of at least 1"),
    (lambda run: run.sample(3, seed="x"), "`seed` must be a whole number"),
    (lambda run: run.report(__file__), "`path` must be a new file"),
]


@pytest.mark.parametrize("case", BAD_OF_A_RUN, ids=[message[:40] for _, message in BAD_OF_A_RUN])
def test_a_bad_argument_of_a_result_is_named(case, finished):
    call, message = case
    with pytest.raises(ValueError, match=message):
        call(finished)


def test_a_simulator_of_constants_is_told_so():
    with pytest.raises(RuntimeError) as raised:
        run(simulator=lambda theta, seed: [1.0, 2.0, 3.0])
    assert "look at what the simulator returns" in str(raised.value) and "counterpoise check" not in str(raised.value)


def test_a_dataframe_of_one_row_is_observed():
    pandas = pytest.importorskip("pandas")
    given = run(observed=pandas.DataFrame({name: [value] for name, value in OBSERVED.items()}))
    assert given.observed == OBSERVED
    with pytest.raises(TypeError, match="`observed` must have numbers as its values: 'mean' is"):
        run(observed=pandas.DataFrame({name: [value, value] for name, value in OBSERVED.items()}))


def test_files_of_other_kinds_are_told_from_problem_files():
    with pytest.raises(ValueError, match=r"`simulator` must be the path of a problem file .* give its function itself"):
        cp.run(__file__)
    with pytest.raises(ValueError, match=r"`keep` keeps 10 particles: at least 20 are needed"):
        run(keep=10)


def test_a_missing_column_is_named(finished):
    with pytest.raises(KeyError, match="no column 'nothing'; the columns are m, s, importance_weight"):
        finished.posterior["nothing"]


def test_a_missing_package_is_named(finished, monkeypatch):
    for name in ("pandas", "arviz", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"{name}.pyplot", raising=False)
    for call, extra in (
        (finished.posterior.to_pandas, "pandas"),
        (finished.to_arviz, "arviz"),
        (finished.plot_weights, "plots"),
    ):
        with pytest.raises(ModuleNotFoundError, match=rf"not installed: pip install counterpoise\[{extra}\]"):
            call()


def test_what_a_simulator_gives_beside_what_was_observed():
    """One that gives other statistics every time is no simulator that fails, but a wrong argument."""
    for workers in (1, 2):
        with pytest.raises(ValueError, match=r"`simulator` must give the statistics .* does not have \['max'\]"):
            run(observed={"mean": 1.0, "sd": 1.2}, workers=workers)
    with pytest.raises(ValueError, match=r"the simulator does not give \['more'\]"):
        run(observed={**OBSERVED, "more": 1.0})
    with pytest.raises(ValueError, match=r"must give 2 statistics, those of `observed`: found .* shape \(3,\)"):
        run(simulator=lambda theta, seed: [1.0, 2.0, 3.0], observed=[1, 2])
    with pytest.raises(ValueError, match="must give statistics, found None"):
        run(simulator=lambda theta, seed: None)

    def now_and_then(theta, seed):
        return [1.0] if seed % 4 else gaussian(theta, seed)

    with pytest.raises(RuntimeError, match="must give 3 statistics"):
        run(simulator=now_and_then)
