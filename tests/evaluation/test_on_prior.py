"""Classical methods on a learned prior."""

import pytest
import torch

from metabo import family
from metabo.evaluation import on_prior
from metabo.evaluation.setting import Setting
from metabo.policies import Maximize, StartAt, searcher
from metabo.sources import learned_prior


@pytest.mark.parametrize(("log_plain", "start"), [(-4.0, Maximize), (4.0, StartAt)])
def test_a_run_starts_at_the_midpoint_only_if_sources_teach_nothing(monkeypatch, log_plain, start):
    branin = family("branin")
    part = learned_prior(branin, 5, 40).learned
    object.__setattr__(part.cells, "log_plain", torch.tensor(log_plain).double())
    monkeypatch.setattr(on_prior, "_learned", lambda *_: part)
    setting = Setting(branin, searcher("gradient", branin.domain))
    policy = on_prior.on_prior("ei")(setting, prior="learned").policy
    assert isinstance(policy, start)
