"""The Furuta pendulum: simulations to learn from, and a stand-in for the hardware."""

from metabo.tasks.furuta.family import FurutaTasks, furuta_family, furuta_reference_family
from metabo.tasks.furuta.gains import GainBox
from metabo.tasks.furuta.pendulum import PendulumTasks
from metabo.tasks.furuta.real import furuta_real_family

__all__ = [
    "FurutaTasks",
    "GainBox",
    "PendulumTasks",
    "furuta_family",
    "furuta_real_family",
    "furuta_reference_family",
]
