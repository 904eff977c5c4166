"""Named parameters and their mapping to the unit cube, in which they are optimized."""

from metabo.space.parameter import Choice, Float, Int, Parameter
from metabo.space.space import MOST_COORDINATES, Space
from metabo.space.values import Value

__all__ = ["MOST_COORDINATES", "Choice", "Float", "Int", "Parameter", "Space", "Value"]
