"""Ensembles as one network: the mean of several networks' scores is the score of a larger one."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from metabo.acquisition.neural import NeuralAF
from metabo.errors import OptionError


@torch.no_grad()
def merged(afs: Sequence[NeuralAF]) -> NeuralAF:
    """Merge an ensemble into one acquisition function whose score is the mean of the members'.

    Its layers hold those of the members side by side. The result is exact; the only cost is that
    the zeros between the members' blocks are multiplied too.

    Args:
        afs: Members of the ensemble, all of the same architecture.

    Raises:
        OptionError: If their architectures differ.

    Examples:
        >>> from metabo.acquisition import Architecture
        >>> members = [NeuralAF(Architecture(dim=1, hidden=(8,))) for _ in range(3)]
        >>> merged(members).architecture.hidden
        (24,)
    """
    first = afs[0].architecture
    if any(af.architecture != first for af in afs):
        raise OptionError("Only acquisition functions of the same architecture can be merged.")
    whole = NeuralAF(replace(first, hidden=tuple(len(afs) * size for size in first.hidden)))
    layers = [[m for m in af.network if isinstance(m, nn.Linear)] for af in afs]
    targets = [m for m in whole.network if isinstance(m, nn.Linear)]
    for number, (target, *parts) in enumerate(zip(targets, *layers, strict=True)):
        weights, biases = [p.weight for p in parts], [p.bias for p in parts]
        if target is targets[-1]:
            target.weight.copy_(torch.cat(weights, 1) / len(afs))
            target.bias.copy_(torch.stack(biases).mean(0))
        else:
            target.weight.copy_(torch.cat(weights) if number == 0 else torch.block_diag(*weights))
            target.bias.copy_(torch.cat(biases))
    return whole
