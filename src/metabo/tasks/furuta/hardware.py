"""A stand-in for the hardware: a MuJoCo model of effects that the simulation leaves out.

In addition to `physical.py` there is damping, dry friction that is larger at rest, a motor that
follows its voltage with a lag and is stronger or weaker than its data sheet, encoders with
discrete counts, speeds filtered from those counts, a controller that samples five times as often
but acts late, a badly calibrated upright position, and a push against the pendulum halfway
through. Variations differ in all of these.
"""

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import torch

from metabo.errors import OptionError
from metabo.seeding import generator
from metabo.tasks.furuta.mechanics import GRAVITY, NOMINAL, START
from metabo.tasks.furuta.physical import (
    ANGLE_COST,
    ARM_LIMIT,
    CRASH_COST,
    PENDULUM_LIMIT,
    RESISTANCE,
    SPEED_COST,
    TORQUE_CONSTANT,
    VOLTAGE_COST,
    VOLTAGE_LIMIT,
)

SECONDS = 5.0
"""Duration of a trial, s."""
PERIOD = 0.002
"""Sampling period of the controller, s."""
SUBSTEPS = 2
"""Number of MuJoCo's time steps in a period."""
COUNT = 2 * math.pi / 2048
"""Angle per count of the encoders, rad."""
CUTOFF = 150.0
"""Cutoff frequency of the filter that turns counts into speeds, rad/s."""
STRIBECK = 0.2
"""Speed at which most of the additional friction at rest has vanished, rad/s."""


@dataclass(frozen=True)
class Variation:
    """One copy of the machine."""

    mass_pendulum: float
    """Mass of the pendulum, kg."""
    mass_arm: float
    """Mass of the arm, kg."""
    length_pendulum: float
    """Length of the pendulum, m."""
    length_arm: float
    """Length of the arm, m."""
    strength: float
    """Strength of the motor, as a share of the value in its data sheet."""
    lag: float
    """Time constant of the motor's voltage, s."""
    delay: int
    """Number of periods between a measurement and the resulting voltage."""
    arm_damping: float
    """Damping of the arm, N m s/rad."""
    pendulum_damping: float
    """Damping of the pendulum, N m s/rad."""
    arm_friction: float
    """Dry friction of the arm, N m."""
    pendulum_friction: float
    """Dry friction of the pendulum, N m."""
    stiction: float
    """Ratio of friction at rest to friction in motion."""
    tilt: float
    """Error of the upright position, rad."""
    push: float
    """Torque on the pendulum for 20 ms, N m."""

    @classmethod
    def numbered(cls, number: int) -> "Variation":
        """Return the variation with this number, which is always the same."""
        draws = torch.rand(
            len(fields(cls)), generator=generator(number, "furuta variations"), dtype=torch.float64
        ).tolist()
        values: dict[str, Any] = {}
        for field, draw in zip(fields(cls), draws, strict=True):
            low, high = _RANGES[field.name]
            values[field.name] = low + draw * (high - low)
        return cls(**(values | {"delay": round(values["delay"])}))


_RANGES = {name: (0.9 * value, 1.1 * value) for name, value in NOMINAL.items()} | {
    "strength": (0.85, 1.05),
    "lag": (0.001, 0.004),
    "delay": (0.5, 3.5),
    "arm_damping": (1e-4, 4e-4),
    "pendulum_damping": (1e-5, 4e-5),
    "arm_friction": (5e-4, 3e-3),
    "pendulum_friction": (1e-5, 5e-5),
    "stiction": (1.2, 1.8),
    "tilt": (-0.015, 0.015),
    "push": (-2e-3, 2e-3),
}


@dataclass(frozen=True)
class Trial:
    """Result of a trial on the machine."""

    cost: float
    """Cost per second, defined as in the simulation."""
    share: float
    """Share of the five seconds until the trial ended."""
    angles: tuple[tuple[float, float], ...] = ()
    """Angles of arm and pendulum in every period, rad, if they were requested."""


def run(variation: Variation, gains: tuple[float, ...], *, record: bool = False) -> Trial:
    """Try gains on a machine, from the same initial state as in the simulation."""
    mujoco, model, data = _machine(variation)
    mujoco.mj_resetData(model, data)
    data.qpos[:] = 0.0, START
    n_periods = round(SECONDS / PERIOD)
    keep = math.exp(-CUTOFF * PERIOD)
    follow = 1 - math.exp(-PERIOD / variation.lag)
    per_volt = variation.strength * TORQUE_CONSTANT / RESISTANCE
    brake = per_volt * variation.strength * TORQUE_CONSTANT
    pending = [0.0] * variation.delay
    measured, speeds, applied, total = None, [0.0, 0.0], 0.0, 0.0
    angles: list[tuple[float, float]] = []
    for period in range(n_periods):
        true = data.qpos.tolist()
        counted = [
            COUNT * round(true[0] / COUNT),
            COUNT * round((true[1] + variation.tilt) / COUNT),
        ]
        if measured is not None:
            speeds = [
                keep * speed + (1 - keep) * (now - before) / PERIOD
                for speed, now, before in zip(speeds, counted, measured, strict=True)
            ]
        measured = counted
        voltage = -sum(k * part for k, part in zip(gains, counted + speeds, strict=True))
        if not (
            abs(voltage) <= VOLTAGE_LIMIT
            and abs(true[0]) <= ARM_LIMIT
            and abs(true[1]) <= PENDULUM_LIMIT
        ):
            share = period / n_periods
            return Trial(total / n_periods + CRASH_COST * (1 - share), share, tuple(angles))
        if record:
            angles.append((true[0], true[1]))
        total += (
            ANGLE_COST * (counted[0] ** 2 + counted[1] ** 2)
            + SPEED_COST * (speeds[0] ** 2 + speeds[1] ** 2)
            + VOLTAGE_COST * voltage**2
        )
        pending.append(voltage)
        applied += follow * (pending.pop(0) - applied)
        spin, swing = data.qvel.tolist()
        rest = variation.stiction - 1
        model.dof_frictionloss[:] = (
            variation.arm_friction * (1 + rest * math.exp(-((spin / STRIBECK) ** 2))),
            variation.pendulum_friction * (1 + rest * math.exp(-((swing / STRIBECK) ** 2))),
        )
        is_pushed = n_periods // 2 <= period < n_periods // 2 + 10
        data.qfrc_applied[:] = per_volt * applied - brake * spin, variation.push * is_pushed
        mujoco.mj_step(model, data, SUBSTEPS)
    return Trial(total / n_periods, 1.0, tuple(angles))


def require_mujoco() -> Any:
    """Return the module of MuJoCo.

    Raises:
        OptionError: If MuJoCo is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise OptionError(
            "The family `furuta-real` needs MuJoCo, which is not installed. Install it with "
            "`pip install metabo[furuta]`."
        ) from None
    return mujoco


@lru_cache(maxsize=16)
def _machine(variation: Variation) -> tuple[Any, Any, Any]:
    mujoco = require_mujoco()
    model = mujoco.MjModel.from_xml_string(mjcf(variation))
    return mujoco, model, mujoco.MjData(model)


def mjcf(variation: Variation) -> str:
    """Return the machine as a MuJoCo model: two rods, each turning about its end."""
    arm, pendulum = variation.length_arm, variation.length_pendulum
    across = variation.mass_arm * arm**2 / 12
    along = variation.mass_pendulum * pendulum**2 / 12
    thin = 1e-4  # ratio of a rod's inertia about itself to that across it; must be positive
    return f"""
<mujoco>
  <option timestep="{PERIOD / SUBSTEPS}" gravity="0 0 -{GRAVITY}" integrator="implicitfast"/>
  <worldbody>
    <body name="arm">
      <joint type="hinge" axis="0 0 1" damping="{variation.arm_damping}"
             frictionloss="{variation.arm_friction}"/>
      <inertial pos="{arm / 2} 0 0" mass="{variation.mass_arm}"
                diaginertia="{thin * across} {across} {across}"/>
      <body name="pendulum" pos="{arm} 0 0">
        <joint type="hinge" axis="1 0 0" damping="{variation.pendulum_damping}"
               frictionloss="{variation.pendulum_friction}"/>
        <inertial pos="0 0 {pendulum / 2}" mass="{variation.mass_pendulum}"
                  diaginertia="{along} {along} {thin * along}"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
