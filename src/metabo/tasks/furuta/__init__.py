"""The Furuta pendulum: simulations to learn from, and a stand-in for the hardware."""

from metabo.tasks.furuta.family import (
    FurutaTasks,
    GainBox,
    furuta_family,
    furuta_reference_family,
)

__all__ = ["FurutaTasks", "GainBox", "furuta_family", "furuta_reference_family"]
