"""sbi's SMCABC with a vectorised simulator, L2 distance; nothing is kept on disk."""

import death
import numpy as np
import torch
from measure import Measured, task

try:
    from sbi.inference.abc import SMCABC
except ImportError:
    from sbi.inference import SMCABC
from sbi.utils import BoxUniform

observed, simulations, keep, generations, seed, folder = task()
torch.set_num_threads(1)
torch.manual_seed(seed)
clock = death.Clock(death.many, len)
death.many(np.ones((2, 2)), np.arange(2))


def simulate(theta):
    seeds = torch.randint(1, 2**31, (len(theta),)).numpy()
    return torch.as_tensor(clock(10 ** theta.numpy().astype(float), seeds), dtype=torch.float32)


prior = BoxUniform(low=-3 * torch.ones(2), high=3 * torch.ones(2))
measured = Measured()
inference = SMCABC(simulate, prior, distance="l2", num_workers=1, simulation_batch_size=1000, show_progress_bars=False)
posterior = inference(
    torch.as_tensor(observed, dtype=torch.float32)[None],
    num_particles=keep,
    num_initial_pop=simulations,
    num_simulations=simulations * generations,
    epsilon_decay=0.5,
    distance_based_decay=True,
)
log10 = np.asarray(posterior)
measured.report(clock, log10, np.ones(len(log10)))
