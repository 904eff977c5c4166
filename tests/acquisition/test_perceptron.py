import pytest
import torch

from metabo.acquisition.perceptron import initialize, mlp, scores


def network_and_points(activation="relu"):
    source = torch.Generator().manual_seed(0)
    network = mlp(3, (16, 8), activation)
    initialize(network, "orthogonal", source)
    for p in network.parameters():
        p.data += 0.1 * torch.randn(p.shape, generator=source)
    x = torch.randn(50, 3, generator=source, dtype=torch.float64)
    return network.double(), x.requires_grad_()


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_outputs_and_gradients_are_those_of_the_plain_layers(activation):
    network, x = network_and_points(activation)
    weight = torch.linspace(-1, 2, 50, dtype=torch.float64)
    inputs = [x, *network.parameters()]
    plain = network(x)[:, 0]
    ours = scores(network, x, torch.float64)
    torch.testing.assert_close(ours, plain, rtol=1e-12, atol=1e-12)
    expected = torch.autograd.grad((weight * plain).sum(), inputs)
    gradients = torch.autograd.grad((weight * ours).sum(), inputs)
    for mine, theirs in zip(gradients, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)


def test_frozen_weights_still_give_gradients_in_the_points():
    network, x = network_and_points()
    expected = torch.autograd.grad(network(x).sum(), x)[0]
    network.requires_grad_(False)
    (gradient,) = torch.autograd.grad(scores(network, x, torch.float64).sum(), x)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_in_bf16_outputs_and_gradients_agree_to_two_digits(activation):
    network, x = network_and_points(activation)
    network, x = network.float(), x.detach().float()
    plain = network(x)[:, 0]
    ours = scores(network, x, torch.bfloat16)
    assert ours.dtype == torch.float32
    assert not torch.equal(ours, plain)
    torch.testing.assert_close(ours, plain, rtol=0.02, atol=0.03)
    parameters = list(network.parameters())
    expected = torch.autograd.grad(plain.sum(), parameters)
    for mine, theirs in zip(torch.autograd.grad(ours.sum(), parameters), expected, strict=True):
        assert mine.dtype == torch.float32
        assert (mine - theirs).norm() < 0.05 * theirs.norm() + 0.05
