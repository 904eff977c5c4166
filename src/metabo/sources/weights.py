"""Prior probabilities of guesses, by how well each explains sources that were left out."""

from torch import Tensor, full_like

from metabo.shapes import Float

LEAST_WEIGHT = 0.02
"""Smallest prior probability of a kind of cells, and of the plain prior.

Sources alone cannot rule out that the next task is unlike all of them.
"""
_ROUNDS = 30
"""Rounds of expectation maximization."""


def mixture_weights(log_evidence: Float[Tensor, "M C"]) -> Float[Tensor, " C"]:
    """Return the proportions of a mixture that make M sources likely, none of them very small.

    Args:
        log_evidence: Log evidence of each component for each source.

    Examples:
        >>> import torch
        >>> certain = torch.tensor([[0.0, -90.0], [0.0, -90.0]], dtype=torch.float64)
        >>> [round(w, 2) for w in mixture_weights(certain).tolist()]
        [0.98, 0.02]
    """
    weight = full_like(log_evidence[0], 1 / log_evidence.shape[1])
    for _ in range(_ROUNDS):
        weight = (log_evidence + weight.log()).softmax(-1).mean(0).clamp_min(LEAST_WEIGHT)
        weight = weight / weight.sum()
    return weight
