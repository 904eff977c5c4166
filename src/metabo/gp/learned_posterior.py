"""Posteriors under a learned prior: one per cell, weighed by the evidence for each cell.

Notation as in `metabo.gp.posterior`, for each of C cells with share s, scale c and offset variance
o. The covariance of cell and observations is

    A = c^2 (phi phi' + s signal k) + o + diagonal,

the mean at a candidate is c m + v' L^-1 (y - c m), the variance is A's without the diagonal minus
v' v, and the log evidence is the sum of log diag(L^-1) - (L^-1 (y - c m))^2 / 2.

The *learned view* of a point is the mean and deviation of the mixture of all cells and the plain
GP. The weight of the plain GP in it, the *guard*, rises towards 1 on a task unlike the sources.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.gp.kernels import KERNELS, SLOPES, square_distance
from metabo.gp.learned import LearnedPart
from metabo.gp.posterior import GP, VARIANCE_FLOOR
from metabo.gp.prior import SIGNAL_FLOOR, Prior
from metabo.shapes import Float

BothPullback = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Map derivatives in mean and std, plain then learned, `E N`, to those of the points, `E N D`."""


@dataclass(frozen=True)
class LearnedGP:
    """A batch of posteriors under a prior with a learned part, for every cell."""

    prior: Prior
    """Prior with a learned part."""
    x: Float[Tensor, "E t D"]
    """Observed points."""
    y: Float[Tensor, "E t"]
    """Observed values."""
    columns: Float[Tensor, "E R t"]
    """Mean and features at the observed points."""
    inverse: Float[Tensor, "E C t t"]
    """Inverse L^-1 of the Cholesky factor of each cell's covariance."""
    white: Float[Tensor, "E C t"]
    """L^-1 (y - c m), the whitened values."""

    @classmethod
    def empty(cls, prior: Prior, episodes: int) -> "LearnedGP":
        """Return the posteriors before any observation."""
        part = _part(prior)
        n_cells = len(part.cells.share)
        none = part.z.new_empty(episodes, 0)
        return cls(
            prior,
            none.new_empty(episodes, 0, part.dim),
            none,
            none.new_empty(episodes, part.rank + 1, 0),
            none.new_empty(episodes, n_cells, 0, 0),
            none.new_empty(episodes, n_cells, 0),
        )

    @classmethod
    def of(cls, prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]) -> "LearnedGP":
        """Return the posteriors given many observations, by one factorization of all."""
        empty = cls.empty(prior, x.shape[0])
        if x.shape[1] == 0:
            return empty
        columns = _part(prior).columns(x).contiguous()
        covariance = empty._covariance(x, columns, x, columns)
        diagonal = empty._diagonal.unsqueeze(-1).expand(covariance.shape[:-1])
        factor, info = torch.linalg.cholesky_ex(covariance + torch.diag_embed(diagonal))
        if bool((info != 0).any()):  # some points coincide up to rounding
            for t in range(x.shape[1]):
                empty = empty.condition(x[:, t], y[:, t])
            return empty
        eye = torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand_as(factor)
        inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
        rest = y.unsqueeze(-2) - empty._scale * columns[:, :1]
        white = (inverse @ rest.unsqueeze(-1)).squeeze(-1)
        return cls(prior, x, y, columns, inverse, white)

    def condition(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "LearnedGP":
        """Return the posteriors given one more observation per episode, with one more row each."""
        prior, at = self.prior, x.unsqueeze(1)
        new = _part(prior).columns(at)  # E R 1
        covariance = self._covariance(self.x, self.columns, at, new)  # E C t 1
        row = (self.inverse @ covariance).squeeze(-1)  # E C t
        diagonal = self._diagonal
        left = self._variance(new).squeeze(-1) + diagonal - row.square().sum(-1)
        pivot = torch.maximum(left, diagonal).sqrt().unsqueeze(-1)  # E C 1
        beside = -(row.unsqueeze(-2) @ self.inverse).squeeze(-2)
        new_row = torch.cat([beside, torch.ones_like(pivot)], -1) / pivot
        above = torch.nn.functional.pad(self.inverse, (0, 1))
        rest = y[:, None, None] - self._scale * new[:, :1]  # E C 1
        rest = rest - (row * self.white).sum(-1, keepdim=True)
        return LearnedGP(
            prior,
            torch.cat([self.x, at], -2),
            torch.cat([self.y, y.unsqueeze(-1)], -1),
            torch.cat([self.columns, new], -1),
            torch.cat([above, new_row.unsqueeze(-2)], -2),
            torch.cat([self.white, rest / pivot], -1),
        )

    @property
    def part(self) -> LearnedPart:
        """Learned part of the prior."""
        return _part(self.prior)

    @cached_property
    def log_evidence(self) -> Float[Tensor, "E C"]:
        """Log density of the observed values under each cell, up to a constant."""
        pivots = self.inverse.diagonal(dim1=-2, dim2=-1)
        return (pivots.log() - 0.5 * self.white.square()).sum(-1)

    def probabilities(self, plain: GP) -> Float[Tensor, "E W"]:
        """Return the posterior probability of each cell, and of the plain prior last."""
        cells = self.part.cells
        joint = torch.cat(
            [
                self.log_evidence + cells.log_weight,
                (plain_log_evidence(plain) + cells.log_plain).unsqueeze(-1),
            ],
            -1,
        )
        return joint.softmax(-1)

    def predict_with_pullback(
        self, x: Float[Tensor, "E N D"]
    ) -> tuple[Float[Tensor, "E C N"], Float[Tensor, "E C N"], Callable[[Tensor, Tensor], Tensor]]:
        """Return each cell's mean and variance, and a map from derivatives in them to `x`."""
        prior = self.prior
        columns, pull_columns = self.part.columns_with_pullback(x)
        at = x * self._inverse_lengthscale
        r2 = square_distance(self._scaled_x, at)  # E t N
        k = KERNELS[prior.kernel](r2)
        features = columns[:, 1:]
        cross = self._combined(torch.bmm(self.columns[:, 1:].mT, features), k)  # E C t N
        n_cells = cross.shape[1]
        v = torch.bmm(self.inverse.flatten(0, 1), cross.flatten(0, 1)).unflatten(0, (-1, n_cells))
        gain = torch.bmm(self.white.flatten(0, 1).unsqueeze(-2), v.flatten(0, 1))
        mean = self._scale * columns[:, :1] + gain.view(cross.shape[0], n_cells, -1)
        bound = self._variance(columns)
        variance = bound - v.square().sum(-2)
        floor = VARIANCE_FLOOR * bound

        def pullback(d_mean: Tensor, d_variance: Tensor) -> Tensor:
            d_variance = d_variance * (variance > floor)
            d_v = self.white.unsqueeze(-1) * d_mean.unsqueeze(-2)
            d_v = torch.addcmul(d_v, v, d_variance.unsqueeze(-2), value=-2)
            d_cross = torch.bmm(self.inverse.flatten(0, 1).mT, d_v.flatten(0, 1))
            d_cross = d_cross.view_as(cross)
            square = self._square.unsqueeze(-1)  # C 1 1
            d_product = (d_cross * square).sum(1)  # E t N
            d_k = (d_cross * (square * self._residual.unsqueeze(-1))).sum(1)
            d_features = torch.bmm(self.columns[:, 1:], d_product)
            own = (self._square * d_variance).sum(1, keepdim=True)  # E 1 N
            d_features = torch.addcmul(d_features, features, own, value=2)
            d_column = (self._scale * d_mean).sum(1, keepdim=True)
            total = pull_columns(torch.cat([d_column, d_features], 1))
            d_r2 = d_k * SLOPES[prior.kernel](r2, k)
            difference = at.unsqueeze(-3) - self._scaled_x.unsqueeze(-2)  # E t N D
            near = (difference * d_r2.unsqueeze(-1)).sum(-3)
            return total + near * (2 * self._inverse_lengthscale)

        return mean, torch.maximum(variance, floor), pullback

    def _covariance(self, a: Tensor, of_a: Tensor, b: Tensor, of_b: Tensor) -> Tensor:
        """Return the covariance of the points `a` and `b`, whose columns are given, by cell."""
        scale = self._inverse_lengthscale
        k = KERNELS[self.prior.kernel](square_distance(a * scale, b * scale))
        return self._combined(torch.bmm(of_a[:, 1:].mT, of_b[:, 1:]), k)

    def _combined(self, product: Tensor, k: Tensor) -> Tensor:
        """Return c^2 (phi phi' + s signal k) + o, by cell."""
        product, k = product.unsqueeze(1), k.unsqueeze(1)
        square, residual = self._square.unsqueeze(-1), self._residual.unsqueeze(-1)
        return square * (product + residual * k) + self._offset.unsqueeze(-1)

    def _variance(self, columns: Tensor) -> Tensor:
        """Return the prior variance at points with these columns, `E C N`."""
        norm = columns[:, 1:].square().sum(1, keepdim=True)
        return self._square * (norm + self._residual) + self._offset

    @cached_property
    def _scale(self) -> Float[Tensor, "C 1"]:
        return self.part.cells.scale.unsqueeze(-1)

    @cached_property
    def _square(self) -> Float[Tensor, "C 1"]:
        return self._scale.square()

    @cached_property
    def _residual(self) -> Float[Tensor, "#E C 1"]:
        share = self.part.cells.share.unsqueeze(-1)
        return share * self.prior.signal_variance[:, None, None]

    @cached_property
    def _offset(self) -> Float[Tensor, "C 1"]:
        return self.part.cells.offset_variance.unsqueeze(-1)

    @cached_property
    def _diagonal(self) -> Float[Tensor, "#E C"]:
        """Noise and jitter of each cell, at least 1e-12 of the signal variance."""
        cells, signal = self.part.cells, self.prior.signal_variance.unsqueeze(-1)
        scaled = cells.noise_share * self.prior.diagonal.unsqueeze(-1)
        return torch.maximum(scaled, SIGNAL_FLOOR * signal)

    @cached_property
    def _inverse_lengthscale(self) -> Float[Tensor, "#E 1 D"]:
        return self.prior.lengthscale.unsqueeze(-2).reciprocal()

    @cached_property
    def _scaled_x(self) -> Float[Tensor, "E t D"]:
        return self.x * self._inverse_lengthscale


@dataclass(frozen=True)
class Both:
    """What the plain GP and the mixture with the learned part say about points."""

    mean: Float[Tensor, "E N"]
    """Mean of the plain GP."""
    std: Float[Tensor, "E N"]
    """Deviation of the plain GP."""
    learned_mean: Float[Tensor, "E N"]
    """Mean of the mixture."""
    learned_std: Float[Tensor, "E N"]
    """Deviation of the mixture."""


def predict_both(
    plain: GP, learned: LearnedGP, probabilities: Float[Tensor, "E W"], x: Float[Tensor, "E N D"]
) -> tuple[Both, BothPullback]:
    """Return both views of the points `x`, and a function from derivatives in them to `x`."""
    mean, std, pull_plain = plain.predict_with_pullback(x)
    means, variances, pull_cells = learned.predict_with_pullback(x)
    of_cells = probabilities[:, :-1].unsqueeze(-1)  # E C 1
    of_plain = probabilities[:, -1:]  # E 1
    centre = (of_cells * means).sum(1) + of_plain * mean
    apart, apart_plain = means - centre.unsqueeze(1), mean - centre
    variance = (of_cells * (variances + apart.square())).sum(1)
    variance = variance + of_plain * (std.square() + apart_plain.square())
    mixed = variance.sqrt()

    def pullback(d_mean: Tensor, d_std: Tensor, d_centre: Tensor, d_mixed: Tensor) -> Tensor:
        d_variance = d_mixed / (2 * mixed)
        by_cell = d_variance.unsqueeze(1)
        total = pull_cells(
            of_cells * torch.addcmul(d_centre.unsqueeze(1), apart, by_cell, value=2),
            of_cells * by_cell,
        )
        d_mean = d_mean + of_plain * torch.addcmul(d_centre, apart_plain, d_variance, value=2)
        return total + pull_plain(d_mean, d_std + of_plain * 2 * std * d_variance)

    return Both(mean, std, centre, mixed), pullback


def plain_log_evidence(gp: GP) -> Float[Tensor, " E"]:
    """Return the log density of the observed values under the plain prior, up to a constant.

    If the prior mean is that of the observations, an unknown constant with the signal's variance
    takes its place: a mean that knows the values would be no prior.
    """
    pivots = gp.inverse.diagonal(dim1=-2, dim2=-1)
    plain = (pivots.log() - 0.5 * gp.white_y.square()).sum(-1)
    if gp.prior.mean == "zero":
        return plain
    known = (gp.white_1 * gp.white_y).sum(-1)
    precision = gp.prior.signal_variance.reciprocal() + gp.white_1.square().sum(-1)
    return plain + 0.5 * (
        known.square() / precision - (precision * gp.prior.signal_variance).log()
    )


def _part(prior: Prior) -> LearnedPart:
    assert prior.learned is not None, "only a prior with a learned part has this posterior"
    return prior.learned
