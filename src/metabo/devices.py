"""Devices for tensors, and the precision of their matrix products."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from metabo.errors import unknown


def require_device(name: str) -> None:
    """Raise `OptionError` unless this machine has the device `cpu`, `cuda` or `cuda:N`."""
    present = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    if name not in present and not (name == "cuda" and len(present) > 1):
        raise unknown("device on this machine:", name, present)


def is_capturing(tensor: Tensor) -> bool:
    """Tell whether a CUDA graph is being recorded, during which no value can be read."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


@contextmanager
def matmul_precision(precision: str) -> Iterator[None]:
    """Set the precision of float32 matrix products (`high` is TF32), and restore it on exit."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
