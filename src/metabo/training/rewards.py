"""Rewards: what an episode earns after each evaluation."""

from typing import Literal

from torch import Tensor

from metabo.shapes import Float


def rewards(
    regret: Float[Tensor, "E T"], kind: Literal["log", "linear"], floor: float
) -> Float[Tensor, "E T"]:
    """-log10 R_t or -R_t, with R_t the simple regret after step t.

    The floor keeps one lucky hit (R = 0) from being worth more than a whole run.
    """
    return -regret.clamp_min(floor).log10() if kind == "log" else -regret
