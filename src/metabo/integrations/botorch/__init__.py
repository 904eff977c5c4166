"""Integration with BoTorch: learned acquisition functions, GP priors and starting points."""

from metabo.errors import ExtraError

try:
    import botorch as _botorch  # noqa: F401
except ImportError as error:
    raise ExtraError("BoTorch", "botorch") from error

from metabo.integrations.botorch.acquisition import NeuralAcquisition
from metabo.integrations.botorch.model import prior_model
from metabo.integrations.botorch.prior import (
    LearnedKernel,
    LearnedMean,
    LearnedPriorModules,
    learned_prior_modules,
)
from metabo.integrations.botorch.starts import scattered_starts

__all__ = [
    "LearnedKernel",
    "LearnedMean",
    "LearnedPriorModules",
    "NeuralAcquisition",
    "learned_prior_modules",
    "prior_model",
    "scattered_starts",
]
