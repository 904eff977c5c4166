"""Rewards of an episode after each evaluation."""

from typing import Literal

from torch import Tensor

from metabo.shapes import Float


def rewards(
    regret: Float[Tensor, "E T"], kind: Literal["log", "linear"], floor: float
) -> Float[Tensor, "E T"]:
    """Return -log10 R_t or -R_t, where R_t is the simple regret after step t.

    Args:
        regret: Simple regret after each step.
        kind: `log` or `linear`.
        floor: Smallest regret that counts in `log`: without it, one lucky hit (R = 0) would be
            worth more than a whole run.

    Examples:
        >>> import torch
        >>> rewards(torch.tensor([[0.1, 0.0]]), "log", 1e-3).tolist()
        [[1.0, 3.0]]
    """
    return -regret.clamp_min(floor).log10() if kind == "log" else -regret
