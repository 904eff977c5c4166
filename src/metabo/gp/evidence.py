"""The evidence of the plain prior, which learned priors are weighed against."""

from torch import Tensor

from metabo.gp.posterior import GP
from metabo.shapes import Float


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
