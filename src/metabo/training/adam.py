"""Adam in a form that can be recorded as part of a CUDA graph."""

import torch
from torch import Tensor, nn


def adam(networks: nn.Module, learning_rate: float, device: str) -> torch.optim.Adam:
    """Adam with its moments in place and its rate in a tensor, as a recorded update needs both."""
    rate = torch.tensor(learning_rate, device=device)
    is_cuda = device.startswith("cuda")
    optimizer = torch.optim.Adam(networks.parameters(), lr=rate, fused=True, capturable=is_cuda)
    for parameter in networks.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()  # moves nothing: the gradients are zero
    for state in optimizer.state.values():
        state["step"].zero_()
    optimizer.zero_grad()
    return optimizer


def moments(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """The optimizer's own tensors, which a step changes beside the parameters."""
    return [value for state in optimizer.state.values() for value in state.values()]
