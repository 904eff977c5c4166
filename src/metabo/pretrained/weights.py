"""Checks of an artifact's weights: that they fit its architecture and have plausible values."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from metabo.errors import DataError, shown

MAX_WEIGHT = 1e6
"""Largest absolute weight that is accepted; trained weights are below 100."""
_TYPES = ("F32", "F64")
"""Types of weights that are accepted, as safetensors calls them."""


def require_fit(
    shapes: Mapping[str, tuple[int, ...]],
    types: Mapping[str, str],
    expected: Mapping[str, tuple[int, ...]],
    path: Path,
) -> None:
    """Raise unless the tensors in a file are those of its architecture.

    Args:
        shapes: Shapes of the tensors in the file, by name.
        types: Types of the tensors in the file, by name, such as `F32`.
        expected: Shapes of the weights that the architecture has, by name.
        path: The file, for the message.

    Raises:
        DataError: If a tensor is missing, unknown, or of another shape or type.
    """
    for name in sorted(expected.keys() | shapes.keys()):
        wanted, found = expected.get(name), shapes.get(name)
        if wanted != found:
            raise DataError(
                f"`{shown(path)}` is not a usable artifact: its card and weights do not fit "
                f"(`{shown(name)}` should have shape {wanted}, but has {found}). Get the file "
                "again."
            )
        if types[name] not in _TYPES:
            raise DataError(
                f"`{shown(path)}` is not a usable artifact: its weights must be float32 or "
                f"float64, but `{name}` is {types[name]}. Get the file again."
            )


def require_sane(weights: Mapping[str, Tensor], path: Path) -> None:
    """Raise unless all weights are finite and of a plausible size.

    Raises:
        DataError: If a weight is not finite, or larger than `MAX_WEIGHT`.
    """
    for name, value in weights.items():
        if not bool((value.abs() <= MAX_WEIGHT).all()):  # false for NaN too
            raise DataError(
                f"The weights of `{shown(path)}` must be finite and at most {MAX_WEIGHT:g}, but "
                f"`{name}` has one of {_worst(value):g}. Get the file again, or train with a "
                "lower `learning_rate`."
            )


def _worst(value: Tensor) -> float:
    flat = value.double().flatten()
    odd = flat[~flat.isfinite()]
    return float(odd[0] if len(odd) else flat[flat.abs().argmax()])
