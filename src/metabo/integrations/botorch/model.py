"""GP priors of metabo as BoTorch models: the same kernel, mean and noise, in GPyTorch."""

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
    """Return the posterior of a run as a BoTorch model with fixed hyperparameters.

    Args:
        prior: GP prior of one episode.
        train_X: Observed points in the unit cube; there may be none yet.
        train_Y: Raw values at these points.

    Returns:
        A model in evaluation mode whose parameters do not require gradients.

    Raises:
        ShapeError: If the prior has several rows, or another dimension than `train_X`.

    Examples:
        >>> import torch
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=1e-6)
        >>> train_X = torch.tensor([[0.5]], dtype=torch.float64)
        >>> model = prior_model(prior, train_X, torch.ones_like(train_X))
        >>> round(float(model.posterior(train_X).mean), 4)
        1.0
    """
    if prior.lengthscale.shape[0] != 1:
        raise ShapeError(
            f"A model takes the prior of one episode, but this one has "
            f"{prior.lengthscale.shape[0]} rows. Select one with `Prior.take`."
        )
    require_dim(train_X, prior.dim)
    # GPyTorch's default limit, 1e-4, exceeds the noise of most simulations.
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
    # Set after construction, which casts the modules to the precision of the data.
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
