"""Gaussian processes: kernels, hyperparameters, the batched exact posterior and its fitting."""

from metabo.gp.fit import fit
from metabo.gp.hyperprior import HyperPrior, LogNormal
from metabo.gp.kernels import KERNELS, KernelName
from metabo.gp.learned import Cells, LearnedPart
from metabo.gp.learned_posterior import Both, LearnedGP, plain_log_evidence, predict_both
from metabo.gp.likelihood import Likelihood, log_likelihood
from metabo.gp.posterior import GP, Pullback
from metabo.gp.prior import JITTER, Prior
from metabo.gp.reduction import reduced
from metabo.gp.source_posteriors import SourcePosteriors, observed_means
from metabo.gp.standardize import default_prior, fitted_prior, least_to_fit, standardized

__all__ = [
    "GP",
    "JITTER",
    "KERNELS",
    "Both",
    "Cells",
    "HyperPrior",
    "KernelName",
    "LearnedGP",
    "LearnedPart",
    "Likelihood",
    "LogNormal",
    "Prior",
    "Pullback",
    "SourcePosteriors",
    "default_prior",
    "fit",
    "fitted_prior",
    "least_to_fit",
    "log_likelihood",
    "observed_means",
    "plain_log_evidence",
    "predict_both",
    "reduced",
    "standardized",
]
