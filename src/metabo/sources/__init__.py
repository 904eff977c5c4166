"""What past tasks leave behind: their data, and the prior learned from them."""

from metabo.sources.data import SourceData, source_data
from metabo.sources.learn import MOST_SOURCES, learned_prior
from metabo.sources.scattered import learn_scattered

__all__ = ["MOST_SOURCES", "SourceData", "learn_scattered", "learned_prior", "source_data"]
