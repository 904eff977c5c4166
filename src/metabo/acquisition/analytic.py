"""The classical acquisition functions, in closed form.

Notation: mu, sigma are the posterior mean and deviation at a point, y+ the best observed value,
z = (mu - y+) / sigma, Phi and phi the standard normal distribution function and density, and
h(z) = phi(z) + z Phi(z).
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from metabo.acquisition.base import AcquisitionFunction, Slopes
from metabo.errors import OptionError
from metabo.rules import number
from metabo.shapes import Float
from metabo.state import Belief


@dataclass(frozen=True)
class LogEI:
    """Logarithm of expected improvement, log sigma + log h(z).

    It stays finite, with a useful gradient, where EI underflows.

    Examples:
        >>> from metabo.gp import Prior
        >>> from metabo.state import BOState
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> score = LogEI()(state.belief(torch.full((1, 1, 1), 0.5).double()))
        >>> round(float(score), 4)  # -log(2 pi) / 2
        -0.9189
    """

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return belief.log_std + _LogH.apply(belief.improvement)

    def slopes(self, belief: Belief) -> Slopes:
        """Return the scores and their derivatives, by the operations that autograd would use."""
        z, std = belief.improvement, belief.std
        log_h, slope = log_h_and_slope(z)
        d_std = std.reciprocal() - slope * (z / std)
        return Slopes(belief.log_std + log_h, slope / std, d_std, torch.zeros_like(belief.x))


@dataclass(frozen=True)
class EI:
    """Expected improvement, EI = sigma h(z) (the paper's equation in section 3).

    Examples:
        >>> from metabo.gp import Prior
        >>> from metabo.state import BOState
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> score = EI()(state.belief(torch.full((1, 1, 1), 0.5).double()))
        >>> round(float(score), 4)  # 1 / sqrt(2 pi)
        0.3989
    """

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        z = belief.improvement
        # phi and z Phi cancel for very negative z, where rounding can make the sum negative.
        return belief.std * torch.addcmul(_density(z), z, _distribution(z)).clamp_min(0)

    @property
    def ascent(self) -> AcquisitionFunction:
        """Log EI to climb instead: late in a run, EI itself is flat over most of the cube."""
        return LogEI()


@dataclass(frozen=True)
class LogPI:
    """Logarithm of the probability of improvement, log Phi((mu - y+ - xi) / sigma)."""

    xi: float = 0.0
    """Improvement to exceed, in units of the values."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return torch.special.log_ndtr(_improvement(belief, self.xi))


@dataclass(frozen=True)
class PI:
    """Probability of improvement by at least xi, PI = Phi((mu - y+ - xi) / sigma).

    Raises:
        OptionError: If `xi` is not finite.

    Examples:
        >>> from metabo.gp import Prior
        >>> from metabo.state import BOState
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> float(PI()(state.belief(torch.full((1, 1, 1), 0.5).double())))
        0.5
    """

    xi: float = 0.0
    """Improvement to exceed, in units of the values."""

    def __post_init__(self) -> None:
        """Check the option."""
        number().require("xi", self.xi)

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return _distribution(_improvement(belief, self.xi))

    @property
    def ascent(self) -> AcquisitionFunction:
        """Log PI to climb instead, which has gradients where PI underflows."""
        return LogPI(self.xi)


@dataclass(frozen=True)
class UCB:
    """Upper confidence bound, mu + sqrt(beta) sigma.

    The schedule `fixed` uses `beta` at every step. `gp-ucb` is the schedule of Srinivas et al.
    (2010) for a continuous domain in the form of Brochu et al. (2010), beta_t = 2 log(t^(D/2 + 2)
    pi^2 / (3 delta)), where t is the number of the next evaluation, from 1.

    Raises:
        OptionError: If `beta` is negative or not finite, or `delta` not between 0 and 1.

    Examples:
        >>> from metabo.gp import Prior
        >>> from metabo.state import BOState
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=0.0)
        >>> state = BOState.start(prior, episodes=1, budget=10)
        >>> float(UCB(beta=4.0)(state.belief(torch.full((1, 1, 1), 0.5).double())))
        2.0
    """

    beta: float = 4.0
    """Weight of the posterior variance in the schedule `fixed`."""
    schedule: Literal["fixed", "gp-ucb"] = "fixed"
    """Whether beta is fixed or follows the GP-UCB schedule."""
    delta: float = 0.1
    """Probability with which the bound of the GP-UCB schedule may fail."""

    def __post_init__(self) -> None:
        """Check the options."""
        number(low=0).require("beta", self.beta)
        if not 0 < self.delta < 1:
            raise OptionError(f"`delta` must lie between 0 and 1, but got {self.delta}.")

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return belief.mean + self._root_beta(belief) * belief.std

    def slopes(self, belief: Belief) -> Slopes:
        """Return the scores and their derivatives, which are the same at every point."""
        ones = torch.ones_like(belief.mean)
        d_std = self._root_beta(belief) * ones
        return Slopes(self(belief), ones, d_std, torch.zeros_like(belief.x))

    def _root_beta(self, belief: Belief) -> Tensor | float:
        if self.schedule == "fixed":
            return math.sqrt(self.beta)
        power = belief.x.shape[-1] / 2 + 2
        log_t = (belief.step + 1).to(belief.mean.dtype).log()
        return (2 * (power * log_t + math.log(math.pi**2 / (3 * self.delta)))).sqrt()


def _improvement(belief: Belief, xi: float) -> Tensor:
    return (belief.mean - belief.best[:, None] - xi) / belief.std


def _density(z: Tensor) -> Tensor:
    return (-0.5 * z.square()).exp() * (1 / math.sqrt(2 * math.pi))


def _distribution(z: Tensor) -> Tensor:
    return 0.5 * torch.erfc(z * -math.sqrt(0.5))


def log_h_and_slope(
    z: Float[Tensor, "*n"],
) -> tuple[Float[Tensor, "*n"], Float[Tensor, "*n"]]:
    """Return log(phi(z) + z Phi(z)), accurate for every z, and its derivative.

    With R = Phi / phi = sqrt(pi/2) erfcx(-z / sqrt 2), log h = log phi + log(1 + z R) and the
    derivative is R / (1 + z R). For z < -300 the term in brackets cancels and is replaced by the
    start of its continued fraction, 1 / (z^2 + 3); for z > 10, where R soon overflows, h(z) equals
    z to the last digit.
    """
    low, excess = z.clamp_max(10.0), z.clamp_min(10.0) * 0.1
    ratio = torch.special.erfcx(low * -math.sqrt(0.5)) * math.sqrt(math.pi / 2)
    square = low.square()
    bracket = torch.where(low > -300, low * ratio + 1, (square + 3).reciprocal()) * excess
    log_density = square * -0.5 - 0.5 * math.log(2 * math.pi)
    return bracket.log() + log_density, ratio / bracket


class _LogH(torch.autograd.Function):
    """log h(z) as one node of the autograd graph."""

    @staticmethod
    def forward(ctx: Any, z: Tensor) -> Tensor:
        value, ctx.slope = log_h_and_slope(z)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_value: Tensor) -> Tensor:
        return d_value * ctx.slope
