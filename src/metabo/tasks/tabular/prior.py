"""GP hyperparameters for tables, by type-2 maximum likelihood on the sources.

The values of a target are unknown before a run, so its prior is the one that maximizes the joint
likelihood of the sources.
"""

from functools import lru_cache

import torch
from torch import Tensor

from metabo.ascent import ascend, differentiated
from metabo.domain import sobol
from metabo.gp import Prior
from metabo.gp.kernels import KernelName, correlation
from metabo.shapes import Float

_LOW, _HIGH = (0.02, 1e-2, 1e-8), (20.0, 1e2, 1.0)
"""Limits of lengthscales, and of signal and noise variances relative to the values' variance."""
_POINTS = 500
"""Largest number of configurations used: a factorization costs N^3."""


def shared_prior(
    points: Float[Tensor, "N D"], values: Float[Tensor, "M N"], *, kernel: KernelName = "rbf"
) -> Prior:
    """Return the prior that maximizes the joint likelihood of M data sets at the same points.

    The mean of each data set is subtracted. All data sets share one factorization.
    """
    shape = (*values.shape, points.shape[-1])
    return _likeliest(points.numpy().tobytes(), values.numpy().tobytes(), shape, kernel)


@lru_cache(maxsize=128)
def _likeliest(
    points: bytes, values: bytes, shape: tuple[int, int, int], kernel: KernelName
) -> Prior:
    """Return the prior for arrays given as bytes; cached, since the search takes seconds."""
    n_sets, n_points, dim = shape
    x = torch.frombuffer(bytearray(points), dtype=torch.float64).view(n_points, dim)
    y = torch.frombuffer(bytearray(values), dtype=torch.float64).view(n_sets, n_points)
    stride = max(1, -(-n_points // _POINTS))
    x, y = x[::stride], y[:, ::stride]
    centred = y - y.mean(-1, keepdim=True)
    spread = centred.square().mean().clamp_min(1e-12)
    targets = centred.mT / spread.sqrt()  # N M
    eye = torch.eye(len(x), dtype=x.dtype)

    def score(theta: Tensor) -> Tensor:  # 1 S P -> 1 S
        rows = theta[0].exp()
        inputs = x.expand(len(rows), -1, -1)
        correlations = correlation(kernel, inputs, inputs, rows[:, :dim])
        covariance = rows[:, dim, None, None] * correlations
        noise = rows[:, dim + 1, None, None] + 1e-8
        factor, failed = torch.linalg.cholesky_ex(covariance + noise * eye)
        white = torch.linalg.solve_triangular(
            factor, targets.expand(len(rows), -1, -1), upper=False
        )
        log_determinant = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        value = -0.5 * white.square().sum((-2, -1)) - n_sets * log_determinant
        return torch.where(failed == 0, value, -torch.inf).nan_to_num(nan=-torch.inf)[None]

    lower = x.new_tensor([_LOW[0]] * dim + list(_LOW[1:])).log()
    upper = x.new_tensor([_HIGH[0]] * dim + list(_HIGH[1:])).log()
    starts = lower + (upper - lower) * (0.25 + 0.5 * sobol(8, dim + 2))
    with torch.no_grad():
        theta, value = ascend(
            differentiated(score),
            starts[None],
            lower=lower,
            upper=upper,
            unit=torch.ones_like(lower),
            iterations=60,
            radius=0.5,
        )
    best = theta[0, int(value[0].argmax())].exp()
    return Prior.of(
        best[:dim].tolist(),
        signal_variance=float(best[dim] * spread),
        noise_variance=float(best[dim + 1] * spread),
        kernel=kernel,
        mean="observed",
    )
