import torch

import metabo
from metabo.acquisition import EI
from metabo.gp import fitted_prior, reduction, standardized
from metabo.loop import rollout
from metabo.policies import GradientRefine, Maximize, Proposal, Refitted, Scatter, StartAt
from metabo.seeding import Noise, generator
from metabo.state import BOState


def test_the_other_policy_sees_a_fitted_model_of_standardized_values():
    family = metabo.family("branin")
    source = generator(0, "x")
    x = torch.rand(2, 6, 2, generator=source, dtype=torch.float64)
    y = 30 * torch.randn(2, 6, generator=source, dtype=torch.float64)
    state = BOState.after(family.prior, x, y, budget=9)
    seen = []

    class Watch:
        def propose(self, state, noise):
            seen.append(state)
            return Maximize(EI(), Scatter(n_global=10)).propose(state, noise)

    Refitted(Watch()).propose(state, Noise.at(0, episodes=torch.arange(2), step=6))
    assert torch.equal(seen[0].history.y, standardized(y))
    expected = fitted_prior(x, standardized(y))
    torch.testing.assert_close(seen[0].gp.prior.lengthscale, expected.lengthscale)
    assert (int(seen[0].step), int(seen[0].budget)) == (6, 9)


class Scaled:
    """Tasks a f + b."""

    def __init__(self, tasks, a, b):
        self.tasks, self.a, self.b = tasks, a, b

    @property
    def optimum(self):
        return self.a * self.tasks.optimum + self.b

    def __call__(self, x):
        return self.a * self.tasks(x) + self.b

    def take(self, index):
        return Scaled(self.tasks.take(index), self.a, self.b)

    def to(self, device):
        return Scaled(self.tasks.to(device), self.a, self.b)


def test_a_function_in_another_unit_gets_the_same_queries():
    family = metabo.family("gp-matern52:dim=2")
    tasks = family.sample(5, generator(0, "test tasks"))
    search = GradientRefine.sized(2)
    policy = Refitted(StartAt(0.5, Maximize(EI(), search), family.domain))
    plain, scaled = (
        rollout(policy, Scaled(tasks, a, b), family, seed=0, budget=10).queries
        for a, b in ((1.0, 0.0), (1000.0, 5.0))
    )
    torch.testing.assert_close(plain, scaled, rtol=0, atol=1e-4)


def test_of_long_runs_the_other_policy_sees_what_ask_and_tell_would_show_it(monkeypatch):
    monkeypatch.setattr(reduction, "MOST_SEEN", 20)
    x = torch.rand(1, 30, 2, generator=generator(0, "x"), dtype=torch.float64)
    y, seen = x.sin().sum(-1), []

    class Watch:
        def propose(self, state, noise):
            seen.append(state)
            return Proposal(state.history.x[:, 0])

    state = BOState.after(metabo.family("branin").prior, x, y, budget=40)
    Refitted(Watch()).propose(state, Noise.at(0, episodes=torch.arange(1), step=30))
    prior = fitted_prior(x, standardized(y))
    direct = BOState.after(prior, x, standardized(y), budget=40)
    assert torch.equal(seen[0].gp.x, direct.gp.x)
    assert seen[0].gp.x.shape[1] == 20
    assert torch.equal(seen[0].history.y, standardized(y))
