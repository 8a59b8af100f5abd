"""Bad arguments raise ValueError or TypeError, with the argument's name and what was expected."""

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, gaussian

import counterpoise as cp


def run(simulator=gaussian, parameters=PARAMETERS, observed=OBSERVED, **arguments):
    return cp.run(simulator, parameters, observed, **{**BUDGET, **arguments})


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
    (lambda: run(workers=0), ValueError, "`workers` must be a whole number of at least 1"),
    (lambda: run(executor=3), TypeError, "`executor` must be a concurrent.futures.Executor"),
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
    (lambda: cp.load(3), TypeError, "`directory` must be a path"),
    (lambda: cp.load("nowhere"), FileNotFoundError, "holds no run"),
    (lambda: cp.Joint([], gaussian, gaussian), ValueError, "`names` must be different names"),
    (lambda: cp.Joint(["a"], 3, gaussian), TypeError, "`draw` must be a function"),
    (lambda: cp.Joint(["a"], gaussian, gaussian, log=["b"]), ValueError, "`log` must list some"),
    (lambda: cp.Table(3), TypeError, "`data` must be a dataframe"),
    (lambda: cp.Table({"a": ["x"]}), ValueError, "`data` must have columns of numbers"),
    (lambda: cp.Table({"a": [1.0], "b": [1.0, 2.0]}), ValueError, "columns of one length"),
    (lambda: cp.Network(3, times=[1]), TypeError, "`reactions` must be text"),
    (lambda: cp.Network("A -> 0 @", times=[1]).simulate({"k": 1}, n=1), ValueError, "rate"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": np.inf}, n=1), ValueError, "`theta` must have finite"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": [1, 2]}, n=3), ValueError, "one value or 3 values"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate({"k": 1}, n=0), ValueError, "`n` must be a whole"),
    (lambda: cp.Network("A -> 0 @ k", times=[1]).simulate(3), TypeError, "`theta` must be a dict"),
    (lambda: cp.compare(gaussian, PARAMETERS, rules="uniform"), TypeError, "`rules` must be a list"),
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
