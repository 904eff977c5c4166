"""Does a trained network improve on what its score started from?

Training chooses among a fixed set of candidates. In use, AFs are maximized over the whole space,
where a network may be too high at points that training never saw. So it is tried out once more on
the validation tasks, as it will be used, and left out where its residual alone does better.
"""

from dataclasses import replace

from metabo.acquisition import NeuralAF
from metabo.gp import Prior
from metabo.loop import rollout
from metabo.policies import informed, learned, searcher
from metabo.tasks import TaskFamily
from metabo.training.config import TrainConfig
from metabo.training.rewards import rewards
from metabo.training.rollouts import regret_floor, validation_tasks


def if_better(
    af: NeuralAF, prior: Prior, family: TaskFamily, config: TrainConfig
) -> tuple[NeuralAF, dict[str, float]]:
    """Return the AF, or its residual alone if that is better, and the scores of both.

    There are no scores if there is nothing to compare: the score has no residual, the family no
    validation tasks, or nothing was trained.
    """
    if config.residual is None or family.validation() is None or not config.iterations:
        return af, {}
    alone = NeuralAF(replace(af.architecture, horizon=0))
    alone.load_state_dict(af.state_dict())
    tasks = validation_tasks(family, config)
    search = searcher("gradient", family.domain, repeats=family.noise > 0)
    budget, floor = config.budgets(family.budget)[-1], regret_floor(config, family)
    score = {}
    for name, one in (("network", af), ("residual", alone)):
        policy = informed(learned(one, family.domain, search), prior.learned)
        done = rollout(policy, tasks, family, seed=config.seed, budget=budget, prior=prior)
        score[name] = round(float(rewards(done.regret, config.reward, floor).mean()), 4)
    return (af if score["network"] > score["residual"] else alone), score
