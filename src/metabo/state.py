"""An optimization run as an immutable value, and what it believes about points."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from metabo.devices import is_capturing
from metabo.domain import require_inside
from metabo.errors import DataError, ShapeError
from metabo.gp import GP, Prior, reduced
from metabo.shapes import Float, Int

BeliefPullback = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From derivatives in a belief's mean, std and x to derivatives in the points, `E N D`."""


@dataclass(frozen=True)
class History:
    """The queries of each episode so far and their observed values."""

    x: Float[Tensor, "E t D"]
    y: Float[Tensor, "E t"]

    def then(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "History":
        """These queries and one more of each episode."""
        return History(torch.cat([self.x, x[:, None]], 1), torch.cat([self.y, y[:, None]], 1))


@dataclass(frozen=True)
class Belief:
    """What is known about N points of each episode: all that an AF may look at."""

    x: Float[Tensor, "E N D"]
    mean: Float[Tensor, "E N"]
    std: Float[Tensor, "E N"]
    """Always positive."""
    best: Float[Tensor, " E"]
    """The largest observed value; 0, the prior mean, before any: no oracle of the task is used."""
    history: History
    step: Int[Tensor, ""]
    """Observations so far, on the device: a number would be frozen into a captured graph."""
    budget: Int[Tensor, ""]

    def copy(self) -> "Belief":
        """The same belief in tensors of its own, outside of any autograd graph."""
        x, mean, std, best = (q.detach().clone() for q in (self.x, self.mean, self.std, self.best))
        history = History(self.history.x.detach().clone(), self.history.y.detach().clone())
        return Belief(x, mean, std, best, history, self.step.clone(), self.budget.clone())

    @cached_property
    def improvement(self) -> Float[Tensor, "E N"]:
        """The expected excess over the best value, in deviations: z = (mean - best) / std."""
        return (self.mean - self.best.unsqueeze(-1)) / self.std

    @cached_property
    def log_std(self) -> Float[Tensor, "E N"]:
        """The logarithm of the deviation."""
        return self.std.log()


@dataclass(frozen=True)
class BOState:
    """E optimization runs after t of T evaluations, driven by `propose` and `observe`."""

    gp: GP
    step: Int[Tensor, ""]
    budget: Int[Tensor, ""]
    told: History | None = None
    """All observations, where the GP sees only some of them; None where it sees them all."""

    @classmethod
    def start(cls, prior: Prior, *, episodes: int, budget: int) -> "BOState":
        """The runs before their first evaluation, on the prior's device."""
        if episodes < 1 or budget < 1:
            raise ShapeError(
                f"A run needs at least one episode and a budget of at least 1, but got {episodes} "
                f"and {budget}."
            )
        scalar = torch.zeros((), dtype=torch.int64, device=prior.lengthscale.device)
        return cls(GP.empty(prior, episodes), scalar, scalar + budget)

    @classmethod
    def after(
        cls, prior: Prior, x: Float[Tensor, "E t D"], y: Float[Tensor, "E t"], *, budget: int
    ) -> "BOState":
        """The runs after these evaluations, as observed one by one but for rounding.

        Of more than 1,000 evaluations the GP sees so many (`metabo.gp.reduction`).
        """
        begun = cls.start(prior, episodes=x.shape[0], budget=budget)
        require_inside(x)
        _require_finite(y)
        seen = reduced(prior, x, y)
        told = None if seen[0].shape == x.shape else History(x, y)
        return cls(GP.of(prior, *seen), begun.step + x.shape[1], begun.budget, told)

    @cached_property
    def history(self) -> History:
        """Queries and values so far, all of them."""
        return History(self.gp.x, self.gp.y) if self.told is None else self.told

    @property
    def n_episodes(self) -> int:
        """E, the episodes in lockstep."""
        return self.gp.x.shape[0]

    @property
    def n_observed(self) -> int:
        """How many evaluations each episode has spent, as a number: it decides shapes."""
        return self.history.x.shape[-2]

    @cached_property
    def best(self) -> Float[Tensor, " E"]:
        """The largest value observed in each episode; 0 before any."""
        with torch.inference_mode(mode=False):  # kept, so it has to serve outside of it too
            return self.history.y.amax(-1) if self.n_observed else self.gp.mean

    def belief(self, x: Float[Tensor, "E N D"]) -> Belief:
        """The GP's view of the points `x`, differentiable in them."""
        mean, std = self.gp.predict(x)
        return Belief(x, mean, std, self.best, self.history, self.step, self.budget)

    def belief_with_pullback(self, x: Float[Tensor, "E N D"]) -> tuple[Belief, BeliefPullback]:
        """The belief at `x`, and what takes derivatives in it to derivatives in `x`."""
        mean, std, pullback = self.gp.predict_with_pullback(x)
        belief = Belief(x, mean, std, self.best, self.history, self.step, self.budget)
        return belief, lambda d_mean, d_std, d_x: pullback(d_mean, d_std) + d_x

    def observe(self, x: Float[Tensor, "E D"], y: Float[Tensor, " E"]) -> "BOState":
        """The runs after evaluating `x` and seeing `y`."""
        gp = self.gp.condition(x, y)
        if not is_capturing(x):
            require_inside(x)
            _require_finite(y)
        told = None if self.told is None else self.told.then(x, y)
        return BOState(gp, self.step + 1, self.budget, told)


def _require_finite(y: Tensor) -> None:
    is_wrong = ~torch.isfinite(y)
    if bool(is_wrong.any()):
        value, episode = float(y[is_wrong][0]), int(is_wrong.nonzero()[0, 0])
        raise DataError(
            f"An observed value must be finite, but got {value} in episode {episode}. "
            "Give failed evaluations a finite penalty, or leave them out."
        )
