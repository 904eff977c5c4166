"""The learned part of a prior as GPyTorch modules, for any BoTorch model and acquisition function.

A learned prior is a mixture of Gaussian processes, one for each of its *cells*, with

    mean        c (m(x) + u . phi(x)),
    covariance  c^2 (phi(x)' S phi(x') + s signal k(x, x')) + o

in the notation of `metabo.gp.learned_posterior`. Points have BoTorch's shape, with any number of
batch axes `*b` in front.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from gpytorch import Module
from gpytorch.constraints import Positive
from gpytorch.kernels import Kernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import Mean
from torch import Tensor

from metabo.domain import require_dim
from metabo.errors import DataError, OptionError, ShapeError
from metabo.gp import KERNELS, KernelName, LearnedPart, Prior
from metabo.gp.kernels import square_distance
from metabo.gp.prior import SIGNAL_FLOOR
from metabo.pretrained import TrainedAF, load
from metabo.shapes import Float


class LearnedMean(Mean):  # type: ignore[misc]
    """The mean of one cell of a learned prior, by default that of `learned_prior_modules`."""

    def __init__(self, prior: Prior, cell: int | None = None) -> None:
        super().__init__()
        part, cell = _chosen(prior, cell)
        own = part.weights[:1] + part.centre[part.cells.group[cell]] @ part.weights[1:]
        scale = part.cells.scale[cell]
        self.columns = _Columns(part, scale * own)
        self.register_buffer("level", scale * part.level)

    def forward(self, x: Float[Tensor, "*b N D"]) -> Float[Tensor, "*b N"]:
        """Return the mean at each point."""
        return self.columns(x)[..., 0] + self.level


class LearnedKernel(Kernel):  # type: ignore[misc]
    """The covariance of one cell of a learned prior, by default as in `learned_prior_modules`."""

    def __init__(self, prior: Prior, cell: int | None = None) -> None:
        super().__init__()
        part, cell = _chosen(prior, cell)
        cells, group = part.cells, int(part.cells.group[cell])
        features = part.weights[1:]
        if group:  # the coefficients of all sources together have S = I
            features = part.groups.spread[group - 1].mT @ features
        residual = cells.scale[cell].square() * cells.share[cell] * prior.signal_variance
        self.columns = _Columns(part, cells.scale[cell] * features)
        self.kernel: KernelName = prior.kernel
        self.register_buffer("inner_lengthscale", prior.lengthscale.clone())
        self.register_buffer("residual_variance", residual[:, None])
        self.register_buffer("offset_variance", cells.offset_variance[cell].clone().view(1, 1))

    def forward(
        self,
        x1: Float[Tensor, "*#b N D"],
        x2: Float[Tensor, "*#b P D"],
        diag: bool = False,
        last_dim_is_batch: bool = False,
    ) -> Float[Tensor, "..."]:
        """Return the covariances of all pairs, `*b N P`, or of corresponding points, `*b N`."""
        if last_dim_is_batch:
            raise OptionError("A learned prior has no `last_dim_is_batch`. Leave it out.")
        features1, features2 = self.columns(x1), self.columns(x2)
        if diag:
            apart = (x1 - x2) / self.inner_lengthscale
            inner = KERNELS[self.kernel](apart.square().sum(-1, keepdim=True))  # *b N 1
            outer = (features1 * features2).sum(-1, keepdim=True)
        else:
            inner = _correlation(self.kernel, x1, x2, self.inner_lengthscale)
            outer = features1 @ features2.mT
        covariance = outer + self.residual_variance * inner + self.offset_variance
        return covariance[..., 0] if diag else covariance

    @property
    def dtype(self) -> torch.dtype:
        """Data type of the covariances; GPyTorch asks the parameters, of which there are none."""
        return self.residual_variance.dtype

    @property
    def device(self) -> torch.device:
        """Device of the covariances."""
        return self.residual_variance.device


@dataclass(frozen=True)
class LearnedPriorModules:
    """One cell of a learned prior, in the parts that a BoTorch model takes."""

    mean: LearnedMean
    """Prior mean, the model's `mean_module`."""
    covariance: LearnedKernel
    """Prior covariance, the model's `covar_module`."""
    noise_variance: float
    """Variance of the observation noise."""

    def likelihood(self) -> GaussianLikelihood:
        """Return a likelihood with this noise; as `train_Yvar` GPyTorch would raise it to 1e-6."""
        likelihood = GaussianLikelihood(noise_constraint=Positive()).double()
        # A tensor: GPyTorch would round a plain number to float32.
        likelihood.noise = torch.tensor([self.noise_variance], dtype=torch.float64)
        return likelihood.requires_grad_(False)


def learned_prior_modules(
    artifact_or_prior: str | Path | TrainedAF | Prior, *, cell: int | None = None
) -> LearnedPriorModules:
    """Return a learned prior as GPyTorch modules, to be conditioned on data by a BoTorch model.

    The modules describe raw values in the unit cube, in float64: give the model
    `outcome_transform=None`, and map other points to the cube with an input transform.

    They are a single member of a mixture. metabo itself averages over all cells and the plain
    prior, by the evidence for each; the plain prior guards against a task unlike the sources.

    Args:
        artifact_or_prior: Name or file of an artifact, a loaded one, or a prior.
        cell: Index into `prior.learned.cells`; if None, the one with the largest prior
            probability among those that describe all sources together.

    Returns:
        Mean, covariance and noise, without anything to fit.

    Raises:
        OptionError: If the prior has no learned part, or no such cell.
        ShapeError: If the prior has several rows.

    Examples:
        >>> import metabo
        >>> prior = metabo.sources.learned_prior(metabo.family("branin"), 6, 40)
        >>> modules = learned_prior_modules(prior)
        >>> x = torch.rand(3, 2, dtype=torch.float64)
        >>> modules.mean(x).shape, modules.covariance(x).shape
        (torch.Size([3]), torch.Size([3, 3]))
    """
    if isinstance(artifact_or_prior, str | Path):
        artifact_or_prior = load(artifact_or_prior)
    prior = artifact_or_prior if isinstance(artifact_or_prior, Prior) else artifact_or_prior.prior
    part, cell = _chosen(prior, cell)
    scaled = part.cells.noise_share[cell] * prior.diagonal
    noise = torch.maximum(scaled, SIGNAL_FLOOR * prior.signal_variance)
    return LearnedPriorModules(LearnedMean(prior, cell), LearnedKernel(prior, cell), float(noise))


class _Columns(Module):  # type: ignore[misc]
    """Functions that are interpolated between the inducing points: W' k(Z, x)."""

    def __init__(self, part: LearnedPart, weights: Float[Tensor, "R Z"]) -> None:
        super().__init__()
        self.kernel: KernelName = part.kernel
        # Copies, because `load_state_dict` would overwrite the prior's own tensors.
        self.register_buffer("z", part.z.clone())
        self.register_buffer("lengthscale", part.lengthscale.clone())
        self.register_buffer("weights", weights.clone())

    def forward(self, x: Float[Tensor, "*b N D"]) -> Float[Tensor, "*b N R"]:
        require_dim(x, self.z.shape[-1])
        if not x.dtype == self.weights.dtype == torch.float64:
            raise DataError(
                f"A learned prior needs float64, but got {x.dtype} points and "
                f"{self.weights.dtype} weights. Create the model from float64 data."
            )
        return _correlation(self.kernel, x, self.z, self.lengthscale) @ self.weights.mT


def _correlation(kernel: KernelName, a: Tensor, b: Tensor, lengthscale: Tensor) -> Tensor:
    """Return the correlations of all pairs, `*b N P`, to the last digits also of close points."""
    a, b = a / lengthscale, b / lengthscale
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return KERNELS[kernel](square_distance(a.expand(*batch, -1, -1), b.expand(*batch, -1, -1)))


def _chosen(prior: Prior, cell: int | None) -> tuple[LearnedPart, int]:
    """Return the learned part of a prior, and the index of one of its cells."""
    part = prior.learned
    if part is None:
        raise OptionError(
            "This prior has no learned part. Give one from `metabo.sources.learned_prior`, or an "
            "artifact that was trained with a learned prior; `prior_model` takes a plain prior."
        )
    if prior.lengthscale.shape[0] != 1:
        raise ShapeError(
            "The modules take the prior of one episode, but this one has "
            f"{prior.lengthscale.shape[0]} rows. Select one with `Prior.take`."
        )
    cells, n = part.cells, len(part.cells.share)
    if cell is None:
        return part, int(cells.log_weight.masked_fill(cells.group != 0, -torch.inf).argmax())
    if not 0 <= cell < n:
        raise OptionError(f"`cell` must lie in 0..{n - 1} (the prior's cells), but is {cell}.")
    return part, cell
