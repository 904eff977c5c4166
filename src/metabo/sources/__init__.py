"""What past tasks leave behind: their data, and the prior learned from them."""

from metabo.sources.data import SourceData, source_data
from metabo.sources.learn import MOST_SOURCES, learned_prior

__all__ = ["MOST_SOURCES", "SourceData", "learned_prior", "source_data"]
