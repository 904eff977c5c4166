"""Figure 4: hyperparameters of two learners, measured on 50 data sets."""

from metabo.paper.catalogue.record import Experiment, Scale

TABLE_EXPERIMENTS: tuple[Experiment, ...] = (
    *(
        Experiment(
            f"figure-4-{family}",
            f"Hyperparameters of {learner} on data sets never seen",
            "table",
            (
                "metabo",
                "ei",
                "ei:prior=learned",
                "taf-me",
                "taf-r",
                "portfolio",
                "mean-rank",
                "random",
            ),
            {"smoke": Scale(4, 5), "full": Scale(15, budget)},
            families=(family,),
        )
        for family, learner, budget in (("svm", "an SVM", 20), ("adaboost", "AdaBoost", 15))
    ),
)
