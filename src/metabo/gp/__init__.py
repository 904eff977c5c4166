"""Gaussian processes: kernels, hyperparameters, the batched exact posterior and its fitting."""

from metabo.gp.ensemble import Ensemble, observed_means
from metabo.gp.fit import fit, log_likelihood
from metabo.gp.kernels import KERNELS, KernelName
from metabo.gp.posterior import GP, Pullback
from metabo.gp.prior import JITTER, Prior

__all__ = [
    "GP",
    "JITTER",
    "KERNELS",
    "Ensemble",
    "KernelName",
    "Prior",
    "Pullback",
    "fit",
    "log_likelihood",
    "observed_means",
]
