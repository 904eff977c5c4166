"""Acquisition functions of metabo in Ax."""

from metabo.errors import ExtraError

try:
    import ax as _ax  # noqa: F401
except ImportError as error:
    raise ExtraError("Ax", "ax") from error

from metabo.integrations.ax.node import MetaBONode, generation_strategy

__all__ = ["MetaBONode", "generation_strategy"]
