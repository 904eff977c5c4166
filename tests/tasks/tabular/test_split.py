import pytest

from metabo.errors import OptionError
from metabo.tasks.tabular import k_fold
from metabo.tasks.tabular.split import kept_apart

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


def test_groups_that_share_a_name_are_one():
    parts = k_fold(NAMES, 7, together=[NAMES[:2], NAMES[1:3]])
    assert sorted(n for p in parts for n in p) == sorted(NAMES)
    assert any(set(NAMES[:3]) <= set(part) for part in parts)


def test_what_is_kept_apart_comes_first_and_whole():
    assert kept_apart(NAMES, 4) == tuple(NAMES[:4])
    assert kept_apart(NAMES, 4, together=[["set-3", "set-9"]]) == (
        "set-0",
        "set-1",
        "set-2",
        "set-4",
    )
    assert kept_apart(NAMES, 5, together=[["set-3", "set-9"]])[-1] == "set-9"
    with pytest.raises(
        OptionError, match=r"No 1 data sets can be held out.* Hold out 0, or another"
    ):
        kept_apart(NAMES[:2], 1, together=[NAMES[:2]])
