"""Acquisition functions of metabo in Optuna."""

from metabo.errors import ExtraError

try:
    import optuna as _optuna  # noqa: F401
except ImportError as error:
    raise ExtraError("Optuna", "optuna") from error

from metabo.integrations.optuna.sampler import MetaBOSampler

__all__ = ["MetaBOSampler"]
