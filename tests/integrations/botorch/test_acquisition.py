"""Learned AFs in BoTorch: the same scores, in every shape and precision BoTorch may ask for."""

import pytest
import torch

import metabo
from metabo.acquisition import EI, UCB, Architecture, LogEI, NeuralAF
from metabo.errors import MetaBOError, OptionError, ShapeError
from metabo.seeding import generator
from metabo.state import BOState
from metabo.training.presets import PLAIN_FEATURES

pytest.importorskip("botorch", reason="needs the extra `botorch`")

from botorch.acquisition import ExpectedImprovement, LogExpectedImprovement
from botorch.acquisition.input_constructors import get_acqf_input_constructor
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions import UnsupportedError
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.map_saas import EnsembleMapSaasSingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.utils.datasets import SupervisedDataset

from metabo.integrations.botorch import NeuralAcquisition, prior_model, scattered_starts

CUBE = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
NATIVE = torch.tensor([[-5.0, 0.0], [10.0, 15.0]], dtype=torch.float64)
PLAIN = NeuralAF(
    Architecture(2, PLAIN_FEATURES, (32, 32), init="orthogonal", residual="mean"),
    generator(0, "weights"),
).double()
"""A network that sees the plain view only, as a GP without a learned prior has."""


def branin_run(n, seed=0):
    """A run of random queries, as a state of metabo."""
    family = metabo.family("branin")
    task = family.sample(1, generator(seed, "test tasks"))
    x = torch.rand(n, 1, 2, generator=generator(seed, "queries"), dtype=torch.float64)
    state = BOState.start(family.prior, episodes=1, budget=30)
    for query in x:
        state = state.observe(query, task(query[:, None])[:, 0])
    return state


def model_of(state):
    return prior_model(state.gp.prior, state.history.x[0], state.history.y[0][:, None])


def model_of_data(state):
    return state.history.x[0], state.history.y[0][:, None]


def draw(rng, *shape):
    return torch.rand(*shape, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("af", [PLAIN, LogEI()])
def test_scores_are_those_of_a_run_with_the_same_gp(n, af, rng):
    state, x = branin_run(n), draw(rng, 1, 100, 2)
    ours = af(state.belief(x))[0]
    theirs = NeuralAcquisition(model_of(state), af, budget=30)(x[0][:, None])
    torch.testing.assert_close(theirs, ours, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(EI(), ExpectedImprovement), (LogEI(), LogExpectedImprovement)]
)
@pytest.mark.filterwarnings("ignore:ExpectedImprovement has known numerical issues")
def test_classical_functions_are_botorchs(ours, theirs, rng):
    x, y = draw(rng, 8, 2), draw(rng, 8, 1)
    model, at = SingleTaskGP(x, y), draw(rng, 50, 1, 2)
    got = NeuralAcquisition(model, ours, budget=30)(at)
    torch.testing.assert_close(got, theirs(model, best_f=y.max())(at), rtol=1e-8, atol=1e-10)


def test_batches_of_any_rank_are_scored_point_by_point(rng):
    score = NeuralAcquisition(model_of(branin_run(5)), PLAIN, 30)
    x = draw(rng, 3, 4, 1, 2)
    flat = torch.stack([score(point)[0] for point in x.flatten(0, 1)])
    assert score(x).shape == (3, 4)
    torch.testing.assert_close(score(x).flatten(), flat, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("best_f", [float("nan"), float("inf"), torch.tensor([0.1, 0.2])])
def test_a_best_value_that_is_none_is_refused(best_f):
    with pytest.raises(OptionError, match=r"`best_f` must be one finite number, but got .* Leave"):
        NeuralAcquisition(model_of(branin_run(5)), "branin-50", 30, best_f=best_f)


def test_more_than_one_point_at_once_is_refused(rng):
    score = NeuralAcquisition(model_of(branin_run(5)), "branin-50", 30)
    with pytest.raises(AssertionError, match=r"Expected X to be `batch_shape x q=1 x d`"):
        score(draw(rng, 3, 2, 2))


def test_pending_points_get_botorchs_usual_error(rng):
    score = NeuralAcquisition(model_of(branin_run(5)), "branin-50", 30)
    with pytest.raises(UnsupportedError, match=r"do not account for X_pending"):
        score.set_X_pending(draw(rng, 1, 2))


def test_gradients_are_those_of_the_scores(rng):
    # A smooth network: a relu network has kinks, on which finite differences stumble.
    af = NeuralAF(Architecture(2, activation="tanh", init="orthogonal", hidden=(8,)), rng).double()
    score = NeuralAcquisition(model_of(branin_run(4)), af, 30)
    x = draw(rng, 6, 1, 2).requires_grad_()
    assert torch.autograd.gradcheck(score, (x,))


def test_single_precision_in_single_precision_out_and_the_artifact_stays_as_it_was(rng):
    state, x, af = branin_run(5), draw(rng, 30, 1, 2), metabo.load("branin-50")
    # With noise, because single precision cannot hold the factor of a noise-free run.
    prior = state.gp.prior.with_noise(0.1)
    double = NeuralAcquisition(prior_model(prior, *model_of_data(state)), af, 30)(x)
    single = NeuralAcquisition(prior_model(prior, *model_of_data(state)), af, 30)(x.float())
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), double, rtol=1e-2, atol=1e-2)
    assert next(af.parameters()).dtype == torch.float64


@pytest.mark.parametrize("is_training", [False, True])
def test_transforms_of_the_model_are_undone(is_training, rng):
    x, y = NATIVE[0] + 15 * draw(rng, 9, 2), 50 * draw(rng, 9, 1) + 200
    model = SingleTaskGP(
        x, y, outcome_transform=Standardize(1), input_transform=Normalize(2, bounds=NATIVE)
    )
    model.train(is_training)
    score = NeuralAcquisition(model, "branin-50", 30, bounds=NATIVE)
    torch.testing.assert_close(score.observed_x[0], (x - NATIVE[0]) / 15)
    torch.testing.assert_close(score.observed_y[0], y[:, 0])
    torch.testing.assert_close(score.best[0], y.max())
    assert int(score.step) == 9


def test_native_coordinates_score_as_the_unit_cube_does(rng):
    state, at = branin_run(6), draw(rng, 40, 1, 2)
    x, y = model_of_data(state)
    expected = NeuralAcquisition(model_of(state), "branin-50", 30)(at)
    native_model = prior_model(state.gp.prior, x, y)
    native_model.set_train_data(NATIVE[0] + 15 * x, strict=False)
    native_model.covar_module.base_kernel.lengthscale = 15 * state.gp.prior.lengthscale
    native = NeuralAcquisition(native_model, "branin-50", 30, bounds=NATIVE)
    torch.testing.assert_close(native(NATIVE[0] + 15 * at), expected, rtol=1e-5, atol=1e-5)


def test_minimizing_is_maximizing_the_negative(rng):
    state, at = branin_run(6), draw(rng, 40, 1, 2)
    x, y = model_of_data(state)
    expected = NeuralAcquisition(model_of(state), "branin-50", 30)(at)
    flipped = prior_model(state.gp.prior, x, -y)
    by_flag = NeuralAcquisition(flipped, "branin-50", 30, maximize=False)(at)
    transform = ScalarizedPosteriorTransform(torch.tensor([-1.0], dtype=torch.float64))
    by_transform = NeuralAcquisition(flipped, "branin-50", 30, posterior_transform=transform)(at)
    torch.testing.assert_close(by_flag, expected)
    torch.testing.assert_close(by_transform, expected)
    low = NeuralAcquisition(flipped, "branin-50", 30, maximize=False, best_f=-y.max())(at)
    torch.testing.assert_close(low, expected)


def test_several_outcomes_need_a_posterior_transform_and_follow_it(rng):
    x, y = draw(rng, 7, 2), draw(rng, 7, 2)
    model = SingleTaskGP(x, y)
    with pytest.raises(UnsupportedError, match=r"Must specify a posterior transform"):
        NeuralAcquisition(model, "branin-50", 30)
    transform = ScalarizedPosteriorTransform(torch.tensor([0.5, 2.0], dtype=torch.float64))
    score = NeuralAcquisition(model, "branin-50", 30, posterior_transform=transform)
    torch.testing.assert_close(score.observed_y[0], 0.5 * y[:, 0] + 2 * y[:, 1])
    listed = ModelListGP(SingleTaskGP(x, y[:, :1]), SingleTaskGP(x, y[:, 1:]))
    with pytest.raises(UnsupportedError, match=r"Pass `X_observed` and `Y_observed`"):
        NeuralAcquisition(listed, "branin-50", 30, posterior_transform=transform)
    same = NeuralAcquisition(
        listed, "branin-50", 30, X_observed=x, Y_observed=y, posterior_transform=transform
    )
    at = draw(rng, 5, 1, 2)
    torch.testing.assert_close(same(at), score(at), rtol=1e-4, atol=1e-4)


def test_an_ensemble_of_models_is_averaged(rng):
    x, y = draw(rng, 6, 2), draw(rng, 6, 1)
    model = EnsembleMapSaasSingleTaskGP(x, y, num_taus=3)
    score, at = NeuralAcquisition(model, UCB(beta=1.0), 30), draw(rng, 4, 1, 2)
    posterior = model.posterior(at)  # 4 3 1 1
    expected = (posterior.mean + posterior.variance.sqrt())[..., 0, 0].mean(-1)
    torch.testing.assert_close(score(at), expected)


def test_the_input_constructor_is_registered(rng):
    state, at = branin_run(6), draw(rng, 40, 1, 2)
    x, y = model_of_data(state)
    build = get_acqf_input_constructor(NeuralAcquisition)
    data = SupervisedDataset(x, y, feature_names=["a", "b"], outcome_names=["y"])
    arguments = build(
        model=model_of(state),
        training_data=data,
        artifact="branin-50",
        budget=30,
        bounds=[(0.0, 1.0), (0.0, 1.0)],
    )
    expected = NeuralAcquisition(model_of(state), "branin-50", 30)(at)
    torch.testing.assert_close(NeuralAcquisition(**arguments)(at), expected)


def test_step_budget_and_incumbent_may_be_given(rng):
    state, at = branin_run(6), draw(rng, 1, 40, 2)
    score = NeuralAcquisition(model_of(state), PLAIN, 20, step=11, best_f=0.25)
    belief = state.belief(at)
    other = type(belief)(
        belief.x,
        belief.mean,
        belief.std,
        torch.tensor([0.25], dtype=torch.float64),
        belief.history,
        torch.tensor(11),
        torch.tensor(20),
    )
    expected = PLAIN(other)[0]
    torch.testing.assert_close(score(at[0][:, None]), expected, rtol=1e-5, atol=1e-6)
    assert int(NeuralAcquisition(model_of(state), "branin-50").budget) == 30


# A relu network has kinks, where SciPy's line search may give up; BoTorch tries again.
@pytest.mark.filterwarnings("ignore:Optimization failed")
@pytest.mark.usefixtures("unchecked")
def test_optimize_acqf_works_with_transforms_in_native_bounds(rng):
    x = NATIVE[0] + 15 * draw(rng, 5, 2)
    y = metabo.family("branin").read([{"translation": [0.0, 0.0], "scale": 1.0}])
    values = y(((x - NATIVE[0]) / 15)[None])[0][:, None]
    model = SingleTaskGP(x, values, input_transform=Normalize(2, bounds=NATIVE))
    score = NeuralAcquisition(model, "branin-50", 30, bounds=NATIVE)
    point, value = optimize_acqf(
        score, NATIVE, q=1, num_restarts=3, raw_samples=64, ic_generator=scattered_starts
    )
    assert ((point >= NATIVE[0]) & (point <= NATIVE[1])).all()
    assert value >= score((NATIVE[0] + 15 * draw(rng, 200, 2))[:, None]).max()


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_the_point_of_optimize_acqf_is_as_good_as_ours():
    from same_scores import compare

    for case in compare(tasks=range(4), steps=(8,), starts="scattered"):
        assert case.worst_score_error < 1e-5
        assert case.shortfall < 1e-3, case


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_scores_agree_along_whole_runs():
    from same_scores import compare

    cases = list(compare(tasks=range(4), steps=range(10)))
    assert len(cases) == 40
    assert max(case.worst_score_error for case in cases) < 1e-5


@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_named(rng):
    state = branin_run(5)
    model = model_of(state)
    with pytest.raises(OptionError, match=r"`step` must lie in 0..4 .*but is 5"):
        NeuralAcquisition(model, "branin-50", 5)
    with pytest.raises(OptionError, match=r"no budget of its own. Pass `budget`"):
        NeuralAcquisition(model, EI())
    with pytest.raises(OptionError, match=r"Pass both `X_observed` and `Y_observed`"):
        NeuralAcquisition(model, "branin-50", 30, X_observed=draw(rng, 5, 2))
    with pytest.raises(ShapeError, match=r"`bounds` must be two rows of 2 numbers"):
        NeuralAcquisition(model, "branin-50", 30, bounds=CUBE.flip(0))
    with pytest.raises(MetaBOError, match=r"Unknown artifact `barnin`. Did you mean `branin`"):
        NeuralAcquisition(model, "barnin", 30)
    with pytest.raises(ShapeError, match=r"trained for points of 3 dimensions"):
        NeuralAcquisition(model, "hartmann-3", 30)(draw(rng, 1, 1, 2))
    batch = SingleTaskGP(draw(rng, 3, 5, 2), draw(rng, 3, 5, 1))
    with pytest.raises(UnsupportedError, match=r"holds a batch of \(3,\) data sets"):
        NeuralAcquisition(batch, "branin-50", 30)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_the_learned_view_is_the_artifacts_own(n, rng):
    af = metabo.load("branin")
    x = draw(rng, 1, n, 2)
    y = metabo.family("branin").sources(1)(x)
    state, at = BOState.after(af.prior, x, y, budget=30), draw(rng, 1, 50, 2)
    score = NeuralAcquisition(prior_model(af.prior, x[0], y[0][:, None]), af, 30)
    expected = af(state.belief(at))[0]
    torch.testing.assert_close(score(at[0][:, None]), expected, rtol=1e-4, atol=1e-4)
