"""The two classifiers of the measured tables, their grids, and how a data set is measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from table_datasets import Sample

SEED = 0
MANY_ROWS = 500


@dataclass(frozen=True)
class Learner:
    """A classifier, and how and where it is measured."""

    name: str
    grid: dict[str, list[float]]
    """Values by parameter; configurations are all combinations, the last parameter fastest."""
    parameters: dict[str, dict[str, object]]
    """How a table declares the parameters."""
    measure: Callable[[Sample, "Learner"], NDArray[np.float64]]
    """Mean accuracy over the folds, for each configuration."""
    max_rows: int
    folds: int
    folds_of_many: int
    """Folds of a data set of more than `MANY_ROWS` rows."""
    budget: int
    split_seed: int

    @property
    def configurations(self) -> list[tuple[float, ...]]:
        """All combinations of the grid's values."""
        return list(product(*self.grid.values()))

    def n_folds(self, rows: int) -> int:
        """Return the number of folds for a data set with this number of rows."""
        return self.folds if rows <= MANY_ROWS else self.folds_of_many

    def cut(self, sample: Sample) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The rows of training and test of each fold, every class at its share."""
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(self.n_folds(len(sample.y)), shuffle=True, random_state=SEED)
        yield from folds.split(sample.x, sample.y)


def measure_svm(sample: Sample, learner: Learner) -> NDArray[np.float64]:
    """An RBF support vector machine on features standardized inside each fold.

    The squared distances of a fold serve all its configurations.
    """
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    scores = []
    for train, test in learner.cut(sample):
        scaler = StandardScaler().fit(sample.x[train])
        inner, outer = scaler.transform(sample.x[train]), scaler.transform(sample.x[test])
        near = euclidean_distances(inner, squared=True)
        far = euclidean_distances(outer, inner, squared=True)
        by_gamma = []
        for gamma in learner.grid["gamma"]:
            kernel, crossed = np.exp(-gamma * near), np.exp(-gamma * far)
            machines = [SVC(C=c, kernel="precomputed", cache_size=500) for c in learner.grid["C"]]
            fits = (machine.fit(kernel, sample.y[train]) for machine in machines)
            by_gamma.append([machine.score(crossed, sample.y[test]) for machine in fits])
        scores.append(np.array(by_gamma).T.ravel())
    return np.mean(scores, axis=0)


def measure_adaboost(sample: Sample, learner: Learner) -> NDArray[np.float64]:
    """AdaBoost over trees; one fit gives the scores of all numbers of iterations.

    Boosting ends early when a tree makes no mistake: later iterations then keep the last score.
    """
    x = sample.x.astype(np.float32)  # all that trees see
    wanted = [int(n) for n in learner.grid["iterations"]]
    scores = []
    for train, test in learner.cut(sample):
        by_size = []
        for leaves in learner.grid["leaves"]:
            votes = boost(x, sample.y, train, leaves=int(leaves), iterations=max(wanted))
            stages = [np.mean(vote[test] == sample.y[test]) for vote in votes]
            by_size.append([stages[min(n, len(stages)) - 1] for n in wanted])
        scores.append(np.array(by_size).T.ravel())
    return np.mean(scores, axis=0)


def boost(
    x: NDArray[np.float32],
    y: NDArray[np.int64],
    train: NDArray[np.int64],
    *,
    leaves: int,
    iterations: int,
) -> Iterator[NDArray[np.int64]]:
    """The classes that all rows are given after each iteration of boosting on some of them.

    SAMME, in the arithmetic of scikit-learn's `AdaBoostClassifier`, whose every iteration checks
    its input four times over, which costs more than a tree on a few hundred rows.
    """
    from sklearn.tree import DecisionTreeClassifier

    source, tiny = np.random.RandomState(SEED), np.finfo(np.float64).eps
    inner, truth, n_classes = x[train], y[train], int(y.max()) + 1
    weights = np.full(len(train), 1 / len(train))
    votes = np.zeros((len(y), n_classes))
    for _ in range(iterations):
        weights = weights.clip(tiny)
        seed = source.randint(np.iinfo(np.int32).max)
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed)
        tree.fit(inner, truth, weights, check_input=False)
        given = tree.tree_.predict(x).argmax(-1)
        is_wrong = given[train] != truth
        error = np.average(is_wrong, weights=weights)
        if error >= 1 - 1 / n_classes:  # no better than guessing
            return
        say = np.log((1 - error) / error) + np.log(n_classes - 1.0) if error > 0 else 1.0
        votes += np.where(given[:, None] == np.arange(n_classes), say, -say / (n_classes - 1))
        yield votes.argmax(-1)
        if error <= 0:
            return
        weights = np.exp(np.log(weights) + say * is_wrong)
        weights /= weights.sum()


SVM = Learner(
    name="svm",
    grid={
        "C": [2.0**power for power in range(-5, 7)],
        "gamma": [1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 1e2, 1e3],
    },
    parameters={name: {"type": "float", "log": True} for name in ("C", "gamma")},
    measure=measure_svm,
    max_rows=2000,
    folds=5,
    folds_of_many=5,
    budget=20,
    split_seed=1,
)
ADABOOST = Learner(
    name="adaboost",
    grid={
        "iterations": [2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 400, 500],
        "leaves": [2, 3, 4, 5, 7, 10, 15, 20, 30],
    },
    parameters={name: {"type": "int", "log": True} for name in ("iterations", "leaves")},
    measure=measure_adaboost,
    max_rows=600,
    folds=5,
    folds_of_many=3,
    budget=15,
    split_seed=2,
)
