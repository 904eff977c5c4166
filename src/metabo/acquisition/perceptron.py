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
            slopes.append(_slope(layer, rows))
            rows = layer(rows)
    gradient = weights.pop()  # 1 H
    for weight, slope in zip(reversed(weights), reversed(slopes), strict=True):
        gradient = (gradient * slope) @ weight
    return rows.view(x.shape[:-1]), gradient.view(x.shape)


def _slope(activation: nn.Module, x: Tensor) -> Tensor:
    """The derivative of an activation at `x`."""
    if isinstance(activation, nn.ReLU):
        return x > 0
    if isinstance(activation, nn.Tanh):
        return 1 - x.tanh().square()
    sigmoid = x.sigmoid()  # SiLU
    return sigmoid * (1 + x * (1 - sigmoid))
