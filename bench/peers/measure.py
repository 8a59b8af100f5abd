"""Runs a program and prints its processor seconds, wall seconds and peak memory in megabytes, then what it said last."""

import resource
import subprocess
import sys
import time

start = time.time()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, time.time() - start, used.ru_maxrss / 1024)
print((done.stdout.strip().splitlines() or [""])[-1])
sys.exit(done.returncode)
