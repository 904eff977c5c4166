"""Multilayer perceptrons with one output, and a faster path for those with ReLU layers."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from metabo.shapes import Float

ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}
"""Activation functions by name."""


def mlp(n_inputs: int, hidden: Sequence[int], activation: str) -> nn.Sequential:
    """Build a perceptron with one output."""
    layers: list[nn.Module] = []
    for size in hidden:
        layers += [nn.Linear(n_inputs, size), ACTIVATIONS[activation]()]
        n_inputs = size
    return nn.Sequential(*layers, nn.Linear(n_inputs, 1))


@torch.no_grad()
def initialize(
    network: nn.Sequential,
    init: Literal["paper", "orthogonal"],
    generator: torch.Generator | None,
) -> None:
    """Draw the initial weights; biases are set to zero."""
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    for layer in linear:
        layer.bias.zero_()
        if init == "paper":
            layer.weight.normal_(0.0, 0.01, generator=generator)
        else:
            gain = 0.01 if layer is linear[-1] else 2**0.5
            nn.init.orthogonal_(layer.weight, gain, generator=generator)


def scores(
    network: nn.Sequential, x: Float[Tensor, "n F"], dtype: torch.dtype
) -> Float[Tensor, " n"]:
    """Return the network's outputs, with matrix products in the given precision."""
    if all(isinstance(layer, nn.Linear | nn.ReLU) for layer in network):
        parameters = tuple(network.parameters())
        if torch.is_grad_enabled():
            return _ReluPerceptron.apply(x, dtype, *parameters)
        return _relu_scores(x, dtype, parameters)[0]
    weight = next(network.parameters()).dtype
    with torch.autocast(x.device.type, dtype, enabled=dtype != weight, cache_enabled=False):
        return network(x)[..., 0].to(weight)


class _ReluPerceptron(torch.autograd.Function):
    """Linear layers with ReLU in between, as one node of the autograd graph.

    Memory bandwidth limits training here, so passes over memory are saved: the ReLU is fused into
    the matrix product, and the gradient of the last layer, which has one row of weights, needs no
    matrix product.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, dtype: torch.dtype, *parameters: Tensor) -> Tensor:
        inputs: list[Tensor] = []
        score, weights = _relu_scores(x, dtype, parameters, inputs.append)
        ctx.save_for_backward(*weights, *inputs)
        return score

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_score: Tensor) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors
        weights, inputs = saved[: len(saved) // 2], saved[len(saved) // 2 :]
        needs_x, _, *needs = ctx.needs_input_grad
        given = d_score.dtype
        d = d_score.to(inputs[0].dtype)[:, None]  # n 1
        gradients: list[Tensor | None] = []
        for number in reversed(range(len(weights))):
            d_weight = d.mT @ inputs[number] if needs[2 * number] else None
            d_bias = _sum_of_rows(d) if needs[2 * number + 1] else None
            gradients = [_to(d_weight, given), _to(d_bias, given), *gradients]
            if number or needs_x:
                d = d * weights[number] if d.shape[1] == 1 else d @ weights[number]
            if number:  # in place: on a CPU, newly allocated memory makes this 10 % slower
                torch.ops.aten.threshold_backward.grad_input(d, inputs[number], 0.0, grad_input=d)
        return d.to(given) if needs_x else None, None, *gradients


def _relu_scores(
    x: Tensor,
    dtype: torch.dtype,
    parameters: Sequence[Tensor],
    keep: Callable[[Tensor], None] = lambda rows: None,
) -> tuple[Tensor, list[Tensor]]:
    """Return the outputs and the converted weights, passing the input of each layer to `keep`.

    The memory of a layer that is not kept, still in the cache, is reused by the next but one.
    """
    weights, biases = ([p.to(dtype) for p in parameters[first::2]] for first in (0, 1))
    rows = x.to(dtype)
    keep(rows)
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        # addmm followed by ReLU, in one kernel if the device has one.
        rows = torch._addmm_activation(bias, rows, weight.mT)
        keep(rows)
    return torch.addmv(biases[-1], rows, weights[-1][0]).to(x.dtype), weights


def _sum_of_rows(d: Float[Tensor, "n K"]) -> Float[Tensor, " K"]:
    """Sum over rows; on a GPU by a matrix product, which takes a fraction of the time."""
    return d.mT @ torch.ones_like(d[:, 0]) if d.is_cuda else d.sum(0)


def _to(gradient: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    return None if gradient is None else gradient.to(dtype)


def score_and_gradient(
    network: nn.Sequential, x: Float[Tensor, "*n F"]
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n F"]]:
    """Return `network(x)[..., 0]` and its gradient with respect to `x`."""
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
    """Return the activation at `x` and its derivative."""
    if isinstance(activation, nn.ReLU):
        value = x.relu()
        return value, value.sign()
    if isinstance(activation, nn.Tanh):
        value = x.tanh()
        return value, 1 - value.square()
    sigmoid = x.sigmoid()  # SiLU
    return x * sigmoid, sigmoid * (1 + x * (1 - sigmoid))
