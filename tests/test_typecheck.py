"""The run-time checks of the test suite find wrong shapes, at the first call and at later ones."""

from typing import Literal

import pytest
import torch
from jaxtyping import TypeCheckError, jaxtyped
from typecheck import checked

from metabo.shapes import Float


@jaxtyped(typechecker=checked)
def add(a: Float[torch.Tensor, " n"], b: Float[torch.Tensor, " n"]) -> Float[torch.Tensor, " n"]:
    return a + b


def maker(length):
    @jaxtyped(typechecker=checked)
    def inner(a: Float[torch.Tensor, " n"]) -> Float[torch.Tensor, " n"]:
        return a[:length]

    return inner


def test_a_shape_that_does_not_fit_is_found_among_calls_that_do():
    for n in (2, 3, 2, 3):
        assert add(torch.ones(n), torch.ones(n)).shape == (n,)
        with pytest.raises(TypeCheckError):
            add(torch.ones(n), torch.ones(1))
        with pytest.raises(TypeCheckError):
            add(torch.ones(n), torch.ones(n, dtype=torch.long))


def test_a_result_is_checked_for_every_function_defined_in_another():
    assert maker(3)(torch.ones(3)).shape == (3,)
    with pytest.raises(TypeCheckError):
        maker(2)(torch.ones(3))


def test_the_items_of_a_list_are_always_checked():
    @jaxtyped(typechecker=checked)
    def total(values: list[float]) -> float:
        return sum(values)

    assert total([1, 2.0]) == 3
    with pytest.raises(TypeCheckError):
        total(["one"])


def test_a_literal_is_checked_by_its_value():
    @jaxtyped(typechecker=checked)
    def chosen(name: Literal["a", "b"]) -> str:
        return name

    assert chosen("a") + chosen("b") == "ab"
    with pytest.raises(TypeCheckError):
        chosen("c")


def test_the_package_is_checked():
    from metabo.gp.kernels import correlation

    assert hasattr(correlation, "__wrapped__")
