"""Figure 5 and beyond: functions of which at most the smoothness is known."""

from metabo.evaluation.setting import HYPERPARAMETERS
from metabo.paper.catalogue.record import Experiment, Scale

_STANDARD_FUNCTIONS = (
    "branin",
    "six-hump-camel",
    "rosenbrock-3",
    "ackley-4",
    "levy-4",
    "hartmann-6",
)

GENERAL_EXPERIMENTS: tuple[Experiment, ...] = (
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
        families=_STANDARD_FUNCTIONS,
        search="gradient",
        hyperparameters="fitted",
    ),
)
