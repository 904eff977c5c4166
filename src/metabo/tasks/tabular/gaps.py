"""What a table does not say: missing cells, filled from the other cells of the same data set."""

import torch
from torch import Tensor

from metabo.gp import Ensemble, Prior, fit
from metabo.shapes import Float

_POINTS = 300
"""Most results of a data set that a GP is fitted to."""


def filled(
    points: Float[Tensor, "N D"], values: Float[Tensor, "M N"]
) -> tuple[Float[Tensor, "M N"], Prior | None]:
    """The values with each gap at the mean of a GP fitted to its data set's own results.

    Also the geometric mean of those GPs' hyperparameters; None where there are no gaps, which need
    no GP. What lies between the results of a data set is learned from that data set alone, so that
    nothing of a test data set enters another.
    """
    known = values.isfinite()
    if bool(known.all()):
        return values, None
    complete, priors = values.clone(), []
    for row, is_known in zip(complete, known, strict=True):
        stride = -(-int(is_known.sum()) // _POINTS)
        x, y = points[is_known][::stride], row[is_known][::stride]
        prior = fit(x[None], y[None], mean="observed", n_climbs=3, iterations=40)
        priors.append(prior)
        row[~is_known] = Ensemble.of(prior, x[None], y[None]).mean(points[~is_known])[0]
    return complete, _middle(priors)


def _middle(priors: list[Prior]) -> Prior:
    def middle(values: list[Tensor]) -> Tensor:
        return torch.cat(values).log().mean(0, keepdim=True).exp()

    return Prior(
        middle([p.lengthscale for p in priors]),
        middle([p.signal_variance for p in priors]),
        middle([p.noise_variance for p in priors]),
        mean="observed",
    )
