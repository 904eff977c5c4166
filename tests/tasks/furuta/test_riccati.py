import torch
from scipy.linalg import solve_discrete_are

from metabo.tasks.furuta.riccati import lqr


def test_gains_are_those_of_scipys_riccati_solver(rng):
    drift = torch.randn(20, 4, 4, generator=rng, dtype=torch.float64)
    push = torch.randn(20, 4, 2, generator=rng, dtype=torch.float64)
    state, control = torch.diag(torch.tensor([5.0, 5.0, 0.1, 0.1]).double()), torch.eye(2).double()
    gains = lqr(drift, push, state, control)
    for a, b, k in zip(drift, push, gains, strict=True):
        p = torch.from_numpy(solve_discrete_are(*(m.numpy() for m in (a, b, state, control))))
        expected = torch.linalg.solve(control + b.mT @ p @ b, b.mT @ p @ a)
        torch.testing.assert_close(k, expected, rtol=1e-7, atol=1e-7)
        assert torch.linalg.eigvals(a - b @ k).abs().max() < 1


def test_batched_is_a_loop_over_singles(rng):
    drift = torch.randn(5, 3, 3, generator=rng, dtype=torch.float64)
    push = torch.randn(5, 3, 1, generator=rng, dtype=torch.float64)
    state, control = torch.eye(3).double(), torch.eye(1).double()
    together = lqr(drift, push, state, control)
    alone = [lqr(drift[i : i + 1], push[i : i + 1], state, control) for i in range(5)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=0, atol=1e-12)
