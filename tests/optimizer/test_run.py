"""Runs that many work on at once, and changes that erase nothing."""

import json
import pickle
import threading
from functools import partial

import pytest
from fault_cases.workers import ended, forked

from metabo import Choice, Float, Int, MetaBOError, Optimizer, Space
from metabo.errors import DataError, OptionError
from metabo.journal import Journal
from metabo.journal import file as journal_file
from metabo.optimizer import Run, repair

SPACE = Space({"rate": Float(1e-4, 1.0, log=True), "n": Int(1, 9), "kind": Choice(("a", True))})
POINT = {"rate": 0.5, "n": 2, "kind": "a"}


@pytest.fixture(params=["memory", "journal"])
def optimizer(request, tmp_path):
    journal = tmp_path / "run.jsonl" if request.param == "journal" else None
    return Optimizer(SPACE, budget=4, af="random", journal=journal)


@pytest.mark.parametrize("name", [None, "run.jsonl"])
def test_what_is_forgotten_never_was(tmp_path, name):
    other = Optimizer(SPACE, budget=4, af="ei")
    journal = None if name is None else tmp_path / name
    optimizer = Optimizer(SPACE, budget=4, af="ei", journal=journal)
    for number, value in enumerate((3.0, 1.0, 2.0)):
        params = POINT | {"n": number + 1}
        optimizer.tell(params, value)
        if number != 1:
            other.tell(params, value)
    wrong = optimizer.forget(2)
    assert (wrong.value, wrong.number) == (1.0, 2)
    assert optimizer.history == other.history
    assert [one.number for one in optimizer.history] == [1, 3]
    assert optimizer.best.value == 2.0
    assert optimizer.remaining == 2
    assert optimizer.ask() == other.ask()


def test_a_value_told_in_the_place_of_a_forgotten_one_is_seen_there():
    fixed = {"prior": Optimizer(Space.cube(2), budget=4, af="ei").prior, "af": "ei"}
    one, other = (Optimizer(Space.cube(2), budget=4, **fixed) for _ in range(2))
    one.tell({"x1": 0.1, "x2": 0.1}, 1.0)
    one.tell({"x1": 0.2, "x2": 0.2}, 0.5)
    one.ask()
    one.forget(2)
    one.tell({"x1": 0.9, "x2": 0.9}, 0.5)
    other.tell({"x1": 0.1, "x2": 0.1}, 1.0)
    other.tell({"x1": 0.9, "x2": 0.9}, 0.5)
    assert one.ask() == other.ask()


def test_forgetting_what_is_not_there_is_refused(optimizer, unchecked):
    with pytest.raises(MetaBOError, match="no evaluation 1 to forget: it was never told"):
        optimizer.forget(1)
    optimizer.tell(POINT, 1.0)
    for number in (0, 2, -1, "1", 1.5):
        with pytest.raises(OptionError, match=r"`number` must be a whole number in 1..1"):
            optimizer.forget(number)
    optimizer.forget(1)
    with pytest.raises(MetaBOError, match="no evaluation 1 to forget: it has already been"):
        optimizer.forget(1)


def test_a_spent_run_continues_when_it_is_extended(optimizer):
    for params in optimizer.ask_batch(4):
        optimizer.tell(params, 1.0)
    with pytest.raises(MetaBOError, match=r"budget of 4 evaluations is spent. Continue"):
        optimizer.ask()
    for budget in (4, 3):
        with pytest.raises(OptionError, match="The budget is already 4 and can only grow"):
            optimizer.extend(budget)
    optimizer.extend(6)
    assert (optimizer.budget, optimizer.remaining) == (6, 2)
    assert int(optimizer.state.budget) == 6
    SPACE.clean(optimizer.ask())


def test_an_extended_run_asks_what_one_with_that_budget_would():
    one, other = Optimizer(af="branin", budget=4), Optimizer(af="branin", budget=9)
    for optimizer in (one, other):
        optimizer.tell({"x1": 0.3, "x2": 0.6}, -0.7)
    assert one.ask() != other.ask()
    one.extend(9)
    assert one.ask() == other.ask()


def test_an_extended_journal_opens_with_the_first_and_the_last_budget(tmp_path):
    path = tmp_path / "run.jsonl"
    Optimizer(SPACE, budget=4, af="random", journal=path).extend(6)
    for budget in (4, 6):
        assert Optimizer(SPACE, budget=budget, af="random", journal=path).budget == 6
    with pytest.raises(OptionError, match="started with `budget` 4, but 5 was given"):
        Optimizer(SPACE, budget=5, af="random", journal=path)
    assert Optimizer.open(path).budget == 6


def test_what_is_reserved_is_asked_around_until_it_is_told_or_released(optimizer):
    (first,) = optimizer.reserve()
    assert [one.params for one in optimizer.pending] == [first]
    second = optimizer.ask()
    assert second != first
    assert optimizer.ask(pending=[first]) == second  # known already, so not counted twice
    optimizer.tell(first, 1.0)
    assert optimizer.pending == ()
    (third,) = optimizer.reserve()
    optimizer.release(third)
    assert optimizer.pending == ()
    with pytest.raises(MetaBOError, match="Nothing is under way at"):
        optimizer.release(third)
    optimizer.reserve(3)
    with pytest.raises(MetaBOError, match=r"budget of 4 evaluations is spent \(3 under way\)"):
        optimizer.reserve()


def test_a_reserved_point_is_told_exactly_where_it_was_proposed(tmp_path):
    path = tmp_path / "run.jsonl"
    (params,) = Optimizer(SPACE, budget=4, af="ei", journal=path).reserve()
    x = Optimizer.open(path).pending[0].x
    Run.open(path).tell(params, 1.0)
    assert Optimizer.open(path).history[0].x == x


def test_an_interval_that_floats_can_hardly_divide_can_be_asked_and_told(tmp_path):
    space = {"x": Float(1e9, 1e9 + 1e-6)}
    optimizer = Optimizer(space, budget=4, af="random", journal=tmp_path / "run.jsonl")
    for _ in range(2):
        (params,) = optimizer.reserve()
        optimizer.tell(params, 1.0)
        optimizer.tell(optimizer.ask(), 2.0)
    assert Optimizer.open(tmp_path / "run.jsonl").history == optimizer.history


def test_telling_needs_neither_the_artifact_nor_a_model(tmp_path):
    from metabo.pretrained import artifacts

    file, path = tmp_path / "af.safetensors", tmp_path / "run.jsonl"
    file.write_bytes(artifacts()["branin"].read_bytes())
    Optimizer(af=file, journal=path).close()
    file.unlink()
    with pytest.raises(MetaBOError, match=r"af.safetensors"):
        Optimizer.open(path)
    Run.open(path).tell({"x1": 0.5, "x2": 0.5}, 1.0)
    assert len(Run.open(path).state.history) == 1


@pytest.mark.slow
def test_threads_processes_and_forks_lose_nothing_and_double_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    optimizer = Optimizer({"x": Float(0, 1)}, budget=1000, af="random", journal=path)

    def tell(first, n):
        for number in range(first, first + n):
            optimizer.tell({"x": number / 1000}, float(number))

    children = [forked(partial(tell, first, 20)) for first in (600, 700, 800)]
    threads = [threading.Thread(target=tell, args=(20 * i, 20)) for i in range(16)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert ended(children) == 0
    expected = [*range(320), *range(600, 620), *range(700, 720), *range(800, 820)]
    optimizer.refresh()
    for history in (optimizer.history, Run.open(path).state.history):
        assert sorted(one.value for one in history) == expected
        assert [one.number for one in history] == list(range(1, len(expected) + 1))


@pytest.mark.slow
def test_a_fork_in_the_middle_of_telling_threads_sees_all_that_they_told(tmp_path, unchecked):
    path = tmp_path / "run.jsonl"
    optimizer = Optimizer({"x": Float(0, 1)}, budget=10_000, af="random", journal=path)
    is_over = threading.Event()

    def tell():
        for _ in range(2000):
            if not is_over.is_set():
                optimizer.tell({"x": 0.5}, 1.0)

    def look():
        optimizer.refresh()
        assert len(optimizer.history) == len(optimizer._run._journal.entries)

    threads = [threading.Thread(target=tell) for _ in range(2)]
    [thread.start() for thread in threads]
    failures = sum(ended([forked(look)]) for _ in range(40))
    is_over.set()
    [thread.join() for thread in threads]
    assert failures == 0


def test_an_interrupt_after_the_record_was_written_skips_nothing(tmp_path, monkeypatch):
    optimizer = Optimizer(SPACE, budget=9, af="random", journal=tmp_path / "run.jsonl")
    optimizer.tell(POINT, 1.0)

    def interrupt(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal_file, "count_field", interrupt)
        with pytest.raises(KeyboardInterrupt):
            optimizer.tell(POINT, 2.0)
    optimizer.tell(POINT, 3.0)
    assert [(one.number, one.value) for one in optimizer.history] == [(1, 1.0), (2, 2.0), (3, 3.0)]


def test_a_record_of_an_unknown_kind_is_refused_every_time(tmp_path):
    path = tmp_path / "run.jsonl"
    optimizer = Optimizer(SPACE, budget=9, af="random", journal=path)
    Journal(path).append({"kind": "of tomorrow"})
    before = path.read_bytes()
    for attempt in (optimizer.refresh, optimizer.ask, lambda: optimizer.tell(POINT, 1.0)):
        with pytest.raises(DataError, match=r"Line 2 .* does not belong to its run"):
            attempt()
    assert path.read_bytes() == before


def test_a_point_that_was_given_out_and_told_meanwhile_is_not_given_out_again(tmp_path):
    space = Space({"n": Int(1, 30)})
    path = tmp_path / "run.jsonl"
    Optimizer(space, budget=9, af="random", journal=path).close()
    slow, quick = Run.open(path), Optimizer.open(path)
    given = []

    def propose(run):
        points = quick._proposer.propose(run, 1)
        if len(given) < 2:  # while this one thinks, the other gets a point and tells it
            given.extend(quick.reserve())
            quick.tell(given[-1], 1.0)
        return points

    (proposal,) = slow.reserve(propose)
    assert len(given) == 2
    assert proposal.params not in given


def test_without_a_journal_closing_changes_nothing():
    with Optimizer(SPACE, budget=4, af="random") as optimizer:
        pass
    optimizer.tell(POINT, 1.0)
    assert optimizer.n_told == 1


@pytest.mark.slow
def test_those_who_reserve_at_once_get_different_points(tmp_path):
    path = tmp_path / "run.jsonl"
    Optimizer(SPACE, budget=40, af="ei", search="sobol", journal=path).close()
    given, barrier = [], threading.Barrier(4)

    def bench():
        optimizer = Optimizer.open(path)
        barrier.wait()
        for _ in range(3):
            given.extend(optimizer.reserve())

    threads = [threading.Thread(target=bench) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len({json.dumps(params) for params in given}) == 12
    assert len(Optimizer.open(path).pending) == 12


def test_an_optimizer_can_be_copied(optimizer):
    optimizer.tell(POINT, 1.0)
    other = pickle.loads(pickle.dumps(optimizer))
    assert other.history == optimizer.history
    assert other.ask() == optimizer.ask()


def test_a_repaired_journal_has_all_that_is_intact_and_the_old_one_stays(tmp_path):
    path, new = tmp_path / "run.jsonl", tmp_path / "new.jsonl"
    optimizer = Optimizer(SPACE, budget=6, af="random", journal=path)
    for number in range(4):
        optimizer.tell(POINT | {"n": number + 1}, float(number))
    optimizer.forget(1)
    optimizer.extend(8)
    (pending,) = optimizer.reserve()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b"2.0", b"2.5")
    path.write_bytes(b"".join(lines))
    before = path.read_bytes()
    with pytest.raises(MetaBOError, match=r"Line 4 .* is damaged.*--repair"):
        Optimizer.open(path)
    done = repair(path, new)
    assert path.read_bytes() == before
    assert [number for number, _ in done.left_out] == [4]
    assert "2.5" in done.left_out[0][1]
    assert done.missing == 1
    fixed = Optimizer.open(new)
    assert [one.value for one in fixed.history] == [1.0, 3.0]
    assert (fixed.budget, [one.params for one in fixed.pending]) == (8, [pending])
    with pytest.raises(OSError, match="already exists"):
        repair(path, new)


def test_what_is_about_a_lost_line_is_left_out_of_a_repair(tmp_path):
    path, new = tmp_path / "run.jsonl", tmp_path / "new.jsonl"
    optimizer = Optimizer(SPACE, budget=6, af="random", journal=path)
    optimizer.tell(POINT, 1.0)
    optimizer.tell(POINT | {"n": 3}, 2.0)
    optimizer.forget(1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    done = repair(path, new)
    assert [one.value for one in done.run.history] == [2.0]
    assert [number for number, _ in done.left_out] == [4]
