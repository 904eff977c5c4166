"""The origin of a family's tasks, if they are measured data."""

from dataclasses import dataclass
from typing import Literal

from metabo.space import Value


@dataclass(frozen=True)
class Fingerprint:
    """Names of data sets, and a digest of their values."""

    datasets: tuple[str, ...]
    """Names of the data sets."""
    sha256: str
    """Digest of the configurations and of the data sets' values, in hexadecimal."""

    def record(self) -> dict[str, object]:
        """Return the fingerprint as plain data, for checkpoints and cards."""
        return {"datasets": list(self.datasets), "sha256": self.sha256}


@dataclass(frozen=True)
class Provenance:
    """The data sets behind a family: those to learn from and those held out."""

    sources: Fingerprint
    """Fingerprint of the data sets to learn from."""
    validation: Fingerprint
    """Fingerprint of the data sets held out for validation."""
    test: tuple[str, ...]
    """Names of the data sets held out for testing."""
    groups: tuple[tuple[str, ...], ...]
    """All data sets that can be divided into folds; a group contains those of one origin, which no
    split may separate."""
    direction: Literal["maximize", "minimize"]
    """Whether larger or smaller measured values are better."""
    configurations: tuple[tuple[Value, ...], ...]
    """Measured configurations, with their values in the order of the space."""
