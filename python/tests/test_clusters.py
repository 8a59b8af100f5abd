"""Executors of every kind give the run that this process alone gives, to the bit."""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BUDGET, OBSERVED, PARAMETERS, ROOT, command, gaussian, gaussians, same

import counterpoise as cp

DEATH = ROOT / "examples/death/problem.toml"
SMALL = ["--set", "method.simulations=2000", "--set", "method.keep=100", "--set", "method.generations=2"]


def slow(theta, seed):
    time.sleep(0.01)
    return gaussian(theta, seed)


@pytest.mark.parametrize("simulator", [gaussian, gaussians], ids=["plain", "batch"])
@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_of_the_standard_library(kind, simulator):
    with kind(2) as executor:
        spread = cp.run(simulator, PARAMETERS, OBSERVED, **BUDGET, executor=executor)
    same(spread, cp.run(simulator, PARAMETERS, OBSERVED, **BUDGET))


def test_models_of_the_engine_on_an_executor(tmp_path):
    network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2, 5], max_events=40)
    given = {"k": cp.LogUniform(1e-3, 10)}, [45, 41, 31]
    with ProcessPoolExecutor(2) as executor:
        spread = cp.run(network, *given, **BUDGET, executor=executor, into=tmp_path / "a")
        problem = cp.run(DEATH, simulations=1000, keep=50, generations=2, executor=executor)
    local = cp.run(network, *given, **BUDGET, into=tmp_path / "b")
    same(spread, local)
    assert spread.simulations(0)["outcome"] == local.simulations(0)["outcome"]
    assert any(spread.simulations(0)["outcome"])
    same(problem, cp.run(DEATH, simulations=1000, keep=50, generations=2))


class Lossy(ThreadPoolExecutor):
    """Loses a few of the first chunks it is sent."""

    sent = 0

    def submit(self, function, /, *arguments, **named):
        self.sent += 1
        lost = self.sent in (3, 8)

        def work():
            if lost:
                raise ConnectionError("the worker is gone")
            return function(*arguments, **named)

        return super().submit(work)


def test_lost_chunks_are_sent_again():
    with Lossy(2) as executor:
        spread = cp.run(gaussians, PARAMETERS, OBSERVED, **BUDGET, executor=executor)
    assert executor.sent >= 3
    same(spread, cp.run(gaussians, PARAMETERS, OBSERVED, **BUDGET))


def test_an_executor_that_always_fails_ends_the_run():
    class Broken(ThreadPoolExecutor):
        def submit(self, function, /, *arguments, **named):
            def work():
                raise ConnectionError("no route to anybody")

            return super().submit(work)

    with Broken(1) as executor, pytest.raises(RuntimeError, match="no route to anybody"):
        cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, executor=executor)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


def test_dask_with_a_worker_killed(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        done = threading.Event()
        killed = []

        def kill():
            done.wait(1.0)
            worker = next(iter(cluster.workers.values()))
            killed.append(not done.is_set())
            os.kill(worker.pid, 9)

        thread = threading.Thread(target=kill)
        thread.start()
        spread = cp.run(slow, PARAMETERS, OBSERVED, **BUDGET, executor=client.get_executor(pure=False))
        done.set()
        thread.join()
    assert killed == [True], "the run was over before a worker could be killed"
    same(spread, cp.run(slow, PARAMETERS, OBSERVED, **BUDGET, workers=2))


def test_the_command_on_dask(cluster, tmp_path):
    spread, local = tmp_path / "spread", tmp_path / "local"
    address = cluster.scheduler_address
    done = command("run", str(DEATH), "--into", str(spread), "--json", "--dask", address, *SMALL)
    assert done.returncode == 0, done.stderr
    assert command("run", str(DEATH), "--into", str(local), *SMALL).returncode == 0
    same(cp.load(spread), cp.load(local))
    assert json.loads(done.stdout)["simulations"] == 4000
    assert _equal_bytes(spread, local)


@pytest.fixture(scope="module")
def ranks():
    pytest.importorskip("mpi4py")
    try:
        subprocess.run(["mpiexec", "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no mpiexec; type: sudo apt-get install openmpi-bin")
    return ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable]


def test_the_command_on_mpi(ranks, tmp_path):
    def run(*words):
        command = [*ranks, "-m", "counterpoise._command", "run", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    spread, local = tmp_path / "spread", tmp_path / "local"
    words = [str(DEATH), "--into", str(spread), "--json", "--mpi", *SMALL]
    stopped = run(*words, "--set", "stop.simulations=2500")
    assert stopped.returncode == 3, stopped.stderr
    assert "--mpi" in stopped.stderr
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["simulations"] == 4000
    assert command("run", str(DEATH), "--into", str(local), *SMALL).returncode == 0
    same(cp.load(spread), cp.load(local))
    assert _equal_bytes(spread, local)
    bad = run("nowhere.toml", "--mpi")
    assert bad.returncode == 2 and "nowhere.toml" in bad.stderr


def test_functions_on_mpi(ranks, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"""
import sys
sys.path.insert(0, {str(ROOT / "python/tests")!r})
from conftest import BUDGET, OBSERVED, PARAMETERS, gaussian
import counterpoise as cp

if __name__ == "__main__":
    from mpi4py.futures import MPIPoolExecutor
    with MPIPoolExecutor() as executor:
        cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, executor=executor, into={str(tmp_path / "r")!r})
""")
    done = subprocess.run([*ranks, "-m", "mpi4py.futures", str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    same(cp.load(tmp_path / "r"), cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET))


def test_bad_addresses_are_bad_input():
    pytest.importorskip("distributed")
    done = command("run", str(DEATH), "--dask", "nonsense://here", *SMALL)
    assert done.returncode == 2 and done.stderr.startswith("error:"), done.stderr


def _equal_bytes(one, other):
    names = [f"generations/00{g}/{file}.parquet" for g in (0, 1) for file in ("simulations", "population")]
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in [*names, "posterior.parquet"])


def test_chunks_are_as_large_as_their_rows_are_cheap():
    from counterpoise._pool import Chunks

    class Simulator:
        unit = 1

    for cost, expected in ((0.1, 5), (0.01, 50), (1e-4, 5000), (3.0, 1)):
        chunks = Chunks(Simulator(), 0.5)
        chunks.begin(np.zeros((10**6, 1)), np.zeros(10**6), np.arange(10**6), 0)
        sizes = []
        for _ in range(12):
            start, end = chunks.take(4)
            sizes.append(end - start)
            chunks.learn(end - start, cost * (end - start))
        # Begun carefully, and then about half a second each.
        assert sizes[0] <= 4 and all(after <= 4 * before for before, after in itertools.pairwise(sizes))
        assert sizes[-1] == pytest.approx(expected, rel=0.02)
    # At the end the rest is shared out, so that nobody waits for the last.
    chunks.begin(np.zeros((40, 1)), np.zeros(40), np.arange(40), 0)
    chunks.size = 1000
    assert chunks.take(4) == (0, 10)


def test_chunks_keep_batches_together():
    from counterpoise._pool import Chunks

    class Simulator:
        unit = 10

    chunks = Chunks(Simulator(), 1.0)
    rows = np.array([3, 4, 10, 11, 12, 25, 29, 30, 41])
    chunks.begin(np.zeros((9, 1)), np.zeros(9), rows, 0)
    chunks.size = 1
    taken = []
    while (piece := chunks.take(1)) is not None:
        taken.append(rows[slice(*piece)].tolist())
    assert taken == [[3, 4], [10, 11, 12], [25, 29], [30], [41]]


class Held(Executor):
    """Chunks that come back, or are lost together with their worker, when the test says so."""

    def submit(self, function, /, *arguments, **named):
        return Future()


def test_nobody_is_blamed_for_the_death_of_another():
    """Who lost a worker beside others is sent with nothing beside it; only what is lost alone is to blame."""
    from counterpoise._pool import Spread
    from counterpoise._simulators import Plain

    class Renewed(Spread):
        def renew(self):
            return True

    rows = np.arange(40)
    for deadly, chance in ((set(), 3), ({7}, 0), ({7, 31, 39}, 5)):
        pool = Renewed(Plain(gaussian, list(PARAMETERS), list(OBSERVED), []), Held(), 2)
        pool.begin(np.ones((40, 2)), rows, rows, 0)
        seen, failed, deaths = [], set(), 0
        answer = pool.next()
        while answer is not None:
            seen += answer[0].tolist()
            failed |= {int(answer[0][at]) for at, _ in answer[2]}
            pool._fill()
            held = [(future, places) for future, places in pool.under_way.items() if not future.done()]
            suspects = [places for places in pool.under_way.values() if pool.attempts.get(places)]
            assert not suspects or len(pool.under_way) == 1
            dies = any(deadly & set(range(*places)) for _, places in held)
            # By chance a worker dies whose chunks would not have hurt it: the first few times that there are several.
            if not dies and deaths < chance and len(held) > 1:
                deaths, dies = deaths + 1, True
            for future, (start, end) in held:
                if dies:
                    future.set_exception(BrokenExecutor("a worker is gone"))
                else:
                    future.set_result(((np.zeros((end - start, 3)), []), 0.1))
            answer = pool.next()
        assert sorted(seen) == rows.tolist() and failed == deadly


def test_an_executor_that_is_lost_is_named():
    class Gone(ThreadPoolExecutor):
        def submit(self, function, /, *arguments, **named):
            raise BrokenExecutor("nobody is left")

    with Gone(1) as executor, pytest.raises(RuntimeError, match="`executor` has lost its workers.*nobody is left"):
        cp.run(gaussian, PARAMETERS, OBSERVED, **BUDGET, executor=executor)


def test_a_batch_of_the_main_script_goes_to_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"""
import sys
from concurrent.futures import ProcessPoolExecutor
sys.path.insert(0, {str(ROOT / "python/tests")!r})
import conftest, multiprocessing
import counterpoise as cp

@cp.batch(size=64)
def simulate(thetas, seeds):
    return conftest.gaussians.function(thetas, seeds)

if __name__ == "__main__":
    runs = []
    for method in ("fork", "spawn"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as executor:
            given = conftest.PARAMETERS, conftest.OBSERVED
            runs.append(cp.run(simulate, *given, **conftest.BUDGET, executor=executor, into={str(tmp_path)!r} + "/r"))
    runs.append(cp.run(simulate, *given, **conftest.BUDGET))
    conftest.same(runs[0], runs[1])
    conftest.same(runs[0], runs[2])
""")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
