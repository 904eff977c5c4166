"""Exact Gaussian-process regression for E data sets side by side, grown by one row a step.

Notation (A is the covariance of the observations, L its Cholesky factor):

| symbol     | meaning                              | shape   |
| ---------- | ------------------------------------ | ------- |
| `x`, `y`   | observations                         | E t D, E t |
| `inverse`  | L^-1, lower triangular               | E t t   |
| `white_y`  | L^-1 y                               | E t     |
| `white_1`  | L^-1 (1, ..., 1)                     | E t     |
| `cross`    | k(x, candidates) / signal variance   | E t N   |
| `v`        | L^-1 k(x, candidates)                | E t N   |

The mean is m + v' L^-1 (y - m), the variance s - v' v. L^-1 is kept rather than L: a new row of it
costs the same, and prediction becomes one batched product instead of a triangular solve.

A factor grown row by row loses more digits than one made at once. That is harmless unless the
weights A^-1 (y - m) are huge, which they are where nearly coinciding points have contradictory
values that the noise does not explain. There the factor is made again after each row.
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
"""From derivatives in mean and deviation, `E N` each, to derivatives in the points, `E N D`."""

VARIANCE_FLOOR = 1e-14
"""Least posterior variance relative to the signal's: rounding can leave less at a data point."""

HUGE_WEIGHT = 1e6
"""Largest weight s A^-1 (y - m), in units of the values, with which a grown factor is trusted.

In runs of EI on the published functions weights reach 1e4, and the means of both factors agree to
1e-5 signal deviations. On RBF samples in 2 dimensions weights pass 1e6 in 4 % of 100 steps. With
larger ones the grown factor's mean can be off by hundreds of times what that of a factor made at
once is (`studies/grown_factor.py`).
"""


@dataclass(frozen=True)
class GP:
    """A batch of GP posteriors over the latent (noise-free) functions."""

    prior: Prior
    x: Float[Tensor, "E t D"]
    y: Float[Tensor, "E t"]
    inverse: Float[Tensor, "E t t"]
    white_y: Float[Tensor, "E t"]
    white_1: Float[Tensor, "E t"]

    @classmethod
    def empty(cls, prior: Prior, episodes: int) -> "GP":
        """The posteriors before any observation: mean 0, deviation sqrt(signal variance)."""
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
        """The posteriors after many observations at once: one factorization, not t rows."""
        inverse, is_made = _inverse_factor(prior, x)
        if not bool(is_made.all()):  # points that coincide up to rounding
            gp = cls.empty(prior, x.shape[0])
            for t in range(x.shape[1]):
                gp = gp._grown(x[:, t], y[:, t])
            return gp
        return cls(prior, x, y, inverse, *_whitened(inverse, y))

    @property
    def mean(self) -> Float[Tensor, " E"]:
        """The prior mean m, which may depend on what was observed."""
        if self.prior.mean == "zero" or self.y.shape[-1] == 0:
            return self.y.new_zeros(self.y.shape[0])
        return self.y.mean(-1)

    def condition(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "GP":
        """The posteriors after one more observation each."""
        self._require(x, "E D")
        self._require(y, "E")
        grown = self._grown(x, y)
        # A captured graph cannot look at values, so it keeps the grown factor.
        return grown if is_capturing(x) else grown._mended()

    def _grown(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "GP":
        """The posteriors with one more row of the factor."""
        prior = self.prior
        cross = correlation(prior.kernel, self.x, x[:, None, :], prior.lengthscale)  # E t 1
        row = (self.scaled_inverse @ cross)[..., 0]  # E t
        # What is left of the new point's variance given the others is at least the diagonal.
        # Rounding can take it below, even below zero, when points coincide and the noise is tiny.
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
        """In which episodes the weights are too large for a factor grown row by row."""
        weights = torch.bmm(self.weights.mT, self.inverse)[:, 0].abs().amax(-1)
        signal, centred = self.prior.signal_variance, self.y - self.mean[:, None]
        values = torch.maximum(centred.abs().amax(-1), signal.sqrt())
        return signal * weights > HUGE_WEIGHT * values

    def _mended(self) -> "GP":
        """The same posteriors, with the factor made at once in episodes that need it."""
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
        """Mean and standard deviation of the latent function at `x`, differentiable in `x`."""
        if not torch.is_grad_enabled():
            return self.predict_with_pullback(x)[:2]
        mean, std = _Prediction.apply(x, self)
        return mean, std

    def predict_with_pullback(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"], Pullback]:
        """The prediction, and what takes derivatives in mean and deviation to those in `x`.

        It is written out, because climbing an AF asks for it thousands of times a run, at a few
        points only: recorded operation by operation, it would cost several times its arithmetic.
        """
        self._require(x, "E N D")
        prior, (signal, floor) = self.prior, self._variances
        if self.x.shape[-2] == 0:
            flat = torch.zeros_like(x[..., 0])
            return flat, flat + signal.sqrt(), lambda d_mean, d_std: torch.zeros_like(x)
        at = x * self._inverse_lengthscale
        r2 = square_distance(self.scaled_x, at)  # E t N
        k = KERNELS[prior.kernel](r2)
        # `bmm` where `@` would do: on a few points what `@` does around it takes longer.
        v = torch.bmm(self.scaled_inverse, k)
        mean = torch.bmm(self.weights.mT, v).squeeze(-2)
        if prior.mean != "zero":
            mean = mean + self.mean.unsqueeze(-1)
        variance = signal - v.square().sum(-2)
        std = torch.maximum(variance, floor).sqrt()

        def pullback(d_mean: Tensor, d_std: Tensor) -> Tensor:
            # The derivative of sqrt at 0 is infinite; below the floor, where nothing is left to
            # learn, it is taken as 0.
            d_square = (d_std / std).mul_(variance > floor).unsqueeze(-2)
            d_v = torch.addcmul(self.weights * d_mean.unsqueeze(-2), v, d_square, value=-1)
            d_r2 = torch.bmm(self.scaled_inverse.mT, d_v).mul_(SLOPES[prior.kernel](r2, k))
            difference = at.unsqueeze(-3) - self.scaled_x.unsqueeze(-2)  # E t N D
            return difference.mul_(d_r2.unsqueeze(-1)).sum(-3) * (2 * self._inverse_lengthscale)

        return mean, std, pullback

    @cached_property
    def scaled_x(self) -> Float[Tensor, "E t D"]:
        """The observed points in lengthscales."""
        return self.x * self._inverse_lengthscale

    @cached_property
    def scaled_inverse(self) -> Float[Tensor, "E t t"]:
        """L^-1 s, so that the factor s of the covariance costs t x t products and not t x N."""
        return self.inverse * self.prior.signal_variance[:, None, None]

    @cached_property
    def weights(self) -> Float[Tensor, "E t 1"]:
        """L^-1 (y - m), by which `v` is weighted in the mean."""
        if self.prior.mean == "zero":
            return self.white_y.unsqueeze(-1)
        return (self.white_y - self.mean[:, None] * self.white_1).unsqueeze(-1)

    @cached_property
    def _variances(self) -> tuple[Float[Tensor, "E 1"], Float[Tensor, "E 1"]]:
        """The signal's, and the least of a prediction."""
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
    """L^-1 by one factorization, and in which episodes there is one in float64."""
    covariance = prior.signal_variance[:, None, None] * correlation(
        prior.kernel, x, x, prior.lengthscale
    )
    diagonal = prior.diagonal[:, None].expand(x.shape[:-1])
    factor, info = torch.linalg.cholesky_ex(covariance + torch.diag_embed(diagonal))
    eye = torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand_as(covariance)
    return torch.linalg.solve_triangular(factor, eye, upper=False), info == 0


def _whitened(inverse: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """L^-1 y and L^-1 (1, ..., 1)."""
    return (inverse @ y[..., None])[..., 0], inverse.sum(-1)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1, keepdim=True)
