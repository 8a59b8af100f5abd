"""A simulator that is quick, and misbehaves as its first argument says for one seed in a hundred.

Notes in the file of its second argument every request that it begins, and how many it has found in its input at a time.
"""

import json
import os
import sys
import time

MODE, NOTES = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
PAIRS = 1500 if MODE == "wide" else 1


def say(text):
    os.write(1, text.encode() + b"\n")


def answer(line):
    request = json.loads(line)
    identity, seed = request["id"], request["seed"]
    os.write(NOTES, b"begun %d\n" % seed)
    pair = "%d, %r" % (seed % 1000, request["parameters"]["k"])
    good = '{"id": %d, "statistics": [%s]}' % (identity, ", ".join([pair] * PAIRS))
    if seed % 100 or MODE == "wide":
        return say(good)
    os.write(2, b"last words of %d\n" % seed)
    if MODE == "exit":
        os._exit(3)
    elif MODE == "hang":
        time.sleep(1000)
    elif MODE == "id":
        say(json.dumps({"id": identity + 1, "statistics": [1.0, 2.0]}))
    elif MODE == "decline":
        say(json.dumps({"id": identity, "error": "no such rate"}))
    else:
        say(good)


say(json.dumps({"ready": True, "statistics": [f"{name}{i}" for i in range(PAIRS) for name in "ab"]}))
heard = b""
while more := os.read(0, 65536):
    heard += more
    *lines, heard = heard.split(b"\n")
    os.write(NOTES, b"found %d in %d\n" % (len(lines), os.getpid()))
    if MODE == "careless":
        lines = lines[:1]
    for line in lines:
        answer(line)
