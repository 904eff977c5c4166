"""Learned acquisition functions in BoTorch.

BoTorch scores points of shape `b1 x ... x bk x 1 x d`; here they become the N points of a single
episode, `1 N D`, and the model's posterior fills their `Belief`.
"""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import cast

import torch
from botorch.acquisition import AnalyticAcquisitionFunction
from botorch.acquisition.input_constructors import acqf_input_constructor
from botorch.acquisition.objective import PosteriorTransform
from botorch.exceptions import UnsupportedError
from botorch.models.model import Model
from botorch.utils.transforms import (
    average_over_ensemble_models,
    is_ensemble,
    t_batch_mode_transform,
)
from torch import Tensor, nn

from metabo.acquisition import AcquisitionFunction
from metabo.errors import OptionError, ShapeError
from metabo.pretrained import TrainedAF, load
from metabo.shapes import Float
from metabo.state import Belief, BOState, History, LearnedView


class NeuralAcquisition(AnalyticAcquisitionFunction):  # type: ignore[misc]
    """A learned acquisition function, alpha(mu(x), sigma(x), x, t, T, ...), under a BoTorch model.

    A learned AF depends on the scale of the values it was trained on, so the model must be fitted
    to raw values; if it standardizes them, then by its own outcome transform. Observations are
    read from the model's training data, with its transforms undone, unless they are given. The
    model gives the plain view of a point; the learned view, if the artifact has a learned prior,
    is the artifact's own.

    Examples:
        >>> from botorch.optim import optimize_acqf
        >>> from metabo import load
        >>> from metabo.integrations.botorch import prior_model, scattered_starts
        >>> train_X = torch.tensor([[0.2, 0.7], [0.5, 0.5]], dtype=torch.float64)
        >>> train_Y = torch.tensor([[0.3], [0.8]], dtype=torch.float64)
        >>> model = prior_model(load("branin").prior, train_X, train_Y)
        >>> score = NeuralAcquisition(model, "branin", budget=30)
        >>> bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
        >>> x, value = optimize_acqf(
        ...     score, bounds, 1, 2, 32, options={"maxiter": 5}, ic_generator=scattered_starts
        ... )
        >>> x.shape
        torch.Size([1, 2])
    """

    def __init__(
        self,
        model: Model,
        artifact: str | Path | AcquisitionFunction,
        budget: int | None = None,
        *,
        step: int | None = None,
        best_f: float | Tensor | None = None,
        X_observed: Float[Tensor, "t D"] | None = None,
        Y_observed: Float[Tensor, "t m"] | None = None,
        bounds: Float[Tensor, "2 D"] | None = None,
        posterior_transform: PosteriorTransform | None = None,
        maximize: bool = True,
    ) -> None:
        """Set up the score of points for the next evaluation.

        Args:
            model: Fitted model of one outcome, or of several with a posterior transform.
            artifact: Name or file of an artifact, or any acquisition function of metabo.
            budget: Evaluations of the whole run, T; the artifact's own if None.
            step: Evaluations so far, t; the number of observations if None.
            best_f: Best value so far; the best observation if None.
            X_observed: Points evaluated so far; the model's training data if None.
            Y_observed: Values at `X_observed` before any posterior transform; the model's training
                data if None.
            bounds: Bounds of the native points, which are mapped to the unit cube; the unit cube
                itself if None.
            posterior_transform: Reduces several outcomes to one, or flips the sign.
            maximize: Whether larger values (after the posterior transform) are better.

        Raises:
            OptionError: If the options contradict each other or `budget` is spent.
            ShapeError: If `bounds` do not fit the points.
            UnsupportedError: If the model does not expose its training data, or holds a batch of
                data sets.
        """
        super().__init__(model, posterior_transform=posterior_transform)
        af = load(artifact) if isinstance(artifact, str | Path) else artifact
        # A copy, because `Module.to` would move and cast the caller's own network.
        self.af = deepcopy(af) if isinstance(af, nn.Module) else af
        self.maximize = maximize
        self._informed: BOState | None = None
        if (X_observed is None) != (Y_observed is None):
            raise OptionError("Pass both `X_observed` and `Y_observed`, or neither of them.")
        if X_observed is None or Y_observed is None:
            X_observed, Y_observed = _training_data(model)
        y = self._sign * _single_outcome(Y_observed, X_observed, posterior_transform)
        if bounds is None:
            bounds = torch.stack(
                [torch.zeros(X_observed.shape[-1]), torch.ones(X_observed.shape[-1])]
            )
        bounds = bounds.to(X_observed)
        _check(bounds, X_observed)
        step = len(y) if step is None else step
        budget = _own_budget(af) if budget is None else budget
        if not 0 <= step < budget:
            raise OptionError(
                f"`step` must lie in 0..{budget - 1} (`budget` - 1), but is {step}. Pass a larger "
                "`budget`."
            )
        if best_f is None:
            best_f = y.max() if len(y) else _usual(af).to(y)
        else:
            best_f = self._sign * _single_value(best_f).to(y)
        self.register_buffer("bounds", bounds)
        self.register_buffer("observed_x", self._to_cube(X_observed)[None])
        self.register_buffer("observed_y", y[None])
        self.register_buffer("best", best_f[None])
        self.register_buffer("step", torch.tensor(step, device=y.device))
        self.register_buffer("budget", torch.tensor(budget, device=y.device))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[untyped-decorator]
    @average_over_ensemble_models  # type: ignore[untyped-decorator]
    def forward(self, X: Float[Tensor, "*b 1 D"]) -> Float[Tensor, "*n"]:
        """Score every point, differentiably and in the precision of `X`."""
        mean, std = self._mean_and_sigma(X)  # b1 ... bk 1, an ensemble's axis before the 1
        shape = mean.shape[:-1]
        points = X if is_ensemble(self.model) else X.squeeze(-2)
        x = self._to_cube(points).expand(*shape, -1)
        points = x.reshape(1, -1, X.shape[-1])
        belief = Belief(
            points,
            self._sign * mean.reshape(1, -1),
            std.reshape(1, -1),
            self.best,
            History(self.observed_x, self.observed_y),
            self.step,
            self.budget,
            self._learned_view(points),
        )
        return self.af(belief).view(shape)

    def _learned_view(self, x: Float[Tensor, "1 N D"]) -> LearnedView | None:
        """Return what the artifact's learned prior says about the points, if it has one."""
        part = self.af.learned_part if isinstance(self.af, TrainedAF) else None
        # With points of another dimension, the AF itself says what is wrong.
        if part is None or part.dim != x.shape[-1]:
            return None
        if self._informed is None:
            seen, values = self.observed_x.double(), self.observed_y.double()
            prior = cast(TrainedAF, self.af).prior.to(seen.device)
            budget = int(self.budget)
            self._informed = BOState.after(prior, seen, values, budget=budget)
        view = self._informed.belief(x.double()).learned
        assert view is not None
        mean, std, guard = (value.to(x) for value in (view.mean, view.std, view.guard))
        return LearnedView(mean, std, guard)

    @property
    def _sign(self) -> float:
        return 1.0 if self.maximize else -1.0

    def _to_cube(self, X: Tensor) -> Tensor:
        low, high = self.bounds
        return (X - low) / (high - low)


@acqf_input_constructor(NeuralAcquisition)  # type: ignore[untyped-decorator]
def construct_inputs_neural(
    model: Model,
    artifact: str | Path | AcquisitionFunction,
    budget: int | None = None,
    step: int | None = None,
    best_f: float | Tensor | None = None,
    bounds: Sequence[tuple[float, float]] | None = None,
    posterior_transform: PosteriorTransform | None = None,
    maximize: bool = True,
) -> dict[str, object]:
    """Return the arguments of `NeuralAcquisition`, for callers that construct it by class.

    All parameters except `bounds` are those of `NeuralAcquisition`.

    Args:
        model: Fitted model.
        artifact: Name or file of an artifact, or an acquisition function.
        budget: Evaluations of the whole run, T.
        step: Evaluations so far, t.
        best_f: Best value so far.
        bounds: A pair (low, high) per dimension, as for BoTorch's other constructors.
        posterior_transform: Reduces several outcomes to one, or flips the sign.
        maximize: Whether larger values are better.
    """
    return {
        "model": model,
        "artifact": artifact,
        "budget": budget,
        "step": step,
        "best_f": best_f,
        "bounds": None if bounds is None else torch.tensor(bounds, dtype=torch.float64).mT,
        "posterior_transform": posterior_transform,
        "maximize": maximize,
    }


def _training_data(model: Model) -> tuple[Tensor, Tensor]:
    """Return the points and values (t m) that a model was fitted to, its transforms undone."""
    if not isinstance(getattr(model, "train_targets", None), Tensor):
        raise UnsupportedError(
            f"`{type(model).__name__}` does not expose its training data. Pass `X_observed` and "
            "`Y_observed`."
        )
    has_original = getattr(model, "_has_transformed_inputs", False)
    x = model._original_train_inputs if has_original else model.train_inputs[0]
    y = model.train_targets
    y = y.unsqueeze(-1) if model.num_outputs == 1 else y.mT
    if hasattr(model, "outcome_transform"):
        y, _ = model.outcome_transform.untransform(Y=y, X=x)
    if is_ensemble(model) or model.num_outputs > 1:
        # Every outcome has a copy of the points, and every ensemble member also of the values.
        x, y = (v.flatten(0, -3)[0] if v.ndim > 2 else v for v in (x, y))
    if x.ndim > 2:
        raise UnsupportedError(
            "A learned acquisition function applies to one run, but the model holds a batch of "
            f"{tuple(x.shape[:-2])} data sets. Use one model for each."
        )
    return x.detach(), y.detach()


def _single_outcome(Y: Tensor, X: Tensor, transform: PosteriorTransform | None) -> Tensor:
    """Return the values of the single outcome to optimize, `t`."""
    return (Y if transform is None else transform.evaluate(Y, X)).reshape(len(X))


def _single_value(best_f: float | Tensor) -> Float[Tensor, ""]:
    value = torch.as_tensor(best_f)
    if value.numel() != 1 or not bool(value.isfinite().all()):
        raise OptionError(
            f"`best_f` must be one finite number, but got {value.tolist()}. Leave it out to take "
            "the best observation."
        )
    return value.reshape(())


def _own_budget(af: AcquisitionFunction) -> int:
    if isinstance(af, TrainedAF):
        return af.budget
    raise OptionError(
        "This acquisition function has no budget of its own. Pass `budget`, the number of "
        "evaluations of the whole run."
    )


def _check(bounds: Tensor, X: Tensor) -> None:
    if bounds.shape != (2, X.shape[-1]) or not bool((bounds[0] < bounds[1]).all()):
        raise ShapeError(
            f"`bounds` must be two rows of {X.shape[-1]} numbers, low below high, but got "
            f"{bounds.tolist()}."
        )


def _usual(af: AcquisitionFunction) -> torch.Tensor:
    """Return the incumbent before any observation, as in a run."""
    part = af.learned_part if isinstance(af, TrainedAF) else None
    return torch.zeros(()) if part is None else part.usual
