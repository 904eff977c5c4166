from dataclasses import replace

import pytest
import torch

import metabo
from metabo.errors import DataError, DomainError, OptionError
from metabo.gp import Prior, log_likelihood
from metabo.loop import rollout
from metabo.policies import RandomSearch
from metabo.seeding import generator
from metabo.space import Float, Space
from metabo.tasks.tabular import Split, Table, table_family


def make(n_sets=8, n=6, *, test=("set-0", "set-1"), gaps=()):
    space = Space({"a": Float(0, 1), "b": Float(1, 100, log=True)})
    grid = [(i / (n - 1), 100 ** (j / (n - 1))) for i in range(n) for j in range(n)]
    where = torch.linspace(0.2, 0.8, n_sets, dtype=torch.float64)[:, None]
    x = torch.tensor([(a, j % n / (n - 1)) for j, (a, _) in enumerate(grid)], dtype=torch.float64)
    values = 1 - (x[:, 0] - where).square() - (x[:, 1] - where).square()
    for row, column in gaps:
        values[row, column] = torch.nan
    names = tuple(f"set-{i}" for i in range(n_sets))
    return Table(space, names, tuple(grid), values, test=test)


def test_tasks_look_values_up():
    table = make()
    family = table_family("t", table)
    tasks = family.sources(6)
    columns = (3, 5, 0, 1, 35, 7)
    x = family.domain.points[torch.tensor(columns)[:, None]]
    rows = table.of(family.source_names)
    assert torch.equal(tasks(x)[:, 0], torch.stack([rows[i, j] for i, j in enumerate(columns)]))
    assert torch.equal(tasks.optimum, rows.amax(-1))


def test_a_point_that_is_no_configuration_is_refused():
    family = table_family("t", make())
    with pytest.raises(DomainError, match=r"at its 36 configurations only.*0.123"):
        family.sources(1)(torch.tensor([[[0.123, 0.5]]], dtype=torch.float64))


def test_nothing_tested_on_is_learned_from():
    table = make()
    for split in (Split(), Split(fold=1, folds=3), Split(validate=2), Split(sources=3)):
        family = table_family("t", table, split)
        sides = (family.source_names, family.validation_names, family.test_names)
        names = [name for side in sides for name in side]
        assert len(set(names)) == len(names)
        assert not set(table.test) & set(family.source_names + family.validation_names)
    assert table_family("t", table, Split(sources=3)).max_sources == 3


def test_all_test_data_sets_come_once_before_any_comes_again():
    family = table_family("t", make(), Split(fold=0, folds=2)).test()
    drawn = family.sample(6, generator(0, "test tasks"))
    assert len(drawn.values[:3].unique(dim=0)) == 3
    assert torch.equal(drawn.values[:3], drawn.values[3:])
    assert family.n_tasks == 3


def test_the_shared_prior_is_the_likeliest_for_the_sources_alone():
    table = make()
    family = table_family("t", table)
    x, y = family.domain.points, table.of(family.source_names)

    def likelihood(prior):
        many = [p.expand(len(y), *p.shape[1:]) for p in vars(prior).values() if torch.is_tensor(p)]
        return float(
            log_likelihood(Prior(*many, mean="observed"), x.expand(len(y), -1, -1), y).sum()
        )

    best = likelihood(family.prior)
    for factor in (0.8, 1.25):
        other = family.prior
        changed = Prior(
            other.lengthscale * factor,
            other.signal_variance,
            other.noise_variance,
            mean="observed",
        )
        assert likelihood(changed) < best
    assert torch.equal(family.test().prior.lengthscale, family.prior.lengthscale)


def test_values_of_a_target_are_looked_at_only_when_told_to():
    peeking = table_family("t", make(), hyperparameters="fitted-on-test-data").test()
    tasks = peeking.sample(2, generator(0, "test tasks"))
    assert tasks.prior is not None
    assert tasks.prior.lengthscale.shape == (2, 2)
    rollout(RandomSearch(peeking.domain), tasks, peeking, seed=0, budget=3)
    assert table_family("t", make()).test().sample(2, generator(0, "x")).prior is None


def test_gaps_are_filled_from_the_same_data_set():
    whole = make()
    gaps = [(r, c) for r in range(8) for c in range(36) if (r + c) % 5 == 0]
    family = table_family("t", make(gaps=gaps))
    tasks, names = family.sources(6), family.source_names
    error = (tasks.values - whole.of(names)).abs()
    assert float(error.max()) < 0.02  # smooth functions: a GP is close between points
    assert float(error[make(gaps=gaps).of(names).isfinite()].max()) == 0
    changed = make(gaps=gaps)
    changed.measured[changed.datasets.index(names[-1])] *= 2
    others = table_family("t", changed).sources(5)
    assert torch.equal(others.values, tasks.values[:5])


def test_no_guess_beats_the_best_result_of_a_data_set_to_be_tried_on():
    names = ["set-0", "set-1"]
    table = make(gaps=list(enumerate(make().of(names).argmax(-1).tolist())))
    measured = table.of(names)
    largest = measured.nan_to_num(nan=-9).amax(-1)
    learned = table_family("t", replace(table, test=("set-7",)))
    row = learned.source_names.index("set-0")
    assert float(learned.sources(7).optimum[row]) > float(largest[0])  # a guess is the best there
    family = table_family("t", table)
    for tasks in (
        family.read([{"dataset": name} for name in names]),
        family.test().sample(2, generator(0, "test tasks")),
        replace(family, test_names=(), validation_names=tuple(names))
        .validation()
        .sample(2, generator(0, "validation tasks")),
    ):
        assert sorted(tasks.optimum.tolist()) == sorted(largest.tolist())
    tasks = family.read([{"dataset": name} for name in names])
    assert torch.equal(tasks.values[measured.isfinite()], measured[measured.isfinite()])


def test_validation_does_not_part_data_sets_of_one_origin():
    pairs = (("set-2", "set-3"), ("set-4", "set-5"), ("set-6", "set-7"))
    table = replace(make(), together=pairs)
    for seed in range(8):
        family = table_family("t", table, Split(validate=2, seed=seed))
        assert family.validation_names in pairs
    with pytest.raises(OptionError, match=r"No 3 data sets can be held out.* Hold out 2"):
        table_family("t", table, Split(validate=3))


def test_task_files_name_data_sets():
    family = table_family("t", make())
    tasks = family.read([{"dataset": "set-4"}, {"dataset": "set-0"}])
    assert torch.equal(tasks.values, make().values[[4, 0]])
    with pytest.raises(OptionError, match=r"Unknown data set `set-9`"):
        family.read([{"dataset": "set-9"}])
    with pytest.raises(DataError, match=r"Task 0 must have no other fields than `dataset`"):
        family.read([{"name": "set-0"}])


def test_a_family_without_test_data_sets_says_how_to_have_some():
    with pytest.raises(OptionError, match=r"no data sets held out for testing.*fold=0"):
        table_family("t", make(test=())).test()


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (Split(fold=7), r"folds must lie in 2..6"),
        (Split(fold=3, folds=3), r"`fold` must be a whole number in 0..2, but got 3"),
        (Split(sources=7), r"`sources` must be a whole number in 1..6"),
        (Split(validate=6), r"`validate` must leave a data set to learn from.*0..5"),
    ],
)
def test_a_split_that_cannot_be_is_refused(split, message):
    with pytest.raises(OptionError, match=message):
        table_family("t", make(), split)


def test_a_folder_is_a_family_by_its_name(tmp_path):
    rows = [f"{d},{x / 4},{x * d}" for d in (1, 2, 3) for x in range(5)]
    (tmp_path / "past.csv").write_text("\n".join(["dataset,x,value", *rows]))
    family = metabo.family(f"table:{tmp_path}:fold=0:folds=3:budget=4")
    assert (family.name, family.budget, family.max_sources) == ("table", 4, 2)
    with pytest.raises(OptionError, match=r"`table:FOLDER`"):
        metabo.family("table")


def test_from_fold_to_fold_other_data_sets_are_kept_for_validation():
    folds = [table_family("t", make(), Split(fold=k, folds=3, validate=2)) for k in range(3)]
    kept = [set(fold.validation_names) for fold in folds]
    for k, fold in enumerate(folds):
        assert kept[k] <= set(folds[(k + 1) % 3].test_names)
        assert not kept[k] & {*fold.source_names, *fold.test_names}
    assert set.union(*kept) == {name for fold in folds for name in fold.test_names}


@pytest.mark.parametrize(("folds", "validate"), [(3, 2), (2, 1), (6, 1), (6, 2)])
def test_in_turn_others_validate_however_large_the_folds_are(folds, validate):
    def family(turn):
        return table_family("t", make(), Split(1, folds, validate, turn=turn))

    whole = table_family("t", make(), Split(fold=1, folds=folds))
    turns = range(min(folds - 1, len(whole.source_names) // validate))
    kept = [name for turn in turns for name in family(turn).validation_names]
    assert len(set(kept)) == len(kept) == len(turns) * validate
    assert set(kept) <= set(whole.source_names)


def test_turns_are_for_folds_and_not_more_than_there_are():
    with pytest.raises(OptionError, match=r"`turn` must be a whole number in 0..1, but got 2"):
        table_family("t", make(), Split(fold=1, folds=3, validate=2, turn=2))
    with pytest.raises(OptionError, match=r"`turn` needs a fold"):
        table_family("t", make(), Split(validate=2, turn=1))
