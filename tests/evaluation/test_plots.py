"""Methods can be told apart in every picture, and are recognized from one to the next."""

import pytest

from metabo.evaluation.plots import COLOURS, styles
from metabo.paper.catalogue import EXPERIMENTS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_two_methods_of_an_experiment_look_alike(name):
    chosen = styles(list(EXPERIMENTS[name].methods))
    assert len({str(style) for style in chosen.values()}) == len(chosen)


def test_a_method_looks_the_same_in_any_company():
    alone = styles(["taf-me:M=50"]) | styles(["metabo:artifact=branin"]) | styles(["ei"])
    together = styles(["random", "metabo:artifact=branin", "ei", "new", "taf-me:M=50"])
    assert all(together[name] == style for name, style in alone.items())
    assert together["metabo:artifact=branin"][0] == COLOURS[-1]


def test_variants_share_a_colour_and_nothing_else():
    one, other = styles(["taf-r:M=50", "taf-r:M=100"]).values()
    assert one[0] == other[0]
    assert one[1] != other[1]
