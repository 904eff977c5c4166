"""Posteriors under a learned prior: one per cell, weighed by the evidence for each cell.

Notation as in `metabo.gp.posterior`, for each of C cells with share s, scale c, offset variance o,
and with the centre u and covariance S of the coefficients. The covariance of the observations is

    A = c^2 (phi' S phi + s signal k) + o + diagonal = L L',

and with H = L^-1 c^2 phi' S and J = L^-1 c^2 s signal the whitened cross-covariance with a
candidate is v = H phi + J k + L^-1 o. The mean there is c (m + u . phi) + v' L^-1 (y - its prior
mean), the variance is A's without the diagonal minus v' v, and the log evidence is the sum of
log diag(L^-1) - (L^-1 (y - prior mean))^2 / 2.

There may be hundreds of cells at first. After each observation the least probable ones are
dropped, on a fixed schedule, so that the cost of a candidate stays about the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from metabo.gp.evidence import plain_log_evidence
from metabo.gp.kernels import KERNELS, SLOPES, square_distance
from metabo.gp.learned import LearnedPart
from metabo.gp.posterior import GP, VARIANCE_FLOOR
from metabo.gp.prior import SIGNAL_FLOOR, Prior
from metabo.shapes import Float, Int

CellsPullback = Callable[[Tensor, Tensor], Tensor]
"""Map derivatives in the cells' means, `E C N`, and in the variance within them, `E N`, to `x`."""

_LIVE, _FEWEST = 64, 8
"""Cells of groups that are kept after the first observation, and after many.

After t observations it is the first number divided by t, but no less than the second.
"""
_SETTLED = _LIVE // _FEWEST
"""Number of observations after which no more cells are dropped."""
_PATIENCE = 0.8
"""After t observations, the log odds of the plain prior are at most t - 1 times this.

Sources that did not expect the first values can still say much about the shape of a task, and its
first values depend on each other more than any prior knows. So they are not given up at once. They
must be in the end: late in a run, even cells with a probability of 1e-3 would keep the deviation
of the mixture from becoming small.
"""


class Weighed(NamedTuple):
    """Probabilities of the cells, and what of the variance follows from them alone."""

    p: Float[Tensor, "E C"]
    """Probability of each cell; they sum to 1 or, beside a guard, to less."""
    covariance: Float[Tensor, "E R R"]
    """Sum of c^2 S over the cells, times their probabilities."""
    constant: Float[Tensor, "E 1"]
    """Sum of c^2 s signal + o, the variance that is the same at all points, likewise."""


@dataclass(frozen=True)
class LearnedGP:
    """A batch of posteriors under a prior with a learned part, for every cell."""

    prior: Prior
    """Prior with a learned part."""
    x: Float[Tensor, "E t D"]
    """Observed points."""
    y: Float[Tensor, "E t"]
    """Observed values."""
    cell: Int[Tensor, "E C"]
    """Cells of each episode that have not been dropped, in ascending order."""
    inverse: Float[Tensor, "E C t t"]
    """Inverse L^-1 of the Cholesky factor of each cell's covariance."""
    leading: Float[Tensor, "E C t R"]
    """H = L^-1 c^2 phi' S, the whitened covariance of observations and coefficients."""
    white: Float[Tensor, "E C t"]
    """L^-1 (y - c (m + u . phi)), the whitened values."""

    @classmethod
    def empty(cls, prior: Prior, episodes: int) -> "LearnedGP":
        """Return the posteriors before any observation."""
        part = _part(prior)
        n_cells = len(part.cells.share)
        cell = torch.arange(n_cells, device=part.z.device).expand(episodes, -1)
        none = part.z.new_empty(episodes, 0)
        return cls(
            prior,
            none.new_empty(episodes, 0, part.dim),
            none,
            cell,
            none.new_empty(episodes, n_cells, 0, 0),
            none.new_empty(episodes, n_cells, 0, part.rank),
            none.new_empty(episodes, n_cells, 0),
        )

    @classmethod
    def of(cls, prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"]) -> "LearnedGP":
        """Return the posteriors given many observations, as `condition` gives one by one."""
        grown, n = cls.empty(prior, x.shape[0]), x.shape[1]
        for t in range(min(_SETTLED, n)):
            grown = grown.condition(x[:, t], y[:, t])
        whole = None if n <= _SETTLED else grown._refactored(x, y)
        if whole is None:
            for t in range(_SETTLED, n):
                grown = grown.condition(x[:, t], y[:, t])
        return whole or grown

    def condition(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "LearnedGP":
        """Return the posteriors given one more observation per episode, of the likeliest cells."""
        return self.grown(x, y)._thinned()

    def grown(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "LearnedGP":
        """Return the posteriors given one more observation per episode, of the same cells."""
        at = x.unsqueeze(1)
        columns = self.part.columns(at).squeeze(-1)  # E R+1
        phi = columns[:, 1:]
        row = self._whitened(phi.unsqueeze(-1), self._kernel(at)).squeeze(-1)  # E C t
        # S phi for every group, then for every cell: far fewer products.
        of_groups = (phi @ self.part.covariance).transpose(0, 1)  # E A R
        norm = (of_groups * phi.unsqueeze(1)).sum(-1)
        image = of_groups.gather(1, self._group.unsqueeze(-1).expand(-1, -1, phi.shape[-1]))
        bound = self._square * (norm.gather(1, self._group) + self._residual) + self._offset
        left = bound + self._diagonal - row.square().sum(-1)
        beside = -(row.unsqueeze(-2) @ self.inverse).squeeze(-2)
        # With u = (beside, 1), the squared pivot is u' A u, which is at least |u|^2 times the
        # diagonal. Among many nearby points rounding can push it below that, even below zero, and
        # the rows after it would grow without bound.
        least = self._diagonal * (1 + beside.square().sum(-1))
        pivot = torch.maximum(left, least).sqrt().unsqueeze(-1)  # E C 1
        new_row = torch.cat([beside, torch.ones_like(pivot)], -1) / pivot
        ahead = self._square.unsqueeze(-1) * image - (row.unsqueeze(-2) @ self.leading).squeeze(-2)
        mean = self._scale * (columns[:, :1] + torch.bmm(self._centre, phi[..., None])[..., 0])
        rest = (y.unsqueeze(-1) - mean - (row * self.white).sum(-1)).unsqueeze(-1)
        above = torch.nn.functional.pad(self.inverse, (0, 1))
        return replace(
            self,
            x=torch.cat([self.x, at], -2),
            y=torch.cat([self.y, y.unsqueeze(-1)], -1),
            inverse=torch.cat([above, new_row.unsqueeze(-2)], -2),
            leading=torch.cat([self.leading, (ahead / pivot).unsqueeze(-2)], -2),
            white=torch.cat([self.white, rest / pivot], -1),
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
        """Return the probability of each cell, and of the plain prior last, the guard.

        Up to a limit of the guard, they are the posterior probabilities.
        """
        cells = self.part.cells
        guard = plain_log_evidence(plain) + cells.log_plain
        if t := self.x.shape[1]:
            most = self._log_joint.logsumexp(-1) + cells.log_odds.clamp_min(0)
            guard = torch.minimum(guard, most + _PATIENCE * (t - 1))
        return torch.cat([self._log_joint, guard.unsqueeze(-1)], -1).softmax(-1)

    def weighed(self, p: Float[Tensor, "E C"]) -> Weighed:
        """Return what predictions need to know of the cells' probabilities, for any points."""
        constant = (p * (self._square * self._residual + self._offset)).sum(-1, keepdim=True)
        return Weighed(p, self._mixed_covariance(p), constant)

    def predict_with_pullback(
        self, x: Float[Tensor, "E N D"], weighed: Weighed
    ) -> tuple[Float[Tensor, "E C N"], Float[Tensor, "E N"], CellsPullback]:
        """Return each cell's mean, and the sum of their variances times their probabilities."""
        prior, p = self.prior, weighed.p
        columns, pull_columns = self.part.columns_with_pullback(x)
        phi = columns[:, 1:]
        at = x * self._inverse_lengthscale
        r2 = square_distance(self._scaled_x, at)  # E t N
        k = KERNELS[prior.kernel](r2)
        v = self._whitened(phi, k)  # E C t N
        gain = torch.bmm(self.white.flatten(0, 1).unsqueeze(-2), v.flatten(0, 1))
        centre = self._scale.unsqueeze(-1) * self._centre  # E C R
        prior_mean = torch.baddbmm(self._scale.unsqueeze(-1) * columns[:, :1], centre, phi)
        mean = prior_mean + gain.view_as(prior_mean)
        image = torch.bmm(weighed.covariance, phi)  # E R N
        bound = (phi * image).sum(1) + weighed.constant
        explained = torch.einsum("ec,ectn->en", p, v.square())
        variance, floor = bound - explained, VARIANCE_FLOOR * bound

        def pullback(d_mean: Tensor, d_variance: Tensor) -> Tensor:
            d_variance = d_variance * (variance > floor)
            d_v = self.white.unsqueeze(-1) * d_mean.unsqueeze(-2)
            by_cell = (p.unsqueeze(-1) * d_variance.unsqueeze(1)).unsqueeze(-2)  # E C 1 N
            d_v = torch.addcmul(d_v, v, by_cell, value=-2).flatten(1, 2)  # E Ct N
            d_phi = torch.baddbmm(
                2 * image * d_variance.unsqueeze(1), self.leading.flatten(1, 2).mT, d_v
            )
            d_phi = torch.baddbmm(d_phi, centre.mT, d_mean)
            d_column = (self._scale.unsqueeze(-1) * d_mean).sum(1, keepdim=True)
            total = pull_columns(torch.cat([d_column, d_phi], 1))
            d_r2 = torch.bmm(self._beside.mT, d_v) * SLOPES[prior.kernel](r2, k)  # E t N
            difference = at.unsqueeze(-3) - self._scaled_x.unsqueeze(-2)  # E t N D
            near = (difference * d_r2.unsqueeze(-1)).sum(-3)
            return total + near * (2 * self._inverse_lengthscale)

        return mean, torch.maximum(variance, floor), pullback

    def _whitened(self, phi: Float[Tensor, "E R N"], k: Float[Tensor, "E t N"]) -> Tensor:
        """Return v, the whitened covariance with points of these features, `E C t N`."""
        v = torch.baddbmm(self._constant, self.leading.flatten(1, 2), phi)
        return torch.baddbmm(v, self._beside, k).unflatten(1, self.white.shape[1:])

    def _thinned(self) -> "LearnedGP":
        """Return the likeliest cells, and all those of all sources, which are never dropped."""
        t, of_all = self.x.shape[1], self.part.cells.n_of_all
        n = of_all + max(_FEWEST, _LIVE // t)
        if n >= self.cell.shape[1]:
            return self
        joint = self._log_joint.masked_fill(self._group == 0, torch.inf)
        # Stable, so that an episode does not depend on those beside it.
        kept = joint.sort(dim=-1, descending=True, stable=True).indices[:, :n].sort(-1).values
        index = kept[..., None]
        square = index[..., None].expand(-1, -1, t, t)
        wide = index[..., None].expand(-1, -1, t, self.leading.shape[-1])
        return replace(
            self,
            cell=self.cell.gather(1, kept),
            inverse=self.inverse.gather(1, square),
            leading=self.leading.gather(1, wide),
            white=self.white.gather(1, index.expand(-1, -1, t)),
        )

    def _refactored(self, x: Tensor, y: Tensor) -> "LearnedGP | None":
        """Return the posteriors of the same cells given these observations, factored at once.

        None if some points coincide up to rounding, so that there is no factor in float64.
        """
        columns = self.part.columns(x)
        phi, episodes = columns[:, 1:], x.shape[0]
        scaled = x * self._inverse_lengthscale
        k = KERNELS[self.prior.kernel](square_distance(scaled, scaled))
        image = self.part.covariance[self._group] @ phi.unsqueeze(1)  # E C R t
        inner = phi.mT.unsqueeze(1) @ image + self._residual[..., None, None] * k.unsqueeze(1)
        square = self._square[..., None, None]
        diagonal = self._diagonal.unsqueeze(-1).expand(*self.cell.shape, x.shape[1])
        covariance = square * inner + self._offset[..., None, None] + torch.diag_embed(diagonal)
        factor, info = torch.linalg.cholesky_ex(covariance)
        if bool((info != 0).any()):
            return None
        eye = torch.eye(x.shape[1], dtype=x.dtype, device=x.device).expand_as(factor)
        inverse = torch.linalg.solve_triangular(factor, eye, upper=False)
        mean = self._scale.unsqueeze(-1) * (columns[:, :1] + torch.bmm(self._centre, phi))
        rest = y.view(episodes, 1, -1) - mean
        white = (inverse @ rest.unsqueeze(-1)).squeeze(-1)
        leading = inverse @ (square * image.mT)
        return LearnedGP(self.prior, x, y, self.cell, inverse, leading, white)

    def _kernel(self, x: Float[Tensor, "E N D"]) -> Float[Tensor, "E t N"]:
        r2 = square_distance(self._scaled_x, x * self._inverse_lengthscale)
        return KERNELS[self.prior.kernel](r2)

    def _mixed_covariance(self, p: Float[Tensor, "E C"]) -> Float[Tensor, "E R R"]:
        """Return the sum of c^2 S over the cells, times their probabilities."""
        covariance = self.part.covariance
        groups = torch.arange(len(covariance), device=p.device)
        # A sum over a mask, since a GPU scatters in any order. One product per episode, so that
        # its numbers do not depend on the others.
        is_own = (self._group.unsqueeze(-1) == groups).to(p)  # E C A
        by_group = torch.bmm((p * self._square).unsqueeze(1), is_own)
        flat = covariance.flatten(1).expand(len(p), -1, -1)
        return torch.bmm(by_group, flat).view(len(p), *covariance.shape[1:])

    @cached_property
    def _log_joint(self) -> Float[Tensor, "E C"]:
        return self.log_evidence + self.part.cells.log_weight[self.cell]

    @cached_property
    def _group(self) -> Int[Tensor, "E C"]:
        return self.part.cells.group[self.cell]

    @cached_property
    def _centre(self) -> Float[Tensor, "E C R"]:
        return self.part.centre[self._group]

    @cached_property
    def _scale(self) -> Float[Tensor, "E C"]:
        return self.part.cells.scale[self.cell]

    @cached_property
    def _square(self) -> Float[Tensor, "E C"]:
        return self._scale.square()

    @cached_property
    def _residual(self) -> Float[Tensor, "E C"]:
        return self.part.cells.share[self.cell] * self.prior.signal_variance.unsqueeze(-1)

    @cached_property
    def _offset(self) -> Float[Tensor, "E C"]:
        return self.part.cells.offset_variance[self.cell]

    @cached_property
    def _diagonal(self) -> Float[Tensor, "E C"]:
        """Noise and jitter of each cell, at least 1e-12 of the signal variance."""
        signal = self.prior.signal_variance.unsqueeze(-1)
        scaled = self.part.cells.noise_share[self.cell] * self.prior.diagonal.unsqueeze(-1)
        return torch.maximum(scaled, SIGNAL_FLOOR * signal)

    @cached_property
    def _beside(self) -> Float[Tensor, "E Ct t"]:
        """J = L^-1 c^2 s signal, the factor of the residual's correlations."""
        return (self.inverse * (self._square * self._residual)[..., None, None]).flatten(1, 2)

    @cached_property
    def _constant(self) -> Float[Tensor, "E Ct 1"]:
        """L^-1 o, the whitened covariance through the offset."""
        return (self.inverse.sum(-1) * self._offset.unsqueeze(-1)).flatten(1).unsqueeze(-1)

    @cached_property
    def _inverse_lengthscale(self) -> Float[Tensor, "#E 1 D"]:
        return self.prior.lengthscale.unsqueeze(-2).reciprocal()

    @cached_property
    def _scaled_x(self) -> Float[Tensor, "E t D"]:
        return self.x * self._inverse_lengthscale


def _part(prior: Prior) -> LearnedPart:
    assert prior.learned is not None, "only a prior with a learned part has this posterior"
    return prior.learned
