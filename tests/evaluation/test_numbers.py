import pytest
import torch

from metabo.evaluation.numbers import brief, rounded, rounded_row, scientific, significant


@pytest.mark.parametrize(
    ("value", "text"), [(0.0623, ".062"), (1.04e-5, "1.0e-05"), (-0.25, "-.25"), (3.4, "3.4")]
)
def test_brief_numbers_have_no_zero_before_the_point(value, text):
    assert brief(value) == text


@pytest.mark.parametrize("value", [0.0, 1.0, 0.123456, -9.87654e-7, 12345.678])
def test_what_is_shown_is_the_number_rounded(value):
    assert float(significant(value, 3)) == rounded(value)
    assert float(scientific(value)) == rounded(value, 2)
    assert rounded_row(torch.tensor([value, value], dtype=torch.float64)) == [rounded(value)] * 2
