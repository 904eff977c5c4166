import pytest

from metabo.errors import OptionError
from metabo.tasks.tabular import k_fold

NAMES = [f"set-{i}" for i in range(35)]


def test_folds_are_a_partition_into_equal_parts():
    parts = k_fold(NAMES, 7, seed=3)
    assert [len(p) for p in parts] == [5] * 7
    assert sorted(n for p in parts for n in p) == sorted(NAMES)
    assert sorted(len(p) for p in k_fold(NAMES, 4)) == [8, 9, 9, 9]


def test_folds_depend_on_the_seed_and_not_on_the_order_of_names():
    assert k_fold(NAMES, 7, seed=0) == k_fold(NAMES[::-1], 7, seed=0)
    assert k_fold(NAMES, 7, seed=0) != k_fold(NAMES, 7, seed=1)


def test_there_are_at_most_as_many_folds_as_names():
    with pytest.raises(OptionError, match=r"folds must lie in 2..35.*got 36"):
        k_fold(NAMES, 36)
    with pytest.raises(OptionError, match=r"folds must lie in 2..34.*got 35"):
        k_fold(NAMES, 35, together=[NAMES[:2]])


def test_what_belongs_together_is_not_parted():
    groups = [NAMES[:3], NAMES[10:12], ["absent", NAMES[20]]]
    for seed in range(20):
        parts = k_fold(NAMES, 7, seed=seed, together=groups)
        assert sorted(n for p in parts for n in p) == sorted(NAMES)
        for group in groups[:2]:
            assert any(set(group) <= set(part) for part in parts)
        assert max(map(len, parts)) - min(map(len, parts)) <= 2
