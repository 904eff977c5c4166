"""A GP prior of metabo as a BoTorch model: same kernel, mean and noise, computed by GPyTorch."""

from botorch.models import SingleTaskGP
from gpytorch.constraints import GreaterThan
from gpytorch.kernels import Kernel, MaternKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ConstantMean, Mean, ZeroMean
from torch import Tensor

from metabo.domain import require_dim
from metabo.errors import ShapeError
from metabo.gp import KernelName, Prior
from metabo.shapes import Float


def prior_model(
    prior: Prior, train_X: Float[Tensor, "t D"], train_Y: Float[Tensor, "t 1"]
) -> SingleTaskGP:
    """The posterior of a run as a model, with nothing left to fit; there may be no data yet.

    Args:
        prior: Of one episode.
        train_X: Points of the unit cube.
        train_Y: Their values, raw.
    """
    if prior.lengthscale.shape[0] != 1:
        raise ShapeError(
            f"A model takes the prior of one episode, but this one has "
            f"{prior.lengthscale.shape[0]} rows."
        )
    require_dim(train_X, prior.dim)
    # GPyTorch's own limit, 1e-4, is more than the noise of most simulations.
    likelihood = GaussianLikelihood(noise_constraint=GreaterThan(1e-16))
    kernel = ScaleKernel(_kernel(prior.kernel, prior.dim))
    model = SingleTaskGP(
        train_X,
        train_Y,
        likelihood=likelihood,
        covar_module=kernel,
        mean_module=_mean(prior, train_Y),
        outcome_transform=None,
    )
    # After construction, which casts the modules to the precision of the data.
    kernel.base_kernel.lengthscale = prior.lengthscale
    kernel.outputscale = prior.signal_variance
    likelihood.noise = prior.diagonal
    return model.requires_grad_(False).eval()


def _kernel(name: KernelName, dim: int) -> Kernel:
    if name == "rbf":
        return RBFKernel(ard_num_dims=dim)
    return MaternKernel({"matern52": 2.5, "matern32": 1.5}[name], ard_num_dims=dim)


def _mean(prior: Prior, train_Y: Tensor) -> Mean:
    if prior.mean == "zero" or not len(train_Y):
        return ZeroMean()
    mean = ConstantMean()
    mean.initialize(constant=train_Y.mean())
    return mean
