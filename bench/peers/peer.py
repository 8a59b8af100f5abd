"""What the simulators' scripts share: a model on the first line, then a count a line, answered with times and moments.

The model is one line of JSON; the answer to it is `ready <what and which version>`. Every line after it is a number of
simulations; the answer is JSON with the processor seconds they took, child processes included, and the sums and sums of squares of
each species at the last time. Setting up is not timed. Two of one species react at k S (S - 1) / 2.
"""
import json
import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

# Whatever a library prints must not look like an answer.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def answer(text):
    print(text, file=answers, flush=True)


def serve(prepare):
    """`prepare(model)` gives a description and `simulate(count)`, which gives seconds and a list of final states."""
    try:
        what, simulate = prepare(json.loads(sys.stdin.readline()))
    except Exception as error:  # absent, or unable: the others go on
        answer(f"absent {type(error).__name__}: {error}".splitlines()[0])
        return
    answer(f"ready {what}")
    for line in sys.stdin:
        seconds, states = simulate(int(line))
        columns = list(zip(*states))
        sums = [float(sum(column)) for column in columns]
        squares = [float(sum(x * x for x in column)) for column in columns]
        answer(json.dumps({"seconds": seconds, "count": len(states), "sums": sums, "squares": squares}))


def halved(reaction):
    """The constant where a library's propensity for two of one species is k S (S - 1)."""
    twice = len(reaction["reactants"]) == 2 and len(set(reaction["reactants"])) == 1
    return reaction["constant"] / 2 if twice else reaction["constant"]


def counts(indices, names):
    """How often each species occurs, by name."""
    return {names[i]: indices.count(i) for i in dict.fromkeys(indices)}
