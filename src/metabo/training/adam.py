"""Adam in a form that a CUDA graph can record."""

import torch
from torch import Tensor, nn


def adam(networks: nn.Module, learning_rate: float, device: str) -> torch.optim.Adam:
    """Create Adam with its moments allocated and its rate in a tensor, as a CUDA graph needs."""
    rate = torch.tensor(learning_rate, device=device)
    is_cuda = device.startswith("cuda")
    optimizer = torch.optim.Adam(networks.parameters(), lr=rate, fused=True, capturable=is_cuda)
    for parameter in networks.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()  # allocates the moments; zero gradients change no parameter
    for state in optimizer.state.values():
        state["step"].zero_()
    optimizer.zero_grad()
    return optimizer


def moments(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """Return the optimizer's own tensors, which a step changes in addition to the parameters."""
    return [value for state in optimizer.state.values() for value in state.values()]
