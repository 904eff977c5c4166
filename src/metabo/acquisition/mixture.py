"""GMM-UCB: UCB plus a Gaussian mixture over the sources' best designs.

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
"""Constant added to the variances: a component on one point would be too narrow to find."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture density on R^D, sum_c pi_c N(x; m_c, S_c).

    Examples:
        >>> points = torch.tensor([[0.1], [0.11], [0.9], [0.91]], dtype=torch.float64)
        >>> mixture = Mixture.fit(points, 2, torch.Generator().manual_seed(0))
        >>> [round(mean, 2) for mean in mixture.mean[:, 0].sort().values.tolist()]
        [0.1, 0.9]
    """

    weight: Float[Tensor, "*S C"]
    """Weights of the components, which sum to 1."""
    mean: Float[Tensor, "*S C D"]
    """Means of the components."""
    factor: Float[Tensor, "*S C D D"]
    """Lower Cholesky factors of the components' covariances."""

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
        """Fit mixtures from several random starts by EM, and return the most likely one.

        Args:
            points: Data, such as the best designs of source tasks.
            components: Number of components, at most the number of distinct points.
            generator: Chooses the points from which the means start.
            regularization: Constant added to the variances.
            n_starts: Number of fits.
            iterations: Rounds of EM per fit.

        Raises:
            OptionError: If `components` is out of range.
        """
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
        """Return the logarithm of the density of each mixture at the points `x`."""
        shape = x.shape[:-1]
        return self._joint(x.reshape(-1, x.shape[-1])).logsumexp(-2).unflatten(-1, shape)

    def to(self, device: torch.device | str) -> "Mixture":
        """Return the same mixture on another device."""
        return Mixture(self.weight.to(device), self.mean.to(device), self.factor.to(device))

    def _joint(self, x: Tensor) -> Tensor:
        """Return the components' weighted log densities, log pi_c N(x; m_c, S_c): ... C n."""
        offset = (x - self.mean[..., None, :]).mT  # ... C D n
        white = torch.linalg.solve_triangular(self.factor, offset, upper=False)
        log_determinant = self.factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        constant = 0.5 * x.shape[-1] * math.log(2 * math.pi)
        head = self.weight.log() - log_determinant - constant
        return head[..., None] - 0.5 * white.square().sum(-2)

    def _improved(self, points: Tensor, eye: Tensor) -> "Mixture":
        """Run one round of EM."""
        share = self._joint(points).softmax(-2)  # S C n
        # Avoids a division by zero for a component without points.
        size = share.sum(-1) + 1e-12
        mean = (share @ points) / size[..., None]
        offset = points - mean[..., None, :]  # S C n D
        covariance = offset.mT @ (share[..., None] * offset) / size[..., None, None]
        return Mixture(size / len(points), mean, torch.linalg.cholesky(covariance + eye))


@dataclass(frozen=True, eq=False)
class GMMUCB:
    """GMM-UCB, w log GMM(x) + (1 - w) UCB(x) with UCB = mu + 2 sigma (a baseline of the paper).

    Raises:
        OptionError: If `density` is unknown.
    """

    mixture: Mixture
    """Density of the sources' best designs."""
    w: Schedule
    """Weight of the density."""
    # Paper: its formula reads as the density itself, which with the paper's w permanently
    # outweighs any UCB: runs stay where the sources' optima are densest. With the logarithm, the
    # paper's parameters are among the best ten of 55 on each of its families.
    density: Literal["log", "plain"] = "log"
    """Whether the logarithm of the density is added, or the density itself."""

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
