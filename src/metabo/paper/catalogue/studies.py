"""The appendix's studies: the number of source tasks, generalization, strategies."""

from metabo.paper.catalogue.record import ALL_SOURCES, Experiment, Scale

_SMALL = (
    "preset=fast",
    "iterations=2",
    "episodes=8",
    "group=1",
    "validation_tasks=4",
    "hidden=16",
)

_PLAIN = (
    "preset=default",
    "prior=plain",
    "features=mean,std,x,progress,incumbent,improvement,log_std,log_ei,novelty",
    "entropy_coefficient=0.01",
    "reward_floor=1e-6",
    "residual=none",
    "residual_weight=1",
    "group=1",
    "horizon=none",
    "episodes=100",
    "minibatches=10",
)
"""The recipe of these studies, without a learned prior."""

STUDIES: tuple[Experiment, ...] = (
    Experiment(
        "sources-branin",
        "Branin: steps to a median regret of 1e-3 by the number of source tasks",
        "sources",
        ("metabo",),
        {
            "smoke": Scale(4, 5, sources=("1", ALL_SOURCES), training=_SMALL),
            "full": Scale(
                100,
                30,
                sources=("1", "2", "5", "10", "20", "50", "100", ALL_SOURCES),
                training=(*_PLAIN, "iterations=500", "candidates=fine,coarse,fine,coarse,grid"),
            ),
        },
        families=("branin",),
        threshold=1e-3,
    ),
    Experiment(
        "sources-furuta",
        "Pendulum: trials to a median regret of 1 by the number of source tasks",
        "sources",
        ("metabo",),
        {
            "smoke": Scale(3, 4, sources=("1", ALL_SOURCES), training=(*_SMALL, "budget=4")),
            "full": Scale(
                100,
                50,
                sources=("1", "5", "20", "50", "100", "500", ALL_SOURCES),
                training=(
                    *_PLAIN,
                    "iterations=300",
                    "reward=linear",
                    "candidates=fine",
                    "n_global=1000",
                    "budget=25",
                    "least_budget=15",
                    "budget_step=5",
                ),
            ),
        },
        families=("furuta-reference",),
        search="gradient",
        threshold=1.0,
    ),
    Experiment(
        "generalization",
        "Translations and scales outside the training range: steps to a regret of the best 1 %",
        "heat",
        ("metabo", "ei"),
        {"smoke": Scale(1, 4), "full": Scale(100, 30)},
        search="gradient",
    ),
    *(
        Experiment(
            f"strategy-{family}",
            f"{family.title()}: what is believed, wanted and true in the first steps",
            "strategy",
            ("metabo",),
            {"smoke": Scale(3, 10), "full": Scale(3, 10)},
            families=(family,),
        )
        for family in ("rhino-1", "rhino-2")
    ),
)
