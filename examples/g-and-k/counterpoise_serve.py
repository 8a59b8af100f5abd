"""Makes a Python function a simulator for Counterpoise. Needs nothing but Python 3; copy it beside your script.

    from counterpoise_serve import serve

    def simulate(theta, seed):              # a dict of parameters, a whole number
        ...
        return {"mean": 1.5, "max": 3.0}    # a dict of statistics, or a list in their order

    serve(simulate, ["mean", "max"])
"""

import json
import os
import sys
import traceback


def serve(simulate, statistics):
    """Answers requests until there are no more. An exception of `simulate` is a failed simulation, and no more."""
    # Answers get the standard output for themselves: whatever else is printed goes to the standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    statistics = list(statistics)

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    say({"ready": True, "statistics": statistics})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            values = simulate(request["parameters"], request["seed"])
            if isinstance(values, dict):
                values = [values[name] for name in statistics]
            answer = {"id": request["id"], "statistics": [float(value) for value in values]}
        except Exception as error:
            traceback.print_exc()
            answer = {"id": request["id"], "error": f"{type(error).__name__}: {error}"}
        say(answer)
