"""A network is used only where it is better than what its score started from."""

import torch

from metabo.acquisition import NeuralAF
from metabo.seeding import generator
from metabo.tasks import family
from metabo.training import preset
from metabo.training.benefit import if_better

FEATURES = ("mean", "log_std")


def trained(slope, **changes):
    """Return a network that adds `slope` times the mean to the log deviation, and more."""
    config = preset(
        "default",
        "branin",
        prior="plain",
        features=FEATURES,
        hidden=(2,),
        normalize=False,
        residual="log_std",
        residual_weight=1.0,
        horizon=6,
        validation_tasks=20,
        **changes,
    )
    af = NeuralAF(config.architecture(2), generator(0, "weights"))
    with torch.no_grad():
        for parameter in af.network.parameters():
            parameter.zero_()
        af.network[0].weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0]]))
        af.network[-1].weight.copy_(slope * torch.tensor([[1.0, -1.0]]))
    return af, family("branin"), config


def outcome(slope):
    af, branin, config = trained(slope)
    chosen, score = if_better(af, branin.prior, branin, config)
    return chosen.architecture.horizon, score


def test_a_network_that_looks_for_high_values_beats_exploration_alone():
    horizon, score = outcome(10.0)
    assert horizon == 6
    assert score["network"] > score["residual"]


def test_a_network_that_looks_for_low_values_is_left_out():
    horizon, score = outcome(-10.0)
    assert horizon == 0
    assert score["network"] < score["residual"]


def test_a_network_that_says_nothing_is_left_out():
    horizon, score = outcome(0.0)
    assert horizon == 0
    assert score["network"] == score["residual"]


def test_without_a_residual_there_is_nothing_to_compare():
    config = preset("paper", "branin")
    af = NeuralAF(config.architecture(2))
    assert if_better(af, family("branin").prior, family("branin"), config) == (af, {})
