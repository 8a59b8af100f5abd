"""A simulator that misbehaves as its first argument says, for the rows whose seed is a multiple of four.

Notes the number of every process in the folder of its second argument.
"""

import json
import os
import signal
import sys
import time

MODE, PIDS = sys.argv[1], sys.argv[2]


def note():
    open(os.path.join(PIDS, str(os.getpid())), "w").close()


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def fork_a_sleeper():
    """Somebody who holds the output open, does not care for SIGTERM, and sleeps."""
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note()
        time.sleep(1000)
        os._exit(0)


def misbehave(request):
    identity, good = request["id"], [request["seed"] % 1000, request["parameters"]["k"]]
    print("last words of", request["seed"], file=sys.stderr, flush=True)
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif MODE == "exit":
        sys.exit(3)
    elif MODE == "half":
        say('{"id": %d, "statis' % identity)
        os._exit(0)
    elif MODE == "hang":
        time.sleep(1000)
    elif MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        fork_a_sleeper()
        time.sleep(1000)
    elif MODE == "orphan":
        fork_a_sleeper()
        time.sleep(0.1)
        os._exit(5)
    elif MODE == "flood":
        for _ in range(100):
            say("x" * 1_000_000)
    elif MODE == "whines":
        while True:
            os.write(2, b"oh dear\n" * 8192)
    elif MODE == "nan":
        say(json.dumps({"id": identity, "statistics": [1.0, float("nan")]}) + "\n")
    elif MODE == "count":
        say(json.dumps({"id": identity, "statistics": [1.0]}) + "\n")
    elif MODE == "id":
        say(json.dumps({"id": identity + 1, "statistics": good}) + "\n")
    elif MODE == "garbage":
        say("Warning: convergence\n")
    elif MODE == "decline":
        say(json.dumps({"id": identity, "error": "no such rate"}) + "\n")
    else:
        answer(request)


def answer(request):
    values = [request["seed"] % 1000, request["parameters"]["k"]]
    say(json.dumps({"id": request["id"], "statistics": values}) + "\n")


note()
if MODE == "gone":
    print("cannot find my library", file=sys.stderr)
    sys.exit(127)
names = {"twice": ["a", "a"], "many": [f"s{i}" for i in range(100_001)], "none": []}.get(MODE, ["a", "b"])
say(json.dumps({"ready": True, "statistics": names}) + "\n")
answered = 0
for line in sys.stdin:
    request = json.loads(line)
    if MODE == "noisy":
        sys.stderr.write("n" * 10_000_000)
    if MODE == "forks":
        fork_a_sleeper()
    if request["seed"] % 4 == 0:
        misbehave(request)
    else:
        answer(request)
    answered += 1
    if MODE == "leaks" and answered == 5:
        os._exit(1)
    if MODE == "chats":
        say("one line too many\n")
if MODE == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(1000)
