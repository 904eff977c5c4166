import math
from fractions import Fraction

import numpy as np
import pytest
import torch

import metabo
from metabo import Choice, Float, Int, MetaBOError, Optimizer, Space
from metabo.acquisition import EI
from metabo.errors import DataError, OptionError, ShapeError
from metabo.evaluation import METHODS, Setting, method
from metabo.gp import Prior
from metabo.loop import rollout
from metabo.policies import CLASSICAL, Proposal, searcher
from metabo.pretrained import artifacts
from metabo.seeding import generator
from metabo.tasks import TasksWithPrior

MIXED = Space({"rate": Float(1e-4, 1.0, log=True), "n": Int(1, 9), "kind": Choice(("a", "b"))})
QUADRATIC = {"x": Float(-1.0, 2.0), "y": Float(0.0, 5.0)}
BATCH = Prior.of([0.3, 0.3], signal_variance=1.0, noise_variance=1e-6)


def bowl(params):
    return (params["x"] - 0.3) ** 2 + 0.1 * (params["y"] - 2) ** 2


def drive(optimizer, task, budget, family):
    """Ask and tell; give the unit-cube points. The named values go out and come back."""
    for _ in range(budget):
        params = optimizer.ask()
        assert optimizer.ask() == params
        x = optimizer.space.encode(params)
        # The task lives in the cube: evaluate what was proposed, not what its name rounds to.
        exact = torch.tensor(optimizer._proposer.exactly(params), dtype=torch.float64)
        torch.testing.assert_close(x, exact, rtol=0, atol=1e-12)
        optimizer.tell(params, float(task(exact[None, None])[0, 0]))
    return torch.tensor([one.x for one in optimizer.history], dtype=torch.float64)


NAMES = ["metabo", *CLASSICAL, "ucb:beta=9:schedule=gp-ucb"]
# The unit cube in few and more dimensions, and parameters with ranges of their own.
FAMILIES = ["rhino-1", "hartmann-3", "furuta-reference"]
QUICK = {"branin", "hartmann-3"}
CASES = [
    pytest.param(name, family, marks=[pytest.mark.slow] * (family == "furuta-reference"))
    for name in NAMES[1:]
    for family in FAMILIES
] + [
    pytest.param("metabo", name, marks=[pytest.mark.slow] * (name not in QUICK))
    for name in artifacts()
    if not name.endswith(("-50", "-wide"))
]


@pytest.mark.parametrize(("name", "family_name"), CASES)
def test_ask_tell_repeats_the_rollout_to_the_bit(name, family_name):
    family = metabo.family(family_name)
    tasks = family.sample(1, generator(0, "test tasks"))
    budget = 4
    policy = method(name, Setting(family, searcher("gradient", family.domain)))
    episodes = rollout(policy, tasks, family, seed=3, budget=budget)
    # An artifact brings its space and prior, unless it is for any dimension.
    brings = name == "metabo" and "x" in metabo.load(family_name).architecture.features
    prior = tasks.prior if isinstance(tasks, TasksWithPrior) else family.prior
    optimizer = Optimizer(
        None if brings else family.space,
        af=family_name if name == "metabo" else name,
        prior=None if brings else prior,
        budget=budget,
        direction="maximize",
        seed=3,
    )
    x = drive(optimizer, tasks, budget, family)
    assert torch.equal(x, episodes.queries[0])
    assert [one.value for one in optimizer.history] == episodes.observed[0].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(METHODS) - set(CLASSICAL)))
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_any_policy_of_the_experiments_can_be_asked(name, direction):
    family = metabo.family("branin")
    tasks = family.sample(1, generator(0, "test tasks"))
    policy = method(name, Setting(family, searcher("gradient", family.domain)))
    episodes = rollout(policy, tasks, family, seed=0, budget=4)
    optimizer = Optimizer(
        Space.cube(2), af=policy, prior=family.prior, budget=4, direction=direction
    )
    sign = 1 if direction == "maximize" else -1
    x = drive(optimizer, lambda at: sign * tasks(at), 4, family)
    assert torch.equal(x, episodes.queries[0])


@pytest.mark.parametrize("search", ["grid", "sobol"])
def test_the_rollout_is_repeated_with_every_search(search):
    family = metabo.family("branin")
    tasks = family.sample(1, generator(0, "test tasks"))
    policy = method("metabo", Setting(family, searcher(search, family.domain)))
    episodes = rollout(policy, tasks, family, seed=0, budget=4)
    optimizer = Optimizer(af="branin", budget=4, direction="maximize", search=search)
    assert torch.equal(drive(optimizer, tasks, 4, family), episodes.queries[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["branin"])
def test_a_whole_run_of_an_artifact_repeats_the_rollout(name, unchecked):
    family = metabo.family(name)
    tasks = family.sample(1, generator(1, "test tasks"))
    policy = method("metabo", Setting(family, searcher("gradient", family.domain)))
    episodes = rollout(policy, tasks, family, seed=0)
    optimizer = Optimizer(af=name, direction="maximize")
    x = drive(optimizer, tasks, family.budget, family)
    assert torch.equal(x, episodes.queries[0])
    assert optimizer.remaining == 0


@pytest.mark.parametrize("name", ["ei", "random"])
def test_a_table_is_searched_as_in_a_rollout(name):
    family = metabo.family("svm")
    tasks = family.sample(1, generator(0, "test tasks"))
    search = searcher("gradient", family.domain, repeats=False)
    policy = method(name, Setting(family, search))
    prior = tasks.prior if isinstance(tasks, TasksWithPrior) else None
    episodes = rollout(policy, tasks, family, seed=0, budget=5)
    optimizer = Optimizer(
        family.space,
        af=policy,
        prior=prior or family.prior,
        budget=5,
        direction="maximize",
    )
    x = drive(optimizer, tasks, 5, family)
    assert torch.equal(x, episodes.queries[0])


def test_the_history_is_the_whole_state():
    first, second = (Optimizer(MIXED, budget=9, seed=1) for _ in range(2))
    for step in range(5):
        params = first.ask()
        first.tell(params, step**2 % 7)
    second.take_up(first.history)
    assert second.history == first.history
    assert second.ask() == first.ask()
    third = Optimizer(MIXED, budget=9, seed=1)
    for one in first.history:
        third.tell(one.params, one.value)
    for mine, theirs in zip(third.history, first.history, strict=True):
        assert mine.params == theirs.params
        assert mine.x == pytest.approx(theirs.x, abs=1e-12)


def test_points_are_told_in_any_order_asked_for_or_not():
    optimizer = Optimizer(QUADRATIC, budget=6)
    a = optimizer.ask()
    optimizer.tell({"y": 1.0, "x": 0.25}, 3.0)
    optimizer.tell(a, 2.0)
    assert [one.params for one in optimizer.history] == [{"x": 0.25, "y": 1.0}, a]
    assert optimizer.best.value == 2.0
    assert optimizer.remaining == 4


@pytest.mark.slow
def test_it_finds_the_minimum_of_a_bowl():
    optimizer = Optimizer(QUADRATIC, budget=14)
    while optimizer.remaining:
        params = optimizer.ask()
        optimizer.tell(params, 1e5 + 1e-2 * bowl(params))
    assert bowl(optimizer.best.params) < 1e-2
    assert "fitted" in optimizer.prior_source
    assert optimizer.prior.kernel == "matern52"


def test_directions_mirror_one_another():
    low = Optimizer(QUADRATIC, budget=6)
    high = Optimizer(QUADRATIC, budget=6, direction="maximize")
    for _ in range(5):
        params = low.ask()
        assert high.ask() == params
        low.tell(params, bowl(params))
        high.tell(params, -bowl(params))
    assert low.best.params == high.best.params


def test_a_batch_begins_with_the_single_proposal_and_holds_different_points():
    optimizer = Optimizer(QUADRATIC, budget=12)
    for _ in range(4):
        params = optimizer.ask()
        optimizer.tell(params, bowl(params))
    batch = optimizer.ask_batch(4)
    assert batch[0] == optimizer.ask()
    assert optimizer.ask_batch(4) == batch
    points = torch.stack([optimizer.space.encode(params) for params in batch])
    assert torch.pdist(points).min() > 1e-3
    assert optimizer.n_told == 4


def test_a_batch_is_asking_with_the_rest_under_way():
    optimizer = Optimizer(QUADRATIC, budget=12, prior=BATCH)
    for _ in range(3):
        params = optimizer.ask()
        optimizer.tell(params, bowl(params))
    batch = optimizer.ask_batch(3)
    assert optimizer.ask(pending=batch[:2]) == batch[2]
    optimizer.tell(batch[1], 1.0)
    assert optimizer.ask(pending=[batch[0]]) != batch[1]


def test_a_failure_is_spent_and_counts_as_the_worst_value():
    optimizer = Optimizer(QUADRATIC, budget=8)
    told = Optimizer(QUADRATIC, budget=8)
    for value in (1.0, 5.0, 3.0):
        params = optimizer.ask()
        optimizer.tell(params, value)
        told.tell(params, value)
    params = optimizer.ask()
    optimizer.tell_failure(params)
    told.tell(params, 5.0)
    assert optimizer.history[-1].is_failure
    assert optimizer.remaining == 4
    assert optimizer.ask() == told.ask()
    later = optimizer.ask()
    optimizer.tell(later, 9.0)  # the failure is now worse than it was
    again = Optimizer(QUADRATIC, budget=8)
    for one, value in zip(optimizer.history, (1.0, 5.0, 3.0, 9.0, 9.0), strict=True):
        again.tell(one.params, value)
    # Told by its parameters, a point lies where they round to, not where it was to the last bit.
    assert optimizer.ask() == pytest.approx(again.ask(), rel=1e-9)


def test_failures_before_any_value_are_not_asked_for_again():
    optimizer = Optimizer(QUADRATIC, budget=5)
    seen = []
    for _ in range(3):
        params = optimizer.ask()
        assert params not in seen
        seen.append(params)
        optimizer.tell_failure(params)
    assert optimizer.best is None
    optimizer.tell(optimizer.ask(), -3.0)
    assert optimizer.best.value == -3.0


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "1.0", None, True, 1j, [1.0], 10**400]
)
def test_values_that_are_no_finite_numbers_are_refused(value, unchecked):
    optimizer = Optimizer(QUADRATIC, budget=5)
    with pytest.raises(DataError, match=r"A value must be a finite number, but got"):
        optimizer.tell({"x": 0.0, "y": 0.0}, value)
    assert optimizer.n_told == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"x": 0.0}, r"Parameter `y` is missing. Give a value for each of `x`, `y`."),
        ({"x": 0.0, "y": 0.0, "z": 0.0}, "Unknown parameter `z`"),
        (
            {"x": 3.0, "y": 0.0},
            r"Parameter `x`: A value must be a number in \[-1.0, 2.0\], but got 3.0",
        ),
        ({"x": "0", "y": 0.0}, "Parameter `x`: A value must be a number"),
        ({"x": [0.0], "y": 0.0}, "Parameter `x`: A value must be a number"),
        ([0.0, 0.0], "Values must be given by name"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(params, message, unchecked):
    optimizer = Optimizer(QUADRATIC, budget=5)
    with pytest.raises(MetaBOError, match=message):
        optimizer.tell(params, 1.0)
    with pytest.raises(MetaBOError, match=message):
        optimizer.tell_failure(params)
    assert optimizer.n_told == 0


def test_numbers_of_other_libraries_are_numbers(unchecked):
    optimizer = Optimizer(QUADRATIC, budget=5)
    optimizer.tell({"x": np.float32(0.5), "y": 1}, np.int64(3))
    optimizer.tell({"x": Fraction(1, 4), "y": np.float64(1)}, Fraction(1, 2))
    first, second = optimizer.history
    assert (first.params, first.value) == ({"x": 0.5, "y": 1.0}, 3.0)
    assert (second.params, second.value) == ({"x": 0.25, "y": 1.0}, 0.5)


def test_a_spent_budget_ends_asking_and_not_telling():
    optimizer = Optimizer(QUADRATIC, budget=2, af="random")
    with pytest.raises(
        MetaBOError, match="3 evaluations were asked for, but 2 of the budget of 2"
    ):
        optimizer.ask_batch(3)
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.raises(MetaBOError, match=r"budget of 2 evaluations is spent \(1 under way\)"):
        optimizer.ask(pending=[{"x": 0.0, "y": 0.0}])
    optimizer.tell(optimizer.ask(), 1.0)
    message = r"^The budget of 2 evaluations is spent. Continue with a larger one: `opt"
    with pytest.raises(MetaBOError, match=message):
        optimizer.ask()
    optimizer.tell({"x": 0.0, "y": 0.0}, 0.0)
    assert (optimizer.n_told, optimizer.remaining) == (3, 0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"budget": 5}, OptionError, "needs a `space`"),
        ({"space": QUADRATIC}, OptionError, "needs a `budget`"),
        ({"space": QUADRATIC, "budget": 0}, OptionError, r"`budget` must be a whole number in 1"),
        ({"space": QUADRATIC, "budget": True}, OptionError, "but got True"),
        ({"space": QUADRATIC, "budget": 5, "seed": 0.5}, OptionError, "`seed` must be a whole"),
        ({"space": QUADRATIC, "budget": 5, "direction": "min"}, OptionError, "Unknown direction"),
        ({"space": QUADRATIC, "budget": 5, "search": "x"}, OptionError, "Unknown search `x`"),
        ({"space": {"n": Int(1, 3)}, "budget": 5, "search": "x"}, OptionError, "Unknown search"),
        (
            {"space": QUADRATIC, "budget": 5, "af": "eii"},
            OptionError,
            "Unknown acquisition function `eii`. Did you mean `ei`",
        ),
        ({"space": QUADRATIC, "budget": 5, "af": "ucb:b=1"}, OptionError, "Unknown option"),
        ({"space": QUADRATIC, "budget": 5, "af": 3}, OptionError, "`af` must be a name"),
        ({"space": QUADRATIC, "budget": 5, "prior": "own"}, OptionError, "Unknown prior `own`"),
        (
            {"space": QUADRATIC, "budget": 5, "prior": "artifact"},
            OptionError,
            "There is no artifact with a GP prior for 2 coordinates",
        ),
        (
            {"space": MIXED, "budget": 5, "prior": BATCH},
            ShapeError,
            r"a lengthscale for each of 4 coordinates .* but has 2",
        ),
        (
            {"space": QUADRATIC, "af": "branin"},
            OptionError,
            r"differs from that of the artifact `branin`: parameter `x1` is missing",
        ),
        (
            {"space": {"x1": Float(0.0, 1.0), "x2": Float(0.0, 2.0)}, "af": "branin"},
            OptionError,
            r"parameter `x2` is Float\(low=0.0, high=2.0, log=False\), not Float\(low=0.0, high=1",
        ),
        (
            {"space": Space.cube(3), "af": "branin"},
            OptionError,
            "there is no parameter `x3` in it",
        ),
    ],
)
def test_mistakes_are_named_before_the_run_begins(arguments, error, message, unchecked):
    with pytest.raises(error, match=message):
        Optimizer(**arguments)


def test_an_artifact_brings_space_prior_and_budget():
    optimizer = Optimizer(af="rhino-1")
    assert optimizer.space == Space.cube(1)
    assert optimizer.budget == 10  # what it was trained for
    assert torch.equal(optimizer.prior.lengthscale, metabo.family("rhino-1").prior.lengthscale)
    assert optimizer.prior_source.startswith("the artifact's own, with values as told; past tasks")
    assert "the artifact's own" in repr(optimizer)
    other = {"x2": Float(0.0, 1.0), "x1": Float(0.0, 1.0)}
    assert list(Optimizer(other, af="branin").space.parameters) == ["x1", "x2"]


def test_an_acquisition_function_itself_can_be_given():
    optimizer = Optimizer(QUADRATIC, af=EI(), budget=4, prior=BATCH)
    optimizer.tell({"x": 0.0, "y": 1.0}, 0.5)
    named = Optimizer(QUADRATIC, af="ei", budget=4, prior=BATCH)
    named.tell({"x": 0.0, "y": 1.0}, 0.5)
    assert optimizer.ask() == named.ask()


DISCRETE = Space({"n": Int(1, 3), "kind": Choice(("a", "b"))})


@pytest.mark.parametrize("af", ["ei", "random", "ucb"])
def test_a_small_discrete_space_is_used_up_without_repeats(af):
    optimizer = Optimizer(DISCRETE, budget=9, af=af)
    seen = []
    for step in range(6):
        params = optimizer.ask()
        assert params not in seen
        seen.append(params)
        optimizer.tell(params, (3 * step) % 5)
    with pytest.raises(MetaBOError, match=r"^All 6 points of the space are evaluated"):
        optimizer.ask()


@pytest.mark.parametrize("af", ["ei", "random"])
def test_batches_of_a_discrete_space_do_not_repeat_either(af):
    optimizer = Optimizer(DISCRETE, budget=9, af=af)
    optimizer.tell({"n": 2, "kind": "a"}, 0.0)
    batch = optimizer.ask_batch(5)
    assert len({tuple(params.items()) for params in batch}) == 5
    assert {"n": 2, "kind": "a"} not in batch


LARGE = Space({"n": Int(1, 200), "m": Int(1, 4096, log=True), "kind": Choice(("a", "b", "c"))})


@pytest.mark.slow
def test_a_large_discrete_space_is_never_repeated_and_its_minimum_is_found(unchecked):
    def value(params):
        cost = abs(params["n"] - 37) / 20 + abs(math.log2(params["m"]) - 5)
        return cost + (params["kind"] != "b")

    optimizer = Optimizer(LARGE, budget=30)
    seen = []
    while optimizer.remaining:
        params = optimizer.ask()
        assert params not in seen
        seen.append(params)
        optimizer.tell(params, value(params))
    assert optimizer.best.value < 0.5


def test_a_policy_that_repeats_itself_is_given_another_point():
    class Stubborn:
        def propose(self, state, noise):
            return Proposal(torch.full((1, LARGE.dim), 0.3, dtype=torch.float64))

    optimizer = Optimizer(LARGE, budget=5, af=Stubborn(), prior="fitted")
    first = optimizer.ask()
    optimizer.tell(first, 1.0)
    second = optimizer.ask()
    assert second != first
    assert optimizer.ask() == second


def test_integers_are_integers_and_bounds_are_kept():
    optimizer = Optimizer(MIXED, budget=8)
    while optimizer.remaining:
        params = optimizer.ask()
        assert type(params["n"]) is int
        assert 1 <= params["n"] <= 9
        assert 1e-4 <= params["rate"] <= 1.0
        assert params["kind"] in ("a", "b")
        optimizer.tell(params, params["n"] + math.log(params["rate"]) ** 2)
    assert optimizer.best.params["n"] <= 3
