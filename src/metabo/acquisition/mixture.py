"""GMM-UCB: a Gaussian mixture over the sources' best designs, added to UCB.

Notation: pi_c, m_c, S_c are weight, mean and covariance of component c, r_ic the responsibility of
component c for point i. The mixture is fitted by expectation maximization (EM).
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.acquisition.analytic import UCB
from metabo.acquisition.schedule import Schedule
from metabo.errors import OptionError, unknown
from metabo.shapes import Float
from metabo.state import Belief

REGULARIZATION = 1e-4
"""Added to the variances: a component on one point would be a spike that no search finds."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A density on R^D: sum_c pi_c N(x; m_c, S_c)."""

    weight: Float[Tensor, "*S C"]
    mean: Float[Tensor, "*S C D"]
    factor: Float[Tensor, "*S C D D"]
    """Lower Cholesky factors of the covariances."""

    @classmethod
    def fit(
        cls,
        points: Float[Tensor, "n D"],
        components: int,
        generator: torch.Generator,
        *,
        regularization: float = REGULARIZATION,
        n_starts: int = 16,
        iterations: int = 200,
    ) -> "Mixture":
        """The likeliest of several mixtures, each climbed from as many random points as means."""
        n, dim = points.shape
        distinct = len(points.unique(dim=0))
        if not 1 <= components <= distinct:
            raise OptionError(
                f"`components` must lie in 1..{distinct} (the distinct best designs of the "
                f"sources), but got {components}."
            )
        order = torch.rand(n_starts, n, generator=generator, dtype=points.dtype).argsort(-1)
        mean = points.cpu()[order[:, :components]].to(points)  # S C D
        spread = torch.cov(points.mT, correction=0).reshape(dim, dim)
        eye = regularization * torch.eye(dim, dtype=points.dtype, device=points.device)
        factor = torch.linalg.cholesky(spread + eye).expand(*mean.shape, dim)
        weight = torch.full_like(mean[..., 0], 1 / components)
        mixture = cls(weight, mean, factor)
        for _ in range(iterations):
            mixture = mixture._improved(points, eye)
        best = int(mixture.log_density(points).sum(-1).argmax())
        return cls(mixture.weight[best], mixture.mean[best], mixture.factor[best])

    def log_density(self, x: Float[Tensor, "*n D"]) -> Float[Tensor, "*m"]:
        """The logarithm of the density; of each mixture, where there are several."""
        shape = x.shape[:-1]
        return self._joint(x.reshape(-1, x.shape[-1])).logsumexp(-2).unflatten(-1, shape)

    def to(self, device: torch.device | str) -> "Mixture":
        """The same mixture on another device."""
        return Mixture(self.weight.to(device), self.mean.to(device), self.factor.to(device))

    def _joint(self, x: Tensor) -> Tensor:
        """Weighted log densities of the components, log pi_c N(x; m_c, S_c): ... C n."""
        offset = (x - self.mean[..., None, :]).mT  # ... C D n
        white = torch.linalg.solve_triangular(self.factor, offset, upper=False)
        log_determinant = self.factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        constant = 0.5 * x.shape[-1] * math.log(2 * math.pi)
        head = self.weight.log() - log_determinant - constant
        return head[..., None] - 0.5 * white.square().sum(-2)

    def _improved(self, points: Tensor, eye: Tensor) -> "Mixture":
        """One round of EM."""
        share = self._joint(points).softmax(-2)  # S C n
        # A component that no point belongs to must not divide by zero.
        size = share.sum(-1) + 1e-12
        mean = (share @ points) / size[..., None]
        offset = points - mean[..., None, :]  # S C n D
        covariance = offset.mT @ (share[..., None] * offset) / size[..., None, None]
        return Mixture(size / len(points), mean, torch.linalg.cholesky(covariance + eye))


@dataclass(frozen=True, eq=False)
class GMMUCB:
    """w log GMM(x) + (1 - w) UCB(x), with UCB = mu + 2 sigma (of the paper's extra baselines)."""

    mixture: Mixture
    w: Schedule
    # Paper: its formula reads as the density itself, which with the paper's w outweighs any UCB
    # for good: runs stay where the sources' optima are densest. With the logarithm the paper's
    # parameters are among the best ten of 55 on each of its families.
    density: Literal["log", "plain"] = "log"

    def __post_init__(self) -> None:
        """Check the option."""
        if self.density not in ("log", "plain"):
            raise unknown("density", self.density, ("log", "plain"))

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        w = self.w.at(belief.step, belief.budget)
        log_density = self.mixture.log_density(belief.x)
        prior = log_density if self.density == "log" else log_density.exp()
        return w * prior + (1 - w) * UCB(4.0)(belief)
