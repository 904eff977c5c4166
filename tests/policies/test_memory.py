import subprocess
import sys

import pytest

CODE = """
import torch
from metabo.acquisition import EI
from metabo.domain import sobol
from metabo.gp import Prior
from metabo.policies import HierarchicalGrid
from metabo.state import BOState

prior = Prior.of([0.1] * 4, signal_variance=1.5, noise_variance=1e-2, mean="observed")
state = BOState.start(prior, episodes=100, budget=60)
for x in sobol(50, 4):
    state = state.observe(x.expand(100, -1), x.sum() * torch.ones(100, dtype=torch.float64))
found = HierarchicalGrid(10_000, 10_000, k=5).candidates(state, EI())
assert found.score.shape == (100, 10_005)
status = open("/proc/self/status").read()  # not ru_maxrss, which a child inherits from pytest
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
def test_60_000_points_of_100_episodes_fit_in_4_gb():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 4
