"""Where tensors may live."""

import torch

from metabo.errors import unknown


def require_device(name: str) -> None:
    """Raise unless this machine has the device `cpu`, `cuda` or `cuda:N`."""
    present = ["cpu", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    if name not in present and not (name == "cuda" and len(present) > 1):
        raise unknown("device on this machine:", name, present)
