"""The transfer acquisition function (TAF) of Wistuba, Schilling and Schmidt-Thieme (2018).

    TAF(x) = (w EI(x) + sum_i w_i I_i(x)) / (w + sum_i w_i),   I_i(x) = max(0, mu_i(x) - y_i+)

| symbol        | meaning                                                       | shape   |
| ------------- | ------------------------------------------------------------- | ------- |
| EI, w         | expected improvement on the target, and its weight            | E N     |
| mu_i, sigma_i | posterior mean and deviation of source i                      | M E N   |
| y_i+          | the largest mu_i at the target's queries: source i's incumbent | M E     |
| w_i           | weight of source i: the only difference of TAF-ME and TAF-R   | M E N, M E 1 |

Before the first query there is no y_i+. The published program uses the target's minimum, which is
unknown in practice; here it is the smallest value in the source's own data, so that I_i is the
improvement over the worst value of that source.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.acquisition.analytic import EI, LogEI
from metabo.acquisition.base import AcquisitionFunction
from metabo.errors import OptionError, ShapeError, unknown
from metabo.gp import Prior, SourcePosteriors, observed_means
from metabo.rules import number
from metabo.shapes import Float
from metabo.state import Belief, History

_CHUNK_CPU, _CHUNK_CUDA = 2**19, 2**26
"""Covariances with source data to compute at once, on a CPU and on a GPU."""


@dataclass(frozen=True)
class Experts:
    """Weights of TAF-ME: each model counts by its precision at the point, 1 / sigma^2."""

    def target(self, belief: Belief) -> Float[Tensor, "E N"]:
        """Return the weight of the target; the common factor 1 / (M + 1) cancels."""
        return belief.std.square().reciprocal()


@dataclass(frozen=True)
class Ranking:
    """Weights of TAF-R: a source counts by how similarly it and the target rank the queries.

    chi has one entry per ordered pair of the t queries, 1 / (t (t - 1)) if the first is ranked
    higher, else 0; w_i = 3/4 (1 - z^2) for z = |chi_i - chi| / rho up to 1, and 0 beyond. The
    weight of the target is 3/4.

    Raises:
        OptionError: If `rho` is not positive and finite, `ranks` is unknown, or `prior` is missing
            for ranks by the mean.

    Examples:
        >>> Ranking(rho=0.1).ranks
        'observed'
    """

    rho: float = 0.02
    """Bandwidth of the kernel over rank distances.

    Distances are at most 1 / sqrt(t (t - 1)), so the published value 1 hardly distinguishes any
    two sources.
    """
    ranks: Literal["observed", "mean"] = "observed"
    """Rank the target by its observed values, or by its GP's mean as in the published program."""
    prior: Prior | None = None
    """Prior of the target's GP, required for `ranks="mean"`."""

    def __post_init__(self) -> None:
        """Check the options."""
        number(above=0).require("rho", self.rho)
        if self.ranks not in ("observed", "mean"):
            raise unknown("ranks", self.ranks, ("observed", "mean"))
        if self.ranks == "mean" and self.prior is None:
            raise OptionError("Ranking by the GP's mean needs the target's `prior`, but got None.")

    def sources(
        self, history: History, at_history: Float[Tensor, "M E t"]
    ) -> Float[Tensor, "M E 1"]:
        """Return the weights of the sources, given their means at the queries.

        Before the second query all weights are 3/4.
        """
        n_sources, episodes, t = at_history.shape
        if t < 2:
            return at_history.new_full((n_sources, episodes, 1), 0.75)
        y = history.y
        if self.ranks == "mean" and self.prior is not None:
            y = observed_means(self.prior.to(y.device), history.x, y)
        differ = _above(at_history) != _above(y)  # M E t t
        distance = differ.sum((-2, -1), dtype=y.dtype).sqrt() / (t * (t - 1))
        z = distance[..., None] / self.rho
        return 0.75 * (1 - z.square()).clamp_min(0)

    def target(self, belief: Belief) -> Float[Tensor, "E N"]:
        """Return the weight of the target, 3/4."""
        return torch.full_like(belief.std, 0.75)


@dataclass(frozen=True, eq=False)
class TAF:
    """Transfer acquisition function: TAF-ME with `Experts` as weights, TAF-R with `Ranking`.

    Examples:
        >>> from metabo.state import BOState
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> x = torch.tensor([[[0.2], [0.8]]], dtype=torch.float64)
        >>> y = torch.tensor([[0.0, 1.0]], dtype=torch.float64)  # one source, best at 0.8
        >>> taf = TAF(SourcePosteriors.of(prior, x, y), Ranking())
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> int(taf(state.belief(x)).argmax())
        1
    """

    models: SourcePosteriors
    """Posteriors of the source tasks."""
    weighting: Experts | Ranking
    """Weights of sources and target."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        share, total = self.from_sources(belief)
        weight = self.weighting.target(belief)
        return (weight * EI()(belief) + share) / (weight + total)

    @property
    def ascent(self) -> AcquisitionFunction:
        """Log TAF to climb instead: it has a gradient even where no source predicts a gain."""
        return LogTAF(self)

    def from_sources(self, belief: Belief) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Return the sum of the sources' weighted improvements, and the sum of their weights.

        Raises:
            ShapeError: If the points have another dimension than the source tasks.
        """
        models, history = self.models, belief.history
        if belief.x.shape[-1] != models.prior.dim:
            raise ShapeError(
                f"The source tasks have points of {models.prior.dim} dimensions, but the target's "
                f"have {belief.x.shape[-1]}. Use sources from the same space."
            )
        episodes, t, _ = history.x.shape
        rows = max(1, (_CHUNK_CUDA if belief.x.is_cuda else _CHUNK_CPU) // models.size)
        means = [models.mean(part) for part in history.x.flatten(0, 1).split(rows)]
        at_history = torch.cat(means, 1).unflatten(1, (episodes, t))  # M E t
        least = models.y.amin(-1)[:, None, None]
        incumbent = at_history.amax(-1, keepdim=True) if t else least  # M #E 1
        ranked = None
        if isinstance(self.weighting, Ranking):
            ranked = self.weighting.sources(history, at_history)
        chunks = belief.x.split(max(1, rows // episodes), 1)
        parts = [self._chunk(x, incumbent, ranked) for x in chunks]
        share, total = (torch.cat(part, 1) for part in zip(*parts, strict=True))
        return share, total

    def _chunk(self, x: Tensor, incumbent: Tensor, ranked: Tensor | None) -> tuple[Tensor, Tensor]:
        shape, flat = x.shape[:2], x.flatten(0, 1)
        if ranked is None:
            mean, std = self.models.predict(flat)
            weights = std.unflatten(1, shape).square().reciprocal()  # G E N
        else:
            mean, weights = self.models.mean(flat), ranked
        improvement = (mean.unflatten(1, shape) - incumbent).clamp_min(0)  # M E N
        if weights.shape[0] == 1:  # the same for all sources
            share, total = weights[0] * improvement.sum(0), weights[0] * len(improvement)
        else:
            share, total = (weights * improvement).sum(0), weights.sum(0)
        return share, total.expand_as(share)


@dataclass(frozen=True, eq=False)
class LogTAF:
    """Logarithm of TAF, computed from log EI."""

    taf: TAF
    """The function whose logarithm is taken."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        share, total = self.taf.from_sources(belief)
        weight = self.taf.weighting.target(belief)
        # Where no source predicts a gain, the logarithm would be minus infinity and its gradient
        # NaN.
        promised = share.clamp_min(1e-300).log()
        return torch.logaddexp(weight.log() + LogEI()(belief), promised) - (weight + total).log()


def _above(values: Tensor) -> Tensor:
    """Tell for each ordered pair whether the first is ranked higher: ... t -> ... t t."""
    return values[..., :, None] > values[..., None, :]
