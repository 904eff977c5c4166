"""Tuning a pendulum's controller as a task: a function of four gains, minus the log of a cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.domain import require_inside
from metabo.errors import OptionError
from metabo.gp import Prior
from metabo.options import Range
from metabo.shapes import Float, Int
from metabo.tasks.family import ParametricFamily
from metabo.tasks.furuta.fusion import Fused
from metabo.tasks.furuta.gains import GainBox
from metabo.tasks.furuta.mechanics import NOMINAL, Coefficients
from metabo.tasks.furuta.physical import Physical
from metabo.tasks.furuta.published import Published
from metabo.tasks.parameters import ParameterBox, TaskParameter


@dataclass(frozen=True)
class FurutaTasks:
    """A batch of pendula whose controllers are to be tuned: f = -log10 of the cost per second."""

    model: Published | Physical
    """Simulation of a trial."""
    box: GainBox
    """Gains that are searched."""
    mass_arm: Float[Tensor, " E"]
    """Mass of the arm, in kg."""
    mass_pendulum: Float[Tensor, " E"]
    """Mass of the pendulum, in kg."""
    length_arm: Float[Tensor, " E"]
    """Length of the arm, in m."""
    length_pendulum: Float[Tensor, " E"]
    """Length of the pendulum, in m."""
    regulator: Float[Tensor, "E 4"]
    """LQR gains of each pendulum; they may lie outside the box."""

    @classmethod
    def of(
        cls, model: Published | Physical, box: GainBox, parameters: Mapping[str, Tensor]
    ) -> "FurutaTasks":
        """Return the tasks with these named parameters, after computing their LQR gains."""
        return cls(model, box, **parameters, regulator=model.regulator(model.body(**parameters)))

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """Value of the LQR gains, which is about the maximum: few points exceed it."""
        return self.score(self.regulator[:, None])[:, 0]

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate the gains at points of the unit cube."""
        # On a GPU the check would wait for the device, which a recorded graph cannot do.
        if x.device.type == "cpu":
            require_inside(x)
        return self.score(self.box.decode(x))

    def score(self, gains: Float[Tensor, "E N 4"]) -> Float[Tensor, "E N"]:
        """Evaluate gains, inside or outside the box, with all simulations in one batch."""
        return -self.trial(gains)[0].log10()

    def trial(
        self, gains: Float[Tensor, "E N 4"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Return the cost per second, and the share of the time before a crash, or else 1."""
        n = gains.shape[1]
        body = self.model.body(
            self.mass_arm, self.mass_pendulum, self.length_arm, self.length_pendulum
        )
        wide = Coefficients(*(part[:, None].expand(-1, n).flatten() for part in body))
        columns = gains.flatten(0, 1).mT.contiguous()
        cost, share = self.model.trial(wide, (columns[0], columns[1], columns[2], columns[3]))
        return cost.unflatten(0, gains.shape[:2]), share.unflatten(0, gains.shape[:2])

    def take(self, index: Int[Tensor, " n"]) -> "FurutaTasks":
        """Return the tasks with these indices."""
        return self._with(lambda part: part[index])

    def to(self, device: torch.device | str) -> "FurutaTasks":
        """Return the same tasks on another device."""
        return self._with(lambda part: part.to(device))

    def _with(self, change: Callable[[Tensor], Tensor]) -> "FurutaTasks":
        return FurutaTasks(
            self.model,
            self.box,
            change(self.mass_arm),
            change(self.mass_pendulum),
            change(self.length_arm),
            change(self.length_pendulum),
            change(self.regulator),
        )


PUBLISHED_BOX = GainBox((-0.5, -1.6, -0.1, -0.04), (0.2, 4.0, 0.04, 0.1))
PUBLISHED_PRIOR = Prior.of([0.1] * 4, signal_variance=1.5, noise_variance=1e-2, mean="observed")
PHYSICAL_BOX = GainBox((-20.0, -50.0, -10.0, -6.0), (8.0, 200.0, 4.0, 14.0))
# `python studies/furuta_setting.py` found the physical box and prior.
PHYSICAL_PRIOR = Prior.of(
    [0.122, 0.034, 0.043, 0.059], signal_variance=0.61, noise_variance=2.5e-6, mean="observed"
)


REGRET_FLOOR = 0.01
"""Smallest regret worth telling apart: the optimum is only about the maximum."""


def furuta_reference_family(
    scale: Range = (0.75, 1.25), *, fused: Fused = "cuda"
) -> ParametricFamily:
    """Return the published simulation, by default with the published range of parameters.

    Args:
        scale: Range of masses and lengths, as shares of the nominal ones.
        fused: Devices on which time steps are compiled into one kernel.
    """
    return _family("furuta-reference", Published(fused), PUBLISHED_BOX, PUBLISHED_PRIOR, scale)


def furuta_family(scale: Range = (0.75, 1.25), *, fused: Fused = "cuda") -> ParametricFamily:
    """Return the physically correct simulation, by default with the published parameters.

    Args:
        scale: Range of masses and lengths, as shares of the nominal ones.
        fused: Devices on which time steps are compiled into one kernel.
    """
    return _family("furuta", Physical(fused), PHYSICAL_BOX, PHYSICAL_PRIOR, scale)


def _family(
    name: str, model: Published | Physical, box: GainBox, prior: Prior, scale: Range
) -> ParametricFamily:
    """Return a family whose masses and lengths are drawn as shares of the nominal ones."""
    low, high = scale
    if not 0.01 <= low <= high <= 100:
        raise OptionError(
            "`scale` must be a range of shares of the nominal masses and lengths in 0.01..100, "
            f"but got {low}..{high}."
        )
    parameters = tuple(
        TaskParameter(name, low * value, high * value, limits=((0.01 * value, 100 * value),))
        for name, value in NOMINAL.items()
    )

    def make(values: Mapping[str, Tensor]) -> FurutaTasks:
        return FurutaTasks.of(model, box, values)

    return ParametricFamily(
        name, box.space, prior, 50, ParameterBox(parameters), make, regret_floor=REGRET_FLOOR
    )
