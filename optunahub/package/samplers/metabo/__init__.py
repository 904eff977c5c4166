"""Learned and classical acquisition functions of metabo as an Optuna sampler."""

from metabo.integrations.optuna import MetaBOSampler

__all__ = ["MetaBOSampler"]
