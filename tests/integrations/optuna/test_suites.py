"""Optuna's own test suites for samplers, without exception."""

import pytest

pytest.importorskip("optuna", reason="needs the extra `optuna`")

from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from metabo.integrations.optuna import MetaBOSampler


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
class TestMetaBOSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: MetaBOSampler(seed=0)
