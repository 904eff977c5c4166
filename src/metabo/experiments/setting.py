"""What a method is built for."""

from dataclasses import dataclass

from metabo.acquisition import AcquisitionFunction
from metabo.domain import Box
from metabo.policies import Maximize, Policy, Searcher, StartAt
from metabo.tasks import TaskFamily


@dataclass(frozen=True)
class Setting:
    """The family a method will meet, and how it may search."""

    family: TaskFamily
    search: Searcher
    device: str = "cpu"
    artifact: str | None = None
    """Name or file of the AF that `metabo` uses; the family's own if None."""


def from_midpoint(af: AcquisitionFunction, setting: Setting) -> Policy:
    """Maximize the AF after a first query at the midpoint, the paper's initial design.

    On a finite domain there is no initial design, as in the paper: the first query is any of the
    tied candidates.
    """
    policy, domain = Maximize(af, setting.search), setting.family.domain
    return StartAt(0.5, policy, domain) if isinstance(domain, Box) else policy
