"""The interpreter with the simulator and nothing else: what memory is measured from."""

import death
import numpy as np
from measure import Measured, task

task()
clock = death.Clock(death.many, len)
measured = Measured()
clock(np.ones((2, 2)), np.arange(2))
death.one(1.0, 1.0, 1)
measured.report(clock, np.zeros((2, 2)), np.ones(2))
