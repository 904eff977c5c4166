"""What every policy must satisfy on every family: lockstep is alone."""

import pytest
import torch
from families import ALIKE, APPROXIMATE, params

import metabo
from metabo.acquisition import EI
from metabo.evaluation import METHODS, Setting, method
from metabo.policies import Policy, Sample, searcher
from metabo.pretrained import artifacts
from metabo.seeding import Noise, generator
from metabo.state import BOState

EPISODES, STEPS = 3, 3
# At each step one episode is compared, in turn: comparing all takes more than twice as long.
# The pendula are left out (`APPROXIMATE`): their simulations add time and no law.
QUICK = {("branin", "gradient"), ("svm", "grid")}
VARIANTS = (
    "taf-r:ranks=mean:M=20:N=50",
    "taf-r:rho=0.2:hyperparameters=fitted:M=3:N=10",
    "taf-me:hyperparameters=fitted:M=3:N=10",
    "gmm-ucb:w=linear:designs=data:components=1",
    "eps-greedy:epsilon=0.5:designs=data",
)


def policies(family, search):
    for name in METHODS:
        if name.startswith("metabo") and name.replace("metabo", family.name) not in artifacts():
            continue
        yield name, method(name, Setting(family, search))
    for name in VARIANTS:
        yield name, method(name, Setting(family, search))
    yield "sample", Sample(EI(), search)


def quick_first():
    """All families and searchers; the unit suite has a box and a table, with one searcher each.

    The searcher `sobol` is `grid` from other points: one family is enough for it.
    """
    for p in params(APPROXIMATE, ALIKE):
        for search_name in ("gradient", "grid", "sobol"):
            pair = (*p.values, search_name)
            if search_name == "sobol" and p.values != ("hartmann-3",):
                continue
            yield pytest.param(*pair, marks=[] if pair in QUICK else [pytest.mark.slow])


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("family_name", "search_name"), list(quick_first()))
def test_lockstep_is_alone(family_name, search_name):
    family = metabo.family(family_name)
    tasks = family.sample(EPISODES, generator(0, "test tasks"))
    for name, policy in policies(family, searcher(search_name, family.domain)):
        assert isinstance(policy, Policy)
        compare_steps(name, policy, family, tasks, STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("search_name", ["gradient", "grid"])
@pytest.mark.parametrize("family_name", ["branin", "hartmann-3", "svm", "gp-matern52"])
def test_lockstep_is_alone_to_the_end_of_a_run(family_name, search_name):
    family = metabo.family(family_name)
    tasks = family.sample(EPISODES, generator(0, "test tasks"))
    policy = method("ei", Setting(family, searcher(search_name, family.domain)))
    compare_steps("ei", policy, family, tasks, family.budget)


def compare_steps(name, policy, family, tasks, steps):
    """Run all episodes in lockstep, and at each step one of them alone, from its own history."""
    state = BOState.start(family.prior, episodes=EPISODES, budget=family.budget)
    alone = [BOState.start(family.prior, episodes=1, budget=family.budget)] * EPISODES
    for step in range(steps):
        noise = Noise.at(0, episodes=torch.arange(EPISODES), step=step)
        together = policy.propose(state, noise)
        assert ((together.x >= 0) & (together.x <= 1)).all()
        e = step % EPISODES
        here = Noise.at(0, episodes=torch.tensor([e]), step=step)
        compare(name, together, policy.propose(alone[e], here), e)
        y = tasks(together.x[:, None])[:, 0]
        state = state.observe(together.x, y)
        alone = [one.observe(together.x[i : i + 1], y[i : i + 1]) for i, one in enumerate(alone)]


def compare(name, together, alone, e):
    if together.candidates is None:
        # EPS-GREEDY's EI is climbed, which rounds.
        reach = 1e-6 if name.startswith("eps-greedy") else 0
        torch.testing.assert_close(together.x[e], alone.x[0], rtol=0, atol=reach)
        return
    score, lone = together.candidates.score[e], alone.candidates.score[0]
    # The likeliest prior of ten points of a source may leave its covariance nearly singular.
    reach = 1e-7 if "fitted" in name else 1e-9
    torch.testing.assert_close(score.max(), lone.max(), rtol=reach, atol=reach)
    same = (together.candidates.belief.x[e] == alone.candidates.belief.x[0]).all(-1)
    torch.testing.assert_close(score[same], lone[same], rtol=reach, atol=reach)
    first, second = score.topk(2).values
    if name != "sample":
        require_best(together, e)
        require_best(alone, 0)
    if name == "sample" or first - second > 1e-9:
        # Where EI is 1e-5, scores that agree to 1e-11 leave a flat maximum's place open by this.
        torch.testing.assert_close(together.x[e], alone.x[0], rtol=0, atol=1e-5)


def require_best(proposal, e):
    """Where scores tie, any of the best may be chosen, but only one of those."""
    x, score = proposal.candidates.belief.x[e], proposal.candidates.score[e]
    chosen = score[(x == proposal.x[e]).all(-1)]
    assert len(chosen)
    torch.testing.assert_close(chosen.max(), score.max(), rtol=1e-9, atol=1e-9)
