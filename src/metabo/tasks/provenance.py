"""Where the tasks of a family come from, where they are measured data."""

from dataclasses import dataclass
from typing import Literal

from metabo.space import Value


@dataclass(frozen=True)
class Fingerprint:
    """Names of data sets, and a digest of their values."""

    datasets: tuple[str, ...]
    sha256: str
    """Digest of the configurations and of the data sets' values, in hexadecimal."""

    def record(self) -> dict[str, object]:
        """The fingerprint as checkpoints and cards store it."""
        return {"datasets": list(self.datasets), "sha256": self.sha256}


@dataclass(frozen=True)
class Provenance:
    """The data sets behind a family: those learned from and those kept apart."""

    sources: Fingerprint
    """Fingerprint of the data sets that are learned from."""
    validation: Fingerprint
    """Fingerprint of the data sets kept for validation."""
    test: tuple[str, ...]
    """Names of the data sets kept for testing."""
    groups: tuple[tuple[str, ...], ...]
    """All data sets that folds can be made of; those of one origin are in one group, which no
    split may divide."""
    direction: Literal["maximize", "minimize"]
    """Whether the data were measured with larger or with smaller values being better."""
    configurations: tuple[tuple[Value, ...], ...]
    """The configurations that were measured, their values in the order of the space."""
