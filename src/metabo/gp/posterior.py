"""Exact Gaussian-process regression for a batch of E data sets, grown by one row per step.

Notation (A is the covariance of the observations, L its Cholesky factor):

| symbol     | meaning                              | shape   |
| ---------- | ------------------------------------ | ------- |
| `x`, `y`   | observations                         | E t D, E t |
| `inverse`  | L^-1, lower triangular               | E t t   |
| `white_y`  | L^-1 y                               | E t     |
| `white_1`  | L^-1 (1, ..., 1)                     | E t     |
| `cross`    | k(x, candidates) / signal variance   | E t N   |
| `v`        | L^-1 k(x, candidates)                | E t N   |

The mean is m + v' L^-1 (y - m), the variance s - v' v. L^-1 is stored rather than L: a new row of
it costs the same, and prediction becomes one batched product instead of a triangular solve.

A factor grown row by row loses more digits than one computed at once. That is harmless unless the
weights A^-1 (y - m) are huge, which happens if nearly coinciding points have contradictory values
that the noise does not explain. In that case the factor is recomputed after each row.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from metabo.devices import is_capturing
from metabo.domain import require_dim
from metabo.errors import ShapeError
from metabo.gp.kernels import KERNELS, SLOPES, correlation, square_distance
from metabo.gp.prior import Prior
from metabo.shapes import Bool, Float

Pullback = Callable[[Tensor, Tensor], Tensor]
"""Map derivatives with respect to mean and deviation, `E N`, to those of the points, `E N D`."""

VARIANCE_FLOOR = 1e-14
"""Smallest posterior variance as a share of the signal variance.

Rounding can leave less than that, even less than zero, at an observed point.
"""

HUGE_WEIGHT = 1e6
"""Largest weight s A^-1 (y - m), in units of the values, up to which a grown factor is trusted.

In runs of EI on the published functions, weights reach 1e4, and the means of both factors agree to
1e-5 signal deviations. On RBF samples in 2 dimensions, weights exceed 1e6 in 4 % of 100 steps.
With larger weights the error of a grown factor's mean can be hundreds of times that of a factor
computed at once (`studies/grown_factor.py`).
"""


@dataclass(frozen=True)
class GP:
    """A batch of GP posteriors over the latent (noise-free) functions.

    Examples:
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> x = torch.tensor([[[0.25], [0.75]]], dtype=torch.float64)
        >>> gp = GP.of(prior, x, torch.tensor([[1.0, 2.0]], dtype=torch.float64))
        >>> mean, std = gp.predict(x)
        >>> [round(m, 4) for m in mean[0].tolist()], bool((std < 1e-3).all())
        ([1.0, 2.0], True)
    """

    prior: Prior
    """Hyperparameters, shared by all episodes or one row for each."""
    x: Float[Tensor, "E t D"]
    """Observed points."""
    y: Float[Tensor, "E t"]
    """Observed values."""
    inverse: Float[Tensor, "E t t"]
    """Inverse L^-1 of the Cholesky factor of the observations' covariance."""
    white_y: Float[Tensor, "E t"]
    """L^-1 y, the whitened values."""
    white_1: Float[Tensor, "E t"]
    """L^-1 (1, ..., 1), for a prior mean that depends on the data."""

    @classmethod
    def empty(cls, prior: Prior, episodes: int) -> "GP":
        """Return the posteriors before any observation: mean 0, deviation sqrt(signal variance).

        Raises:
            ShapeError: If the prior has another number of rows than 1 or `episodes`.
        """
        if prior.lengthscale.shape[0] not in (1, episodes):
            raise ShapeError(
                f"A prior must have one row or one per episode ({episodes}), but has "
                f"{prior.lengthscale.shape[0]}."
            )
        none = prior.lengthscale.new_empty(episodes, 0)
        points, square = none.new_empty(episodes, 0, prior.dim), none.new_empty(episodes, 0, 0)
        return cls(prior, points, none, square, none, none)

    @classmethod
    def of(cls, prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]) -> "GP":
        """Return the posteriors given many observations, by one factorization of all."""
        inverse, is_made = _inverse_factor(prior, x)
        if not bool(is_made.all()):  # some points coincide up to rounding
            gp = cls.empty(prior, x.shape[0])
            for t in range(x.shape[1]):
                gp = gp._grown(x[:, t], y[:, t])
            return gp
        return cls(prior, x, y, inverse, *_whitened(inverse, y))

    @property
    def mean(self) -> Float[Tensor, " E"]:
        """Prior mean m of each episode, which may depend on the observations."""
        if self.prior.mean == "zero" or self.y.shape[-1] == 0:
            return self.y.new_zeros(self.y.shape[0])
        return self.y.mean(-1)

    def condition(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "GP":
        """Return the posteriors given one more observation per episode.

        Raises:
            ShapeError: If `x` or `y` does not match the number of episodes or dimensions.
        """
        self._require(x, "E D")
        self._require(y, "E")
        grown = self._grown(x, y)
        # A captured graph cannot read values, so it keeps the grown factor.
        return grown if is_capturing(x) else grown._mended()

    def _grown(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "GP":
        """Return the posteriors with one more row in the factor."""
        prior = self.prior
        cross = correlation(prior.kernel, self.x, x[:, None, :], prior.lengthscale)  # E t 1
        row = (self.scaled_inverse @ cross)[..., 0]  # E t
        # The new point's variance given the others is at least the diagonal. If points coincide
        # and the noise is tiny, rounding can push it below that, even below zero.
        left = prior.signal_variance + prior.diagonal - row.square().sum(-1)
        pivot = torch.maximum(left, prior.diagonal.clamp_min(1e-300)).sqrt()[:, None]  # E 1
        new_row = (
            torch.cat([-(row[:, None, :] @ self.inverse)[:, 0, :], torch.ones_like(pivot)], -1)
            / pivot
        )
        above = torch.nn.functional.pad(self.inverse, (0, 1))  # E t t+1
        return GP(
            prior,
            torch.cat([self.x, x[:, None, :]], -2),
            torch.cat([self.y, y[:, None]], -1),
            torch.cat([above, new_row[:, None, :]], -2),
            torch.cat([self.white_y, (y[:, None] - _dot(row, self.white_y)) / pivot], -1),
            torch.cat([self.white_1, (1 - _dot(row, self.white_1)) / pivot], -1),
        )

    @property
    def is_untrustworthy(self) -> Bool[Tensor, " E"]:
        """Whether the weights of each episode are too large for a factor grown row by row."""
        weights = torch.bmm(self.weights.mT, self.inverse)[:, 0].abs().amax(-1)
        signal, centred = self.prior.signal_variance, self.y - self.mean[:, None]
        values = torch.maximum(centred.abs().amax(-1), signal.sqrt())
        return signal * weights > HUGE_WEIGHT * values

    def _mended(self) -> "GP":
        """Return the same posteriors, with the factor recomputed in episodes that need it."""
        is_wrong = self.is_untrustworthy
        if not bool(is_wrong.any()):
            return self
        rows = is_wrong.nonzero()[:, 0]
        prior = self.prior.take(rows)
        inverse, is_made = _inverse_factor(prior, self.x[rows])
        rows, inverse = rows[is_made], inverse[is_made]
        white_y, white_1 = _whitened(inverse, self.y[rows])
        return replace(
            self,
            inverse=self.inverse.index_copy(0, rows, inverse),
            white_y=self.white_y.index_copy(0, rows, white_y),
            white_1=self.white_1.index_copy(0, rows, white_1),
        )

    def predict(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Return mean and standard deviation of the latent function, differentiable in `x`."""
        if not torch.is_grad_enabled():
            return self.predict_with_pullback(x)[:2]
        mean, std = _Prediction.apply(x, self)
        return mean, std

    def predict_with_pullback(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"], Pullback]:
        """Return the prediction, and a function from derivatives in mean and std to those in `x`.

        The derivatives are written out by hand because maximizing an AF needs them thousands of
        times per run, at a few points each: autograd would cost several times the arithmetic.
        """
        self._require(x, "E N D")
        prior, (signal, floor) = self.prior, self._variances
        if self.x.shape[-2] == 0:
            flat = torch.zeros_like(x[..., 0])
            return flat, flat + signal.sqrt(), lambda d_mean, d_std: torch.zeros_like(x)
        at = x * self._inverse_lengthscale
        r2 = square_distance(self.scaled_x, at)  # E t N
        k = KERNELS[prior.kernel](r2)
        # `bmm`, not `@`, whose overhead exceeds the product itself for a few points.
        v = torch.bmm(self.scaled_inverse, k)
        mean = torch.bmm(self.weights.mT, v).squeeze(-2)
        if prior.mean != "zero":
            mean = mean + self.mean.unsqueeze(-1)
        variance = signal - v.square().sum(-2)
        std = torch.maximum(variance, floor).sqrt()

        def pullback(d_mean: Tensor, d_std: Tensor) -> Tensor:
            # The derivative of sqrt at 0 is infinite; below the floor, where the value is known,
            # it is set to 0.
            d_square = (d_std / std).mul_(variance > floor).unsqueeze(-2)
            d_v = torch.addcmul(self.weights * d_mean.unsqueeze(-2), v, d_square, value=-1)
            d_r2 = torch.bmm(self.scaled_inverse.mT, d_v).mul_(SLOPES[prior.kernel](r2, k))
            difference = at.unsqueeze(-3) - self.scaled_x.unsqueeze(-2)  # E t N D
            return difference.mul_(d_r2.unsqueeze(-1)).sum(-3) * (2 * self._inverse_lengthscale)

        return mean, std, pullback

    @cached_property
    def scaled_x(self) -> Float[Tensor, "E t D"]:
        """Observed points in units of the lengthscales."""
        return self.x * self._inverse_lengthscale

    @cached_property
    def scaled_inverse(self) -> Float[Tensor, "E t t"]:
        """L^-1 s: including the signal variance s here costs t x t products instead of t x N."""
        return self.inverse * self.prior.signal_variance[:, None, None]

    @cached_property
    def weights(self) -> Float[Tensor, "E t 1"]:
        """L^-1 (y - m), the weights of `v` in the posterior mean."""
        if self.prior.mean == "zero":
            return self.white_y.unsqueeze(-1)
        return (self.white_y - self.mean[:, None] * self.white_1).unsqueeze(-1)

    @cached_property
    def _variances(self) -> tuple[Float[Tensor, "E 1"], Float[Tensor, "E 1"]]:
        """Signal variance, and the smallest variance of a prediction."""
        signal = self.prior.signal_variance.unsqueeze(-1)
        return signal, VARIANCE_FLOOR * signal

    @cached_property
    def _inverse_lengthscale(self) -> Float[Tensor, "E 1 D"]:
        return self.prior.lengthscale.unsqueeze(-2).reciprocal()

    def _require(self, tensor: Tensor, axes: str) -> None:
        episodes = self.x.shape[0]
        if tensor.ndim != len(axes.split()) or tensor.shape[0] != episodes:
            raise ShapeError(
                f"A tensor must have axes `{axes}` with E = {episodes} (the episodes), but got "
                f"shape {tuple(tensor.shape)}."
            )
        if axes.endswith("D"):
            require_dim(tensor, self.prior.dim)


class _Prediction(torch.autograd.Function):
    """Mean and deviation as one node of the autograd graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gp: GP) -> tuple[Tensor, Tensor]:
        mean, std, ctx.pullback = gp.predict_with_pullback(x)
        return mean, std

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_mean: Tensor, d_std: Tensor) -> tuple[Tensor, None]:
        return ctx.pullback(d_mean, d_std), None


def _inverse_factor(
    prior: Prior, x: Float[Tensor, "E t D"]
) -> tuple[Float[Tensor, "E t t"], Bool[Tensor, " E"]]:
    """Return L^-1 by one factorization, and for which episodes it succeeded in float64."""
    covariance = prior.signal_variance[:, None, None] * correlation(
        prior.kernel, x, x, prior.lengthscale
    )
    diagonal = prior.diagonal[:, None].expand(x.shape[:-1])
    factor, info = torch.linalg.cholesky_ex(covariance + torch.diag_embed(diagonal))
    eye = torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand_as(covariance)
    return torch.linalg.solve_triangular(factor, eye, upper=False), info == 0


def _whitened(inverse: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return L^-1 y and L^-1 (1, ..., 1)."""
    return (inverse @ y[..., None])[..., 0], inverse.sum(-1)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1, keepdim=True)
