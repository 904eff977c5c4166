"""Which registered families which laws hold for."""

import pytest

from metabo.domain import Finite, sobol
from metabo.tasks import FAMILIES

SLOW = {"furuta", "furuta-reference", "gp-rbf", "gp-matern52", "adaboost"}
"""Their simulations, the search for their optimum or the reading of a table are slow under the
run-time shape checks of the test suite; `svm` stands for tables in the unit suite."""
APPROXIMATE = {"furuta-reference", "furuta", "furuta-real"}
"""Their optimum is a good controller's value, which others may exceed."""
ALIKE = {"rosenbrock-3", "ackley-4", "levy-4", "hartmann-6"}
"""Built as `six-hump-camel` is: where policies are tried, that one stands for all."""
NUMBERED = {"furuta-real"}
"""They have a few fixed tasks, and another family's sources; they need MuJoCo."""

TABLES = {"svm", "adaboost"}
"""They have a few data sets, so that draws may repeat."""


def params(*left_out):
    """The names of all families but some, the slow ones marked."""
    names = [n for n in FAMILIES if not any(n in some for some in left_out)]
    return [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in names]


def points(family, n):
    """Return at most `n` points where the family's tasks can be queried."""
    domain = family.domain
    if not isinstance(domain, Finite):
        return sobol(n, domain.dim)
    return domain.points[:: max(1, len(domain.points) // n)][:n]
