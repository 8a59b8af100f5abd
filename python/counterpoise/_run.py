"""Running, comparing and calibrating."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from . import _checks, _native
from ._models import Table
from ._pool import Here, Processes, Spread, locked
from ._problem import Question
from ._progress import Progress
from ._result import Run


def run(
    simulator: Any,
    parameters: Any = None,
    observed: Any = None,
    *,
    simulations: int | None = None,
    keep: float | None = None,
    generations: int | None = None,
    weighting: str | Mapping[str, Any] | None = None,
    reduction: str | Mapping[str, Any] | None = None,
    proposal: str | Mapping[str, Any] | None = None,
    adjust: str | Mapping[str, Any] | None = None,
    seed: int | None = None,
    stop: Mapping[str, Any] | None = None,
    into: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    statistics: Sequence[str] | None = None,
    max_failures: float = 0.5,
    name: str | None = None,
    progress: bool | None = None,
) -> Run:
    """Infer parameters, or go on with what `into` holds of this run.

    `simulator` is a function of `(theta, seed)` that gives a dict or an array of statistics, `cp.batch` of a function
    of arrays, a `cp.Network`, `cp.Sbml` or `cp.Table`, or the path of a problem file. `parameters` is a dict of laws
    or a `cp.Joint`; `observed` a dict, or numbers in the simulator's order. `simulations`, `keep`, `generations`,
    `weighting`, `reduction`, `proposal`, `adjust` and `seed` are the keys of `[method]` in a problem file, `stop` is
    its `[stop]`. With `into` everything is kept in that directory, which is the same as the command line's. `workers`
    is the number of processes for a function, of threads for a model of the engine's own. `executor` is any
    `concurrent.futures.Executor`. The result depends on none of these three.

    >>> import numpy as np, counterpoise as cp
    >>> def simulate(theta, seed):
    ...     x = np.random.default_rng(seed).normal(theta["m"], 1.0, size=20)
    ...     return {"mean": x.mean(), "max": x.max()}
    >>> parameters, observed = {"m": cp.Uniform(-5, 5)}, {"mean": 1.0, "max": 2.9}
    >>> r = cp.run(simulate, parameters, observed, simulations=1000, generations=2, seed=1)
    >>> abs(r.summary()["parameters"]["m"]["mean"] - 1) < 0.3
    True
    """
    method = _method(simulations, keep, generations, weighting, reduction, proposal, adjust, seed)
    question = Question(
        simulator,
        parameters,
        observed,
        statistics=statistics,
        name=name,
        method=method,
        stop=stop,
        max_failures=max_failures,
    )
    if workers is not None:
        # Those of an executor are chunks under way; all others are processes or threads of this machine.
        workers = _checks.whole("workers", workers, most=_checks.MOST_WORKERS if executor is None else None)
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(f"`progress` must be True, False or None, found {progress!r}")
    directory = None if into is None else _checks.path("into", into)
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "submit", None))):
        found = f"the class {executor.__name__}" if isinstance(executor, type) else type(executor).__name__
        raise TypeError(f"`executor` must be a concurrent.futures.Executor, found {found}")
    if executor is not None and isinstance(simulator, Table):
        raise ValueError("`executor` has nothing to do for a table")
    pool: Here | Spread | None = None
    if executor is not None:
        pool = Spread(question.remote(), executor, workers)
    elif question.work is not None:
        pool = Processes(question.work, workers) if workers is not None and workers > 1 else Here(question.work)
    threads = workers if question.work is None and executor is None else None
    told = Progress(progress, question.plan)
    try:
        with locked(directory):
            return Run(question.native.run(directory, threads, pool, told))
    except RuntimeError as error:
        if pool is not None and pool.chunks.unlike is not None:
            # Not a simulation now and then, but all of them: one of the arguments is wrong.
            message = "`simulator` must give the statistics that `observed` has, and never did"
            raise ValueError(f"{message}: {pool.chunks.unlike}") from error
        raise
    except KeyboardInterrupt as interrupt:
        if directory is not None and hasattr(interrupt, "add_note"):
            interrupt.add_note(f"what is finished is kept in {directory}; the same call goes on with it")
        raise
    finally:
        told.close()
        if isinstance(pool, Processes):
            pool.close()


def load(directory: str | os.PathLike[str]) -> Run:
    """Read a run from its directory, be it of Python or of the command line.

    >>> import os, tempfile, counterpoise as cp
    >>> into = os.path.join(tempfile.mkdtemp(), "decay")
    >>> network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2])
    >>> done = cp.run(network, {"k": cp.LogUniform(0.01, 10)}, [45, 41], simulations=500, generations=1, into=into)
    >>> cp.load(into).summary()["parameters"] == done.summary()["parameters"]
    True
    """
    return Run(_native.Outcome.load(_checks.path("directory", directory)))


def compare(
    simulator: Any,
    parameters: Any = None,
    *,
    rules: Sequence[str] | None = None,
    datasets: int = 10,
    truth: Mapping[str, float] | None = None,
    statistics: Sequence[str] | None = None,
    workers: int | None = None,
    **method: Any,
) -> dict[str, Any]:
    """Judge methods on the same simulations of data whose truth is known: what `counterpoise compare --json` prints.

    `rules` are names joined by +, such as `"uniform+semi-automatic+linear"`. Truths come from the prior unless
    `truth` gives one. Further arguments are those of the method in `run`. A Python function is called in this
    process, by one thread at a time.

    >>> import counterpoise as cp
    >>> network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2])
    >>> laws, budget = {"k": cp.LogUniform(0.01, 10)}, {"simulations": 200, "keep": 20, "generations": 1}
    >>> judged = cp.compare(network, laws, rules=["uniform", "sd"], datasets=2, **budget)
    >>> [rule["rule"] for rule in judged["rules"]]
    ['uniform', 'sd']
    """
    words = _datasets(datasets)
    if rules is not None:
        named = _checks.names("rules", rules)
        if not named:
            raise ValueError("`rules` must have at least one rule")
        words.append(f"--rules={','.join(named)}")
    if truth is not None and not isinstance(truth, Mapping):
        raise TypeError(f"`truth` must be a dict of parameters, found {type(truth).__name__}")
    return _study("compare", words, simulator, parameters, truth, statistics, workers, method)


def calibrate(
    simulator: Any,
    parameters: Any = None,
    *,
    datasets: int = 100,
    statistics: Sequence[str] | None = None,
    workers: int | None = None,
    **method: Any,
) -> dict[str, Any]:
    """See whether intervals cover the truth as often as they say: what `counterpoise calibrate --json` prints.

    Truths come from the prior. Further arguments are those of the method in `run`.

    >>> import counterpoise as cp
    >>> network = cp.Network("A -> 0 @ k", initial={"A": 50}, times=[1, 2])
    >>> laws, budget = {"k": cp.LogUniform(0.01, 10)}, {"simulations": 200, "keep": 20, "generations": 1}
    >>> "verdict" in cp.calibrate(network, laws, datasets=4, **budget)
    True
    """
    return _study("calibrate", _datasets(datasets), simulator, parameters, None, statistics, workers, method)


_METHOD = ("simulations", "keep", "generations", "weighting", "reduction", "proposal", "adjust", "seed")


def _method(*values: Any) -> dict[str, Any]:
    return dict(zip(_METHOD, values, strict=True))


def _datasets(datasets: Any) -> list[str]:
    return ["--datasets", str(_checks.whole("datasets", datasets, 2, 1_000_000))]


def _study(
    command: str,
    words: list[str],
    simulator: Any,
    parameters: Any,
    truth: Mapping[str, float] | None,
    statistics: Sequence[str] | None,
    workers: int | None,
    method: dict[str, Any],
) -> dict[str, Any]:
    if unknown := [key for key in method if key not in _METHOD]:
        raise TypeError(f"{command}() got an unexpected argument `{unknown[0]}`; those of the method are {_METHOD}")
    if isinstance(simulator, Table):
        raise ValueError(f"`simulator` must be able to simulate: {command} makes data of its own, and a table cannot")
    question = Question(
        simulator,
        parameters,
        None,
        statistics=statistics,
        name=None,
        method=method,
        stop=None,
        max_failures=0.5,
        truth=truth,
        needs_observed=False,
    )
    if workers is not None:
        threads = _checks.whole("workers", workers, most=_checks.MOST_WORKERS)
        words = [*words, "--threads", str(threads)]
    native = question.native
    printed = _interruptible(lambda: native.command([command, "problem", "--json", *words]), native.stop)
    result: dict[str, Any] = json.loads(printed)
    return result


def _interruptible(call: Callable[[], str], stop: Callable[[], None]) -> str:
    """Wait for a call in a thread of its own, so that an interrupt is heard, which ends it; a second does not wait."""
    answer: list[str] = []
    error: list[BaseException] = []
    # Waiting for the thread itself, an interrupt would make Python 3.11 believe that it has ended.
    ended = threading.Event()

    def work() -> None:
        try:
            answer.append(call())
        except BaseException as caught:
            error.append(caught)
        finally:
            ended.set()

    threading.Thread(target=work, daemon=True).start()
    try:
        while not ended.wait(0.1):
            pass
    except BaseException:
        stop()
        ended.wait()
        raise
    if error:
        raise error[0]
    return answer[0]
