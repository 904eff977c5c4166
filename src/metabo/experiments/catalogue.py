"""The experiments of the paper that `metabo report` runs and shows, as records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from metabo.errors import OptionError, unknown
from metabo.experiments.setting import HYPERPARAMETERS, Hyperparameters
from metabo.policies import SearchName

Kind = Literal["regret", "seconds", "tuning", "table"]
ScaleName = Literal["smoke", "full"]
SCALES: tuple[ScaleName, ...] = ("smoke", "full")
BENCHMARKS = ("branin", "goldstein-price", "hartmann-3")
STANDARD_FUNCTIONS = (
    "branin",
    "six-hump-camel",
    "rosenbrock-3",
    "ackley-4",
    "levy-4",
    "hartmann-6",
)


@dataclass(frozen=True)
class Scale:
    """How much of an experiment is run."""

    tasks: int
    budget: int
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a parameter search: the settings to try, by method."""


@dataclass(frozen=True)
class Unit:
    """What is run at a stretch and stored in one file: one method on one family."""

    experiment: str
    scale: ScaleName
    kind: Kind
    family: str
    method: str
    tasks: int
    budget: int
    search: SearchName
    seed: int
    stream: str
    settings: tuple[str, ...] = ()
    """For a parameter search: the methods with options to try."""
    hyperparameters: Hyperparameters = "known"

    @property
    def path(self) -> str:
        """Where it is stored, below the results folder."""
        name = f"{self.family}.{self.method}".replace(":", ".")
        return f"{self.experiment}/{self.scale}/{name}.json"


@dataclass(frozen=True)
class Experiment:
    """A figure or table: every method on every family, at each scale."""

    name: str
    title: str
    kind: Kind
    methods: tuple[str, ...]
    scales: Mapping[ScaleName, Scale]
    families: tuple[str, ...] = BENCHMARKS
    search: SearchName = "grid"
    """The paper's, unless said otherwise."""
    seed: int = 0
    stream: str = "test tasks"
    """The stream of random numbers that tasks are drawn from."""
    hyperparameters: Hyperparameters = "known"

    def units(self, scale: ScaleName) -> Iterator[Unit]:
        """All that has to be run, family by family."""
        size = self.scales[scale]
        for family in self.families:
            for method in self.methods:
                yield Unit(
                    self.name,
                    scale,
                    self.kind,
                    family,
                    method,
                    size.tasks,
                    size.budget,
                    self.search,
                    self.seed,
                    self.stream,
                    size.grid.get(method, ()),
                    self.hyperparameters,
                )


def experiment(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def scale(name: str) -> ScaleName:
    """The scale of this name."""
    for known in SCALES:
        if name == known:
            return known
    raise OptionError(f"`scale` must be `smoke` or `full`, but got `{name}`.")


def _grid(shares: tuple[str, ...], components: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    return {
        "gmm-ucb": tuple(f"gmm-ucb:w={w}:components={c}" for w in shares for c in components),
        "eps-greedy": tuple(f"eps-greedy:epsilon={e}" for e in shares),
    }


_FIGURE: dict[ScaleName, Scale] = {"smoke": Scale(4, 5), "full": Scale(100, 30)}
_SHARES = (*(f"{i / 9:.2f}" for i in range(10)), "linear")
_TAF = tuple(
    f"{flavour}:M={m}:N={n}"
    for flavour in ("taf-me", "taf-r")
    for m in (50, 100)
    for n in (100, 200)
)

EXPERIMENTS: dict[str, Experiment] = {
    e.name: e
    for e in (
        Experiment(
            "figure-2",
            "Simple regret on the benchmark families",
            "regret",
            (
                "ei",
                "pi",
                "ucb",
                "taf-me:M=50:N=100",
                "taf-r:M=50:N=100",
                "taf-r:M=50:N=100:ranks=mean:rho=1",
                "taf-me:M=20:N=50",
                "taf-r:M=20:N=50",
                "metabo",
                "metabo-50",
            ),
            _FIGURE,
        ),
        Experiment(
            "figure-2-gradient",
            "Simple regret on the benchmark families, every method with the gradient search",
            "regret",
            ("ei", "pi", "ucb", "taf-me:M=50:N=100", "taf-r:M=50:N=100", "metabo", "metabo-50"),
            _FIGURE,
            search="gradient",
        ),
        Experiment(
            "additional-baselines",
            "Two naive ways of using source tasks",
            "regret",
            (
                "ei",
                "gmm-ucb",
                "gmm-ucb:preset=paper",
                "eps-greedy",
                "eps-greedy:preset=paper",
                "metabo",
                "metabo-50",
            ),
            _FIGURE,
        ),
        *(
            Experiment(
                f"figure-4-{family}",
                f"Hyperparameters of {learner} on data sets never seen",
                "table",
                ("metabo", "ei", "taf-me", "taf-r", "portfolio", "mean-rank", "random"),
                {"smoke": Scale(4, 5), "full": Scale(15, budget)},
                families=(family,),
            )
            for family, learner, budget in (("svm", "an SVM", 20), ("adaboost", "AdaBoost", 15))
        ),
        Experiment(
            "run-time",
            "Seconds per episode, one thread",
            "seconds",
            ("ei", "metabo-50", "metabo", *_TAF),
            {"smoke": Scale(1, 3), "full": Scale(10, 30)},
        ),
        Experiment(
            "tuning",
            "Parameters of GMM-UCB and EPS-GREEDY, by median regret summed over the steps",
            "tuning",
            ("gmm-ucb", "eps-greedy"),
            {
                "smoke": Scale(4, 5, _grid(("0.22", "linear"), (1, 3))),
                "full": Scale(64, 30, _grid(_SHARES, (1, 2, 3, 4, 5))),
            },
            search="gradient",  # the cheaper one: there are 66 settings per family
            # Where training validates too: what is chosen here has not seen a test task.
            stream="validation tasks",
        ),
        *(
            Experiment(
                f"figure-5-{dim}d" if kind == "known" else f"figure-5-{dim}d-fitted",
                f"GP samples in {dim} dimensions, {kind} hyperparameters",
                "regret",
                ("ei", "pi", "ucb", "logei", "random", "metabo"),
                {"smoke": Scale(4, 5), "full": Scale(100, 30 + 10 * dim)},
                families=(f"gp-rbf:dim={dim}", f"gp-matern52:dim={dim}"),
                search="gradient",
                hyperparameters=kind,
            )
            for kind in HYPERPARAMETERS
            for dim in (3, 4, 5)
        ),
        Experiment(
            "standard-functions",
            "Functions nobody trained on, fitted hyperparameters",
            "regret",
            ("ei", "pi", "ucb", "logei", "random", "metabo:artifact=gp-matern52"),
            {"smoke": Scale(4, 5), "full": Scale(20, 60)},
            families=STANDARD_FUNCTIONS,
            search="gradient",
            hyperparameters="fitted",
        ),
    )
}
