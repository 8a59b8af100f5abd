"""A simulator that is quick, and misbehaves as its first argument says for one seed in a hundred.

Notes in the file of its second argument when it finds more than one request in its input.
"""

import json
import os
import sys
import time

MODE, NOTES = sys.argv[1], sys.argv[2]


def say(text):
    os.write(1, text.encode() + b"\n")


def answer(line):
    request = json.loads(line)
    identity, seed = request["id"], request["seed"]
    good = json.dumps({"id": identity, "statistics": [seed % 1000, request["parameters"]["k"]]})
    if seed % 100:
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


say(json.dumps({"ready": True, "statistics": ["a", "b"]}))
heard = b""
while more := os.read(0, 65536):
    heard += more
    *lines, heard = heard.split(b"\n")
    if len(lines) > 1:
        open(NOTES, "w").close()
    if MODE == "careless":
        lines = lines[:1]
    for line in lines:
        answer(line)
