"""Gaussian processes: kernels, hyperparameters, the batched exact posterior and its fitting."""

from metabo.gp.cells import Cells
from metabo.gp.evidence import plain_log_evidence
from metabo.gp.fit import fit
from metabo.gp.hyperprior import HyperPrior, LogNormal
from metabo.gp.kernels import KERNELS, KernelName
from metabo.gp.learned import Groups, LearnedPart
from metabo.gp.learned_posterior import LearnedGP
from metabo.gp.likelihood import Likelihood, log_likelihood
from metabo.gp.posterior import GP, Pullback
from metabo.gp.prior import JITTER, Prior
from metabo.gp.reduction import reduced
from metabo.gp.source_posteriors import SourcePosteriors, observed_means
from metabo.gp.standardize import default_prior, fitted_prior, least_to_fit, standardized
from metabo.gp.views import Mixture, Views

__all__ = [
    "GP",
    "JITTER",
    "KERNELS",
    "Cells",
    "Groups",
    "HyperPrior",
    "KernelName",
    "LearnedGP",
    "LearnedPart",
    "Likelihood",
    "LogNormal",
    "Mixture",
    "Prior",
    "Pullback",
    "SourcePosteriors",
    "Views",
    "default_prior",
    "fit",
    "fitted_prior",
    "least_to_fit",
    "log_likelihood",
    "observed_means",
    "plain_log_evidence",
    "reduced",
    "standardized",
]
