"""Starts for `optimize_acqf`: around the best observations, inside the bounds, the same again."""

import pytest
import torch

from metabo.acquisition import LogEI
from metabo.gp import Prior

pytest.importorskip("botorch", reason="needs the extra `botorch`")

from botorch.exceptions import UnsupportedError

from metabo.integrations.botorch import NeuralAcquisition, prior_model, scattered_starts

BOUNDS = torch.tensor([[0.0, 0.0], [10.0, 2.0]], dtype=torch.float64)
PRIOR = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=0.0)


def acquisition(n, rng):
    x = torch.rand(n, 2, generator=rng, dtype=torch.float64)
    y = torch.rand(n, 1, generator=rng, dtype=torch.float64)
    model = prior_model(PRIOR, x, y)
    observed = x * BOUNDS[1]
    return NeuralAcquisition(model, LogEI(), 30, X_observed=observed, Y_observed=y, bounds=BOUNDS)


@pytest.mark.parametrize("n", [0, 1, 8])
@pytest.mark.parametrize("restarts", [1, 10])
def test_starts_are_as_many_as_wanted_within_the_bounds_and_repeat(n, restarts, rng):
    score = acquisition(n, rng)
    inner = BOUNDS * 0.5
    starts = scattered_starts(score, inner, 1, restarts, 64)
    assert starts.shape == (restarts, 1, 2)
    assert ((starts >= inner[0]) & (starts <= inner[1])).all()
    assert torch.equal(starts, scattered_starts(score, inner, 1, restarts, 64))


def test_some_starts_are_close_to_the_best_observation(rng):
    score = acquisition(8, rng)
    starts = scattered_starts(score, BOUNDS, 1, 10, 512)[:, 0] / BOUNDS[1]
    best = score.observed_x[0, score.observed_y[0].argmax()]
    distance = (starts - best).abs().amax(-1)
    assert (distance < 0.05).sum() >= 2
    assert (distance > 0.2).any()


def test_fixed_features_stay_fixed_and_constraints_are_refused(rng):
    score = acquisition(8, rng)
    starts = scattered_starts(score, BOUNDS, 1, 10, 64, fixed_features={1: 0.7})
    assert (starts[..., 1] == 0.7).all()
    with pytest.raises(UnsupportedError, match=r"does not support constraints"):
        scattered_starts(score, BOUNDS, 1, 10, 64, inequality_constraints=[object()])
