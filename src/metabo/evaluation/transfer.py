"""Methods that learn from data of source tasks: TAF, GMM-UCB, EPS-GREEDY and warm starts.

They need no initial design, because the data of the source tasks says where to start.
"""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from metabo.acquisition import EI, GMMUCB, TAF, Experts, Mixture, Ranking, Schedule
from metabo.domain import Finite
from metabo.evaluation.setting import Setting
from metabo.policies import (
    EpsilonGreedy,
    FollowList,
    Maximize,
    Policy,
    by_mean_rank,
    from_midpoint,
    greedy_portfolio,
)
from metabo.seeding import generator
from metabo.sources import SourceData, source_data

Hyperparameters = Literal["target", "fitted"]
Designs = Literal["data", "model"]


@dataclass(frozen=True)
class Tuned:
    """Parameters of GMM-UCB and EPS-GREEDY for a family."""

    w: Schedule
    """Weight of the density in GMM-UCB."""
    components: int
    """Number of components of the mixture in GMM-UCB."""
    epsilon: Schedule
    """Probability of a source's best design in EPS-GREEDY."""


Preset = Literal["tuned", "paper"]
LINEAR = Schedule()
PRESETS: dict[Preset, dict[str, Tuned]] = {
    # Found by `metabo report tuning`, on validation tasks.
    "tuned": {
        "branin": Tuned(Schedule(0.33), 5, LINEAR),
        "goldstein-price": Tuned(Schedule(0.11), 3, LINEAR),
        "hartmann-3": Tuned(Schedule(0.11), 4, LINEAR),
    },
    # Found by the paper, on its test tasks.
    "paper": {
        "branin": Tuned(Schedule(0.22), 3, LINEAR),
        "goldstein-price": Tuned(Schedule(0.22), 1, Schedule(0.55)),
        "hartmann-3": Tuned(Schedule(0.11), 2, LINEAR),
    },
}
OTHERS = Tuned(Schedule(0.22), 1, LINEAR)
"""Parameters for families without tuned ones."""


def tuned(family: str, preset: Preset) -> Tuned:
    """Return the parameters of a preset for a family."""
    return PRESETS[preset].get(family, OTHERS)


def taf_me(
    setting: Setting,
    *,
    M: int | None = None,
    N: int | None = None,
    hyperparameters: Hyperparameters = "target",
) -> Policy:
    """Transfer AF: EI and what M sources promise, weighted by precision (mixture of experts)."""
    models = _sources(setting, M, N, hyperparameters).models.to(setting.device)
    return Maximize(TAF(models, Experts()), setting.search)


def taf_r(
    setting: Setting,
    *,
    M: int | None = None,
    N: int | None = None,
    hyperparameters: Hyperparameters = "target",
    rho: float = 0.02,
    ranks: Literal["observed", "mean"] = "observed",
) -> Policy:
    """Transfer AF: EI and what M sources promise, weighted by how alike they rank the queries."""
    weighting = Ranking(rho, ranks, setting.family.prior if ranks == "mean" else None)
    models = _sources(setting, M, N, hyperparameters).models.to(setting.device)
    return Maximize(TAF(models, weighting), setting.search)


def gmm_ucb(
    setting: Setting,
    *,
    w: Schedule | None = None,
    components: int | None = None,
    M: int | None = None,
    N: int | None = None,
    designs: Designs = "model",
    density: Literal["log", "plain"] = "log",
    preset: Preset = "tuned",
) -> Policy:
    """UCB plus w times the log density of a Gaussian mixture over the sources' best designs."""
    known = tuned(setting.family.name, preset)
    best = _best(setting, M, N, designs)
    n_components = known.components if components is None else components
    mixture = Mixture.fit(best, n_components, generator(0, "mixture")).to(setting.device)
    af = GMMUCB(mixture, known.w if w is None else w, density)
    return Maximize(af, setting.search)


def eps_greedy(
    setting: Setting,
    *,
    epsilon: Schedule | None = None,
    M: int | None = None,
    N: int | None = None,
    designs: Designs = "model",
    preset: Preset = "tuned",
) -> Policy:
    """EI, but with probability epsilon one of the sources' best designs, each at most once."""
    known = tuned(setting.family.name, preset)
    best = _best(setting, M, N, designs).unique(dim=0).to(setting.device)
    greedy = from_midpoint(EI(), setting.family.domain, setting.search)
    return EpsilonGreedy(best, epsilon or known.epsilon, greedy)


def mean_rank(setting: Setting, *, M: int | None = None, N: int | None = None) -> Policy:
    """The sources' points in the order of their mean rank; no model."""
    data = _sources(setting, M, N, "target")
    return FollowList(data.x[by_mean_rank(data.y)])


def portfolio(setting: Setting, *, M: int | None = None, N: int | None = None) -> Policy:
    """The points that together would have served the sources best, greedily chosen; no model."""
    data = _sources(setting, M, N, "target")
    return FollowList(data.x[greedy_portfolio(data.y)])


def _sources(
    setting: Setting, n_sources: int | None, n_points: int | None, hyperparameters: Hyperparameters
) -> SourceData:
    family = setting.family
    if n_sources is None:
        # A table has finitely many sources, and all are used; functions get 50, as in the paper.
        most = family.max_sources if isinstance(family.domain, Finite) else 50
        n_sources = min(most, family.max_sources)
    return source_data(family, n_sources, n_points, hyperparameters=hyperparameters)


def _best(
    setting: Setting, n_sources: int | None, n_points: int | None, designs: Designs
) -> Tensor:
    data = _sources(setting, n_sources, n_points, "target")
    # In a finite domain only its points can be queried.
    if designs == "data" or isinstance(setting.family.domain, Finite):
        return data.best
    return data.predicted_best()
