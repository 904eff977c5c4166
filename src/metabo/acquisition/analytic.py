"""The classical acquisition functions, in closed form.

Notation: mu, sigma are the posterior mean and deviation at a point, y+ the best observed value,
z = (mu - y+) / sigma, Phi and phi the standard normal distribution function and density, and
h(z) = phi(z) + z Phi(z).
"""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from metabo.acquisition.base import AcquisitionFunction
from metabo.errors import OptionError
from metabo.shapes import Float
from metabo.state import Belief


@dataclass(frozen=True)
class LogEI:
    """log EI = log sigma + log h(z): finite, with a useful gradient, where EI underflows."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return belief.std.log() + _log_h(_improvement(belief))


@dataclass(frozen=True)
class EI:
    """Expected improvement, EI = sigma h(z) (the paper's equation in section 3)."""

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        z = _improvement(belief)
        # phi and z Phi cancel for very negative z; what rounding leaves may be negative.
        return belief.std * torch.addcmul(_density(z), z, _distribution(z)).clamp_min(0)

    @property
    def ascent(self) -> AcquisitionFunction:
        """Log EI: EI is flat to the last digit over most of the cube, late in a run."""
        return LogEI()


@dataclass(frozen=True)
class LogPI:
    """log PI = log Phi((mu - y+ - xi) / sigma)."""

    xi: float = 0.0

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return torch.special.log_ndtr(_improvement(belief, self.xi))


@dataclass(frozen=True)
class PI:
    """Probability of improvement by at least xi, PI = Phi((mu - y+ - xi) / sigma)."""

    xi: float = 0.0

    def __post_init__(self) -> None:
        """Check the option."""
        if not math.isfinite(self.xi):
            raise OptionError(f"`xi` must be finite, but got {self.xi}.")

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return _distribution(_improvement(belief, self.xi))

    @property
    def ascent(self) -> AcquisitionFunction:
        """Log PI."""
        return LogPI(self.xi)


@dataclass(frozen=True)
class UCB:
    """Upper confidence bound, mu + sqrt(beta) sigma.

    `fixed` takes beta as given. `gp-ucb` is the schedule of Srinivas et al. (2010) for a
    continuous domain in the form of Brochu et al. (2010), beta_t = 2 log(t^(D/2 + 2) pi^2 / (3
    delta)), where t counts the evaluation to come from 1.
    """

    beta: float = 4.0
    schedule: Literal["fixed", "gp-ucb"] = "fixed"
    delta: float = 0.1

    def __post_init__(self) -> None:
        """Check the options."""
        if not (self.beta >= 0 and math.isfinite(self.beta)):
            raise OptionError(f"`beta` must be finite and not negative, but got {self.beta}.")
        if not 0 < self.delta < 1:
            raise OptionError(f"`delta` must lie between 0 and 1, but got {self.delta}.")

    def __call__(self, belief: Belief, /) -> Float[Tensor, "E N"]:
        """Score every point."""
        return belief.mean + self._root_beta(belief) * belief.std

    def _root_beta(self, belief: Belief) -> Tensor | float:
        if self.schedule == "fixed":
            return math.sqrt(self.beta)
        power = belief.x.shape[-1] / 2 + 2
        log_t = (belief.step + 1).to(belief.mean.dtype).log()
        return (2 * (power * log_t + math.log(math.pi**2 / (3 * self.delta)))).sqrt()


def _improvement(belief: Belief, xi: float = 0.0) -> Tensor:
    return (belief.mean - belief.best[:, None] - xi) / belief.std


def _density(z: Tensor) -> Tensor:
    return (-0.5 * z.square()).exp() * (1 / math.sqrt(2 * math.pi))


def _distribution(z: Tensor) -> Tensor:
    return 0.5 * torch.erfc(z * -math.sqrt(0.5))


def _log_h(z: Tensor) -> Tensor:
    """log(phi(z) + z Phi(z)), accurate for every z; branches not taken are kept finite.

    For z < -1, with a = -z and Mills' ratio R(a) = sqrt(pi/2) erfcx(a / sqrt 2): h = phi(a) (1 - a
    R(a)); for a > 100 the bracket's asymptotic series 1/a^2 - 3/a^4 + 15/a^6 - 105/a^8 replaces
    the difference of near equals.
    """
    near = z.clamp_min(-1.0)
    log_near = torch.addcmul(_density(near), near, _distribution(near)).log()
    middle = (-z).clamp(1.0, 100.0)
    mills = math.sqrt(math.pi / 2) * torch.special.erfcx(middle * math.sqrt(0.5))
    log_middle = torch.log1p(-middle * mills)
    inverse = (-z).clamp_min(100.0).square().reciprocal()
    series = 1 + inverse * (-3 + inverse * (15 - 105 * inverse))
    log_far = inverse.log() + series.log()
    log_tail = torch.where(z > -100, log_middle, log_far)
    log_density = -0.5 * z.clamp_max(-1.0).square() - 0.5 * math.log(2 * math.pi)
    return torch.where(z > -1, log_near, log_density + log_tail)
