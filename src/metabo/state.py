"""An optimization run as an immutable value, and its belief about points."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from metabo.devices import is_capturing
from metabo.domain import require_inside
from metabo.errors import DataError, OptionError, ShapeError
from metabo.gp import GP, LearnedGP, Mixture, Prior, reduced
from metabo.shapes import Float, Int

BeliefPullback = Callable[..., Tensor]
"""Map derivatives with respect to a belief to those of its points, `E N D`.

The arguments are the derivatives in mean, std and x, and then, for a belief with a learned view,
those in its mean and std; None for those that are zero.
"""


@dataclass(frozen=True)
class History:
    """The queries of each episode so far and their observed values."""

    x: Float[Tensor, "E t D"]
    """Points queried so far, in the unit cube."""
    y: Float[Tensor, "E t"]
    """Values observed at those points; larger is better."""

    def then(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "History":
        """Return the history with one more query per episode."""
        return History(torch.cat([self.x, x[:, None]], 1), torch.cat([self.y, y[:, None]], 1))


@dataclass(frozen=True)
class LearnedView:
    """What a prior learned from source tasks says about the points of a belief."""

    mean: Float[Tensor, "E N"]
    """Posterior mean at each point."""
    std: Float[Tensor, "E N"]
    """Posterior standard deviation at each point, always positive."""
    guard: Float[Tensor, " E"]
    """Weight of the plain prior in this view, from 0 (a task like the sources) to 1."""


@dataclass(frozen=True)
class Belief:
    """The model's view of N points of each episode: all that an AF may use to score them.

    Examples:
        >>> from metabo.gp import Prior
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> belief = state.belief(torch.tensor([[[0.2], [0.8]]], dtype=torch.float64))
        >>> belief.mean.tolist(), belief.std.tolist()
        ([[0.0, 0.0]], [[1.0, 1.0]])
    """

    x: Float[Tensor, "E N D"]
    """Points in the unit cube."""
    mean: Float[Tensor, "E N"]
    """Posterior mean at each point."""
    std: Float[Tensor, "E N"]
    """Posterior standard deviation at each point, always positive."""
    best: Float[Tensor, " E"]
    """Largest value observed so far; before any observation 0, the prior mean, or a usual value of
    the sources of a learned prior."""
    history: History
    """All queries so far and their values."""
    step: Int[Tensor, ""]
    """Number of observations so far, as a tensor: a captured graph would freeze a plain number."""
    budget: Int[Tensor, ""]
    """Number of evaluations in the whole run."""
    learned: LearnedView | None = None
    """The view of a learned prior; None if the prior has no learned part."""

    def copy(self) -> "Belief":
        """Return the same belief in new tensors, detached from any autograd graph."""
        x, mean, std, best = (q.detach().clone() for q in (self.x, self.mean, self.std, self.best))
        history = History(self.history.x.detach().clone(), self.history.y.detach().clone())
        view = self.learned
        if view is not None:
            view = LearnedView(*(q.detach().clone() for q in (view.mean, view.std, view.guard)))
        return Belief(x, mean, std, best, history, self.step.clone(), self.budget.clone(), view)

    def take(self, index: Int[Tensor, "E n"]) -> "Belief":
        """Return the belief about the points with these indices in each episode."""
        rows = index[..., None].expand(-1, -1, self.x.shape[-1])
        view = self.learned
        if view is not None:
            mean, std = view.mean.gather(1, index), view.std.gather(1, index)
            view = LearnedView(mean, std, view.guard)
        mean, std = self.mean.gather(1, index), self.std.gather(1, index)
        return replace(self, x=self.x.gather(1, rows), mean=mean, std=std, learned=view)

    def then(self, other: "Belief") -> "Belief":
        """Return the belief about these points, followed by others of the same state."""
        view = self.learned
        if view is not None and other.learned is not None:
            mean = torch.cat([view.mean, other.learned.mean], 1)
            std = torch.cat([view.std, other.learned.std], 1)
            view = LearnedView(mean, std, view.guard)
        x = torch.cat([self.x, other.x], 1)
        mean, std = torch.cat([self.mean, other.mean], 1), torch.cat([self.std, other.std], 1)
        return replace(self, x=x, mean=mean, std=std, learned=view)

    @cached_property
    def by_learned(self) -> "Belief":
        """The belief whose mean and std are those of the learned view.

        Raises:
            OptionError: If the prior has no learned part.
        """
        if self.learned is None:
            raise OptionError(
                "This acquisition function needs a learned prior, but the prior has no learned "
                "part. Use one that `metabo train` has learned, or an acquisition function that "
                "needs none."
            )
        return replace(self, mean=self.learned.mean, std=self.learned.std)

    @property
    def decisive(self) -> "Belief":
        """The learned view if there is one, or else the plain view: the better informed one."""
        return self if self.learned is None else self.by_learned

    @cached_property
    def improvement(self) -> Float[Tensor, "E N"]:
        """Excess of the mean over the best value, in deviations: z = (mean - best) / std."""
        return (self.mean - self.best.unsqueeze(-1)) / self.std

    @cached_property
    def log_std(self) -> Float[Tensor, "E N"]:
        """Natural logarithm of the posterior standard deviation."""
        return self.std.log()


@dataclass(frozen=True)
class BOState:
    """E optimization runs after t of T evaluations; policies propose, `observe` advances.

    Examples:
        >>> from metabo.gp import Prior
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=2, budget=10)
        >>> x = torch.tensor([[0.5], [0.5]], dtype=torch.float64)
        >>> state = state.observe(x, torch.tensor([1.0, 3.0], dtype=torch.float64))
        >>> state.n_observed, state.best.tolist()
        (1, [1.0, 3.0])
    """

    gp: GP
    """Posterior of each run given its observations (at most 1,000 of them)."""
    step: Int[Tensor, ""]
    """Number of evaluations so far, t, as a tensor on the GP's device."""
    budget: Int[Tensor, ""]
    """Number of evaluations in the whole run, T."""
    told: History | None = None
    """All observations if the GP sees only some of them; None if it sees them all."""
    learned: LearnedGP | None = None
    """Posteriors under the learned part of the prior; None if it has none."""

    @classmethod
    def start(cls, prior: Prior, *, episodes: int, budget: int) -> "BOState":
        """Start `episodes` runs on the prior's device.

        Returns:
            The state before the first evaluation.

        Raises:
            ShapeError: If `episodes` or `budget` is less than 1, or the prior has another number
                of rows than 1 or `episodes`.
        """
        if episodes < 1 or budget < 1:
            raise ShapeError(
                f"A run needs at least one episode and a budget of at least 1, but got {episodes} "
                f"and {budget}."
            )
        scalar = torch.zeros((), dtype=torch.int64, device=prior.lengthscale.device)
        learned = None if prior.learned is None else LearnedGP.empty(prior, episodes)
        return cls(GP.empty(prior, episodes), scalar, scalar + budget, None, learned)

    @classmethod
    def after(
        cls, prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], *, budget: int
    ) -> "BOState":
        """Start the runs with these evaluations already observed.

        Returns:
            The state that observing them one by one gives, up to rounding. If there are more than
            1,000 evaluations, the GP sees 1,000 of them (`metabo.gp.reduction`).

        Raises:
            DomainError: If a point lies outside of the unit cube.
            DataError: If a value is not finite.
        """
        begun = cls.start(prior, episodes=x.shape[0], budget=budget)
        require_inside(x)
        _require_finite(y)
        seen = reduced(prior, x, y)
        told = None if seen[0].shape == x.shape else History(x, y)
        learned = None if prior.learned is None else LearnedGP.of(prior, *seen)
        return cls(GP.of(prior, *seen), begun.step + x.shape[1], begun.budget, told, learned)

    @cached_property
    def history(self) -> History:
        """All queries and values so far."""
        return History(self.gp.x, self.gp.y) if self.told is None else self.told

    @property
    def n_episodes(self) -> int:
        """Number of episodes that run in lockstep, E."""
        return self.gp.x.shape[0]

    @property
    def n_observed(self) -> int:
        """Number of evaluations of each episode so far, as a plain int: it determines shapes."""
        return self.history.x.shape[-2]

    @cached_property
    def best(self) -> Float[Tensor, " E"]:
        """Largest value observed in each episode.

        Before any observation, a value that sources usually have (`LearnedPart.usual`), or 0, the
        prior mean, without a learned prior.
        """
        with torch.inference_mode(mode=False):  # cached, so it must be usable outside of it too
            if self.n_observed:
                return self.history.y.amax(-1)
            if self.learned is None:
                return self.gp.mean
            return self.learned.part.usual.expand(self.n_episodes)

    @cached_property
    def mixture(self) -> Mixture:
        """The mixture of the learned prior's cells and the plain prior."""
        assert self.learned is not None, "only a state with a learned prior has cells"
        with torch.inference_mode(mode=False):  # cached, so it must be usable outside of it too
            return Mixture.by_evidence(self.gp, self.learned)

    @property
    def guard(self) -> Float[Tensor, " E"]:
        """Weight of the plain prior in the learned view."""
        return self.mixture.guard

    def belief(self, x: Float[Tensor, "E N D"]) -> Belief:
        """Return the belief about the points `x`, differentiable with respect to them."""
        if self.learned is None:
            mean, std = self.gp.predict(x)
            return Belief(x, mean, std, self.best, self.history, self.step, self.budget)
        if not torch.is_grad_enabled():
            return self.belief_with_pullback(x)[0]
        return self._belief(x, *_Prediction.apply(x, self))

    def belief_with_pullback(self, x: Float[Tensor, "E N D"]) -> tuple[Belief, BeliefPullback]:
        """Return the belief at `x`, and a function from derivatives in it to those in `x`."""
        if self.learned is None:
            mean, std, pull = self.gp.predict_with_pullback(x)
            belief = Belief(x, mean, std, self.best, self.history, self.step, self.budget)
            return belief, lambda d_mean, d_std, d_x, *_: pull(d_mean, d_std) + d_x
        seen, pull_both = self.mixture.views(x)
        belief = self._belief(x, seen.mean, seen.std, seen.learned_mean, seen.learned_std)

        def pullback(
            d_mean: Tensor,
            d_std: Tensor,
            d_x: Tensor,
            d_learned_mean: Tensor | None = None,
            d_learned_std: Tensor | None = None,
        ) -> Tensor:
            zero = torch.zeros_like(d_mean)
            learned = (zero if d is None else d for d in (d_learned_mean, d_learned_std))
            return pull_both(d_mean, d_std, *learned) + d_x

        return belief, pullback

    def _belief(
        self, x: Tensor, mean: Tensor, std: Tensor, learned_mean: Tensor, learned_std: Tensor
    ) -> Belief:
        view = LearnedView(learned_mean, learned_std, self.guard)
        return Belief(x, mean, std, self.best, self.history, self.step, self.budget, view)

    def observe(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "BOState":
        """Return the state after evaluating `x` in each episode and observing `y`.

        Raises:
            ShapeError: If `x` or `y` has the wrong shape.
            DomainError: If a point lies outside of the unit cube.
            DataError: If a value is not finite.
        """
        gp = self.gp.condition(x, y)
        if not is_capturing(x):
            require_inside(x)
            _require_finite(y)
        told = None if self.told is None else self.told.then(x, y)
        learned = None if self.learned is None else self.learned.condition(x, y)
        return BOState(gp, self.step + 1, self.budget, told, learned)


class _Prediction(torch.autograd.Function):
    """Both views of a belief as one node of the autograd graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, state: BOState) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        seen, ctx.pullback = state.mixture.views(x)
        return seen.mean, seen.std, seen.learned_mean, seen.learned_std

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *derivatives: Tensor) -> tuple[Tensor, None]:
        return ctx.pullback(*derivatives), None


def _require_finite(y: Tensor) -> None:
    is_wrong = ~torch.isfinite(y)
    if bool(is_wrong.any()):
        value, episode = float(y[is_wrong][0]), int(is_wrong.nonzero()[0, 0])
        raise DataError(
            f"An observed value must be finite, but got {value} in episode {episode}. "
            "Give failed evaluations a finite penalty, or leave them out."
        )
