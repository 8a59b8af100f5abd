"""Runs that are stopped, interrupted or killed, and go on to the result they would have had."""

import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, ROOT, gaussian, gaussians, same

import counterpoise as cp


def test_limits_stop_and_the_same_call_goes_on(tmp_path, finished):
    calls = []

    def simulate(theta, seed):
        calls.append(seed)
        return gaussian(theta, seed)

    def run(stop):
        return cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r", stop=stop)

    stopped = run({"simulations": 500})
    assert not stopped.finished and "500" not in repr(stopped) and len(calls) == 500
    whole = run(None)
    assert whole.finished and len(calls) == 800
    same(whole, finished)


def _script(tmp_path, workers):
    """A script that runs into a directory; with an argument it is slow, and says so."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys, time
        sys.path.insert(0, {str(ROOT / "python/tests")!r})
        import counterpoise as cp
        from conftest import PARAMETERS, OBSERVED, BUDGET, gaussian

        def simulate(theta, seed):
            if len(sys.argv) > 1:
                time.sleep(0.01)
                os.write(1, b"at work\\n")
            return gaussian(theta, seed)

        try:
            run = cp.run(simulate, PARAMETERS, OBSERVED, **BUDGET, into={str(tmp_path / "r")!r}, workers={workers})
        except KeyboardInterrupt as interrupt:
            print("interrupted", *getattr(interrupt, "__notes__", []))
            sys.exit(5)
        print(run.summary()["parameters"]["m"]["mean"], run.summary()["simulations"])
        """)
    )
    return [sys.executable, str(script)]


def _begun(script):
    slow = subprocess.Popen([*script, "slow"], stdout=subprocess.PIPE, text=True)
    for _ in range(60):
        assert "at work" in slow.stdout.readline()
    return slow


def _goes_on(script):
    """To the result of a run that nothing happened to."""
    done = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    whole = cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET)
    assert done.stdout.split() == [str(whole.summary()["parameters"]["m"]["mean"]), "800"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_stops_cleanly_and_the_run_resumes(tmp_path, workers):
    script = _script(tmp_path, workers)
    slow = _begun(script)
    slow.send_signal(signal.SIGINT)
    rest = slow.communicate(timeout=60)[0]
    assert slow.returncode == 5 and "interrupted" in rest
    _goes_on(script)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_run_leaves_neither_workers_nor_its_lock(tmp_path, workers):
    script = _script(tmp_path, workers)
    slow = _begun(script)
    slow.kill()
    slow.wait()
    # At once, while its workers may not have seen its end.
    _goes_on(script)
    # The pipe ends when the last of them has closed it.
    slow.communicate(timeout=30)


@pytest.mark.parametrize("workers", [None, 2])
def test_a_batch_that_a_limit_parts_is_the_batch_it_was(tmp_path, workers):
    """400 rows in batches of 64: after 500 simulations the second batch of the second generation is parted."""
    stopped = cp.run(gaussians, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r", stop={"simulations": 500})
    assert not stopped.finished
    again = cp.run(gaussians, PARAMETERS, OBSERVED, **BUDGET, into=tmp_path / "r", workers=workers)
    same(again, cp.run(gaussians, PARAMETERS, OBSERVED, **BUDGET))


def _normal(seen=None):
    """A joint law of one parameter, and a simulator that gives it back with noise."""

    def ln_density(theta):
        if seen is not None:
            seen()
        return -0.5 * theta["m"] ** 2 - 0.5 * np.log(2 * np.pi)

    joint = cp.Joint(["m"], lambda seed: [np.random.default_rng(seed).normal()], ln_density)
    return joint, lambda theta, seed: [np.random.default_rng(seed).normal(theta["m"], 0.1)]


def test_an_interrupt_while_weights_are_chosen_leaves_a_joint_law_its_say(monkeypatch, tmp_path):
    """The generation being weighed is finished, by densities that are those of the law."""
    from counterpoise._progress import Progress

    tell, budget = Progress.__call__, {"simulations": 300, "keep": 50, "generations": 3, "seed": 2}

    def interrupted(self, kind, generation, done, failed):
        if (kind, generation) == ("weighing", 1):
            raise KeyboardInterrupt
        return tell(self, kind, generation, done, failed)

    joint, simulate = _normal()
    whole = cp.run(simulate, joint, [0.5], **budget)
    monkeypatch.setattr(Progress, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cp.run(simulate, joint, [0.5], **budget, into=tmp_path / "r")
    monkeypatch.undo()
    assert len(cp.load(tmp_path / "r").generations) == 2
    same(cp.run(simulate, joint, [0.5], **budget, into=tmp_path / "r"), whole)


def test_an_interrupt_within_a_joint_law_costs_no_simulation(tmp_path):
    """What is weighed without its answer is not kept, and weighed again."""
    calls, budget = [], {"simulations": 300, "keep": 50, "generations": 3, "seed": 2}

    def interrupted():
        # Of the second generation: 600 simulations are done, and densities of the second are asked for.
        if len(calls) == 600 and not armed.is_set():
            armed.set()
            raise KeyboardInterrupt

    armed = threading.Event()
    joint, plain = _normal(interrupted)

    def simulate(theta, seed):
        calls.append(seed)
        return plain(theta, seed)

    with pytest.raises(KeyboardInterrupt):
        cp.run(simulate, joint, [0.5], **budget, into=tmp_path / "r")
    assert armed.is_set() and len(cp.load(tmp_path / "r").generations) == 1
    again = cp.run(simulate, joint, [0.5], **budget, into=tmp_path / "r")
    assert len(calls) == 900
    same(again, cp.run(simulate, joint, [0.5], **budget))


def test_a_run_in_memory_is_in_no_directory(tmp_path):
    stopped = cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, stop={"simulations": 500})
    assert "in memory" in stopped.stopped and "runs/" not in stopped.stopped and stopped.directory is None
    assert stopped.summary()["directory"] is None and "origin" not in stopped.summary()
    kept = cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, stop={"simulations": 500}, into=tmp_path / "r")
    assert f"kept in {tmp_path / 'r'}" in kept.stopped and "the same call goes on" in kept.stopped
    early = cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, stop={"simulations": 50}, into=tmp_path / "early")
    for ask in (lambda: early.posterior, early.prior, early.predictive):
        with pytest.raises(ValueError, match="finished"):
            ask()


@pytest.mark.parametrize("simulator", ["simulate", "network"])
@pytest.mark.parametrize("study", ["compare", "calibrate"])
def test_an_interrupt_ends_a_study(tmp_path, study, simulator):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys, threading, time
        import numpy as np
        import counterpoise as cp

        calls = []

        def simulate(theta, seed):
            calls.append(seed)
            return np.random.default_rng(seed).poisson(50 * np.exp(-theta["k"] * np.arange(1, 4)))

        network = cp.Network("A -> 0 @ k", initial={{"A": 50}}, times=[1, 2, 3])
        names = {{"statistics": ["a", "b", "c"]}} if {simulator!r} == "simulate" else {{}}
        threading.Timer(1.0, lambda: os.write(1, b"now\\n")).start()
        try:
            cp.{study}({simulator}, {{"k": cp.LogUniform(0.01, 10)}}, datasets=500, simulations=4000, **names)
        except KeyboardInterrupt:
            made = len(calls)
            time.sleep(0.3)
            print("interrupted", len(calls) - made)
        """)
    )
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "now\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (0, "interrupted 0\n", "")
