import pytest
import torch

from metabo.acquisition import Architecture, NeuralAF, merged
from metabo.errors import OptionError


def afs(n, **changes):
    built = Architecture(2, ("mean", "std", "x", "log_ei"), (5, 7, 3), **changes)
    made = [NeuralAF(built, torch.Generator().manual_seed(seed)) for seed in range(n)]
    for af in made:  # biases are zero at first
        for parameter in af.parameters():
            parameter.data.add_(0.1 * torch.randn_like(parameter))
    return made


@pytest.mark.parametrize(
    "changes", [{}, {"residual": "log_ei"}, {"residual": "mean"}, {"activation": "tanh"}]
)
def test_the_merged_score_is_the_mean_of_the_scores(changes):
    team = afs(3, init="orthogonal", **changes)
    features = torch.randn(4, 6, 5)
    expected = torch.stack([af.score(features) for af in team]).mean(0)
    torch.testing.assert_close(merged(team).score(features), expected)


def test_one_alone_is_itself():
    (alone,) = afs(1)
    features = torch.randn(4, 6, 5)
    torch.testing.assert_close(merged([alone]).score(features), alone.score(features))


def test_networks_of_other_shapes_are_not_merged():
    other = NeuralAF(Architecture(2, ("mean", "std", "x", "log_ei"), (5, 7, 4)))
    with pytest.raises(OptionError, match=r"same architecture"):
        merged([*afs(1), other])
