"""The score of a perceptron and its gradient in the inputs, for less than autograd takes."""

import torch
from torch import Tensor, nn

from metabo.shapes import Float


def score_and_gradient(
    network: nn.Sequential, x: Float[Tensor, "*n F"]
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n F"]]:
    """`network(x)[..., 0]`, and its gradient in `x`."""
    rows = x.flatten(0, -2)
    weights, slopes = [], []
    for layer in network:
        if isinstance(layer, nn.Linear):
            weights.append(layer.weight)
            rows = torch.nn.functional.linear(rows, layer.weight, layer.bias)
        else:
            rows, slope = _activated(layer, rows)
            slopes.append(slope)
    gradient = weights.pop()  # 1 H
    for weight, slope in zip(reversed(weights), reversed(slopes), strict=True):
        gradient = (gradient * slope) @ weight
    return rows.view(x.shape[:-1]), gradient.view(x.shape)


def _activated(activation: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """An activation at `x`, and its derivative."""
    if isinstance(activation, nn.ReLU):
        value = x.relu()
        return value, value.sign()
    if isinstance(activation, nn.Tanh):
        value = x.tanh()
        return value, 1 - value.square()
    sigmoid = x.sigmoid()  # SiLU
    return x * sigmoid, sigmoid * (1 + x * (1 - sigmoid))
