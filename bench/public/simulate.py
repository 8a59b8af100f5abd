"""A public task as a program that answers a line to every line."""
import json
import sys

from tasks import simulator

simulate = simulator(sys.argv[1])
names = [f"s{j + 1}" for j in range(int(sys.argv[2]))]
print(json.dumps({"ready": True, "statistics": names}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    values = simulate(list(asked["parameters"].values()), asked["seed"])
    print(json.dumps({"id": asked["id"], "statistics": [float(value) for value in values]}), flush=True)
