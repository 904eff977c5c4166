"""The family `furuta-real`: ten machines with effects that the training simulation omits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.domain import Box, Domain, require_inside
from metabo.errors import OptionError, brief
from metabo.gp import Prior
from metabo.rules import whole
from metabo.shapes import Float, Int
from metabo.space import Space
from metabo.tasks.base import Summary, Tasks
from metabo.tasks.family import NOISE
from metabo.tasks.furuta.family import PHYSICAL_BOX, PHYSICAL_PRIOR, REGRET_FLOOR, furuta_family
from metabo.tasks.furuta.gains import GainBox
from metabo.tasks.furuta.hardware import Variation, require_mujoco, run
from metabo.tasks.parameters import read_records

BEST_GAINS: tuple[tuple[float, float, float, float], ...] = (
    (-2.757, 41.124, -1.385, 3.426),
    (-3.85, 37.619, -1.3, 2.765),
    (-3.612, 43.859, -2.24, 4.322),
    (-3.349, 39.094, -1.459, 3.059),
    (-4.181, 39.495, -2.09, 3.947),
    (-2.974, 34.016, -1.05, 2.632),
    (-2.582, 36.23, -1.158, 2.891),
    (-2.557, 37.868, -1.352, 2.954),
    (-3.635, 39.285, -1.944, 3.894),
    (-3.564, 36.95, -1.274, 2.664),
)
"""Best known gains of each variation.

`python studies/furuta_real.py --search` found them: Sobol points around the LQR gains, then an
evolution strategy, each judged by the mean of five trials whose gains differ by up to 0.1 %.
"""
BEST: tuple[float, ...] = (
    0.2919,
    0.336,
    0.1309,
    0.3484,
    0.2447,
    0.3444,
    0.3516,
    0.4175,
    0.39,
    0.3414,
)
"""Values of the best gains in those five trials; a lucky single trial can have negative regret."""


@dataclass(frozen=True)
class RealTasks:
    """Machines by number; every evaluation is a trial on one of them, one after the other."""

    number: Int[Tensor, " E"]
    """Number of each machine, 0 to 9."""

    @property
    def box(self) -> GainBox:
        """Box of gains that is searched, as in the simulation."""
        return PHYSICAL_BOX

    @property
    def optimum(self) -> Float[Tensor, " E"]:
        """Best known values."""
        values = torch.tensor(BEST, dtype=torch.float64)[self.number.cpu()]
        return values.to(self.number.device)

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Try the gains at points of the unit cube."""
        require_inside(x)
        return -self.trial(self.box.decode(x))[0].log10()

    def trial(
        self, gains: Float[Tensor, "E N 4"]
    ) -> tuple[Float[Tensor, "E N"], Float[Tensor, "E N"]]:
        """Return the cost per second, and the share of the time before a crash, or else 1."""
        results = [
            [run(Variation.numbered(number), tuple(point)) for point in points]
            for number, points in zip(self.number.tolist(), gains.tolist(), strict=True)
        ]
        cost = [[trial.cost for trial in row] for row in results]
        share = [[trial.share for trial in row] for row in results]
        return gains.new_tensor(cost), gains.new_tensor(share)

    def take(self, index: Int[Tensor, " n"]) -> "RealTasks":
        """Return the machines with these indices in the batch."""
        return RealTasks(self.number[index])

    def to(self, device: torch.device | str) -> "RealTasks":
        """Return the same machines for points on another device; trials run on the CPU."""
        return RealTasks(self.number.to(device))


@dataclass(frozen=True)
class FurutaReal:
    """The machines as test tasks, with source tasks from the simulation."""

    domain: Domain
    """The unit cube."""
    prior: Prior
    """GP hyperparameters of the surrogate model."""
    noise: float = 0.0
    """Standard deviation of the Gaussian noise in observed values."""
    name: str = "furuta-real"
    """Name that the family is registered under."""
    budget: int = 25
    """Number of evaluations in an episode."""
    regret_floor: float = REGRET_FLOOR
    """Smallest regret worth telling apart."""
    preset: str = "default"
    """Name of the default training preset; training on the machines themselves is not intended."""

    @property
    def summary(self) -> Summary:
        """Median of the regret over the machines."""
        return "median"

    @property
    def provenance(self) -> None:
        """None, because the tasks are simulated, not measured."""
        return

    @property
    def space(self) -> Space:
        """The four gains."""
        return PHYSICAL_BOX.space

    def sample(self, n: int, generator: torch.Generator) -> Tasks:
        """Return the first `n` of the ten variations, which are numbered, not drawn."""
        require_mujoco()
        if n > len(BEST):
            raise OptionError(
                f"The family `furuta-real` has {len(BEST)} tasks, but {n} were asked for. Give "
                f"`--tasks {len(BEST)}`."
            )
        return RealTasks(torch.arange(n))

    @property
    def max_sources(self) -> int:
        """Number of source tasks of the simulation."""
        return furuta_family().max_sources

    def sources(self, n: int) -> Tasks:
        """Return the first `n` source tasks of the simulation `furuta`, as machines have none."""
        return furuta_family().sources(n)

    def restricted(self, n_sources: int | None) -> "FurutaReal":
        """Return the family itself, which cannot be restricted to some sources."""
        if n_sources is not None:
            raise OptionError(
                "The family `furuta-real` cannot be restricted to some `sources`: its machines "
                f"are for testing. Leave out `sources`, which is {brief(n_sources)}."
            )
        return self

    def validation(self) -> None:
        """Return None: the machines are for testing only."""
        return

    def test(self) -> "FurutaReal":
        """Return the family itself: the machines."""
        return self

    @property
    def n_tasks(self) -> int:
        """Number of machines."""
        return len(BEST)

    def read(self, records: Sequence[Mapping[str, object]]) -> Tasks:
        """Return the machines that records such as `{"variation": 3}` name."""
        require_mujoco()
        found = read_records(records, {"variation": whole(0, len(BEST) - 1)})
        return RealTasks(torch.tensor([record["variation"] for record in found]))


def furuta_real_family(*, noise: float = 0.0) -> FurutaReal:
    """Return the machines, observed with Gaussian noise, which the surrogate model includes."""
    NOISE.require("noise", noise)
    return FurutaReal(Box(4), PHYSICAL_PRIOR.with_noise(noise), noise)
