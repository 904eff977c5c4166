"""Gaussian processes: kernels, hyperparameters, the batched exact posterior and its fitting."""

from metabo.gp.ensemble import Ensemble, observed_means
from metabo.gp.fit import fit
from metabo.gp.kernels import KERNELS, KernelName
from metabo.gp.likelihood import Likelihood, log_likelihood
from metabo.gp.posterior import GP, Pullback
from metabo.gp.prior import JITTER, Prior

__all__ = [
    "GP",
    "JITTER",
    "KERNELS",
    "Ensemble",
    "KernelName",
    "Likelihood",
    "Prior",
    "Pullback",
    "fit",
    "log_likelihood",
    "observed_means",
]
