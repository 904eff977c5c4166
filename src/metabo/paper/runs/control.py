"""Tuning a pendulum's controller: regret, and when a controller first kept it up."""

import torch
from torch import Tensor

from metabo.errors import OptionError
from metabo.paper.runs.job import Job, Record, regret_record
from metabo.seeding import generator
from metabo.shapes import Float, Int
from metabo.tasks import family as family_of
from metabo.tasks.furuta import PendulumTasks


def control(job: Job) -> Record:
    """Regret, and for each task the first trial that kept the pendulum up; 0 where none did."""
    unit = job.unit
    result = job.evaluated()
    part = family_of(unit.family).test()
    tasks = part.sample(unit.tasks, generator(unit.seed, unit.stream))
    if not isinstance(tasks, PendulumTasks):
        raise OptionError(f"The family `{unit.family}` has no pendulum to keep up. Take `furuta`.")
    first = first_stabilized(tasks, result.queries)
    return {**regret_record(result), "first_stabilized": first.tolist()}


def first_stabilized(tasks: PendulumTasks, queries: Float[Tensor, "E T D"]) -> Int[Tensor, " E"]:
    """The first trial, from 1, with the pendulum up for the full time; 0 where there is none."""
    share = tasks.trial(tasks.box.decode(queries))[1]
    is_up = share >= 1
    first = is_up.byte().argmax(-1) + 1
    return torch.where(is_up.any(-1), first, 0)
