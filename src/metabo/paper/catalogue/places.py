"""Where each experiment stands in the paper, and what the paper says about it."""

PLACES: dict[str, tuple[str, str]] = {
    "figure-2": (
        "Figure 2, with TAF-20 from Appendix A.4",
        "MetaBO outperforms EI by clear margin, especially early, and after a few steps spent on "
        "identifying the function also both flavours of TAF over wide ranges of the budget.",
    ),
    "figure-2-gradient": (
        "Not in the paper",
        "Figure 2 with the gradient search for every method: no curve ends at the grid's "
        "resolution.",
    ),
    "additional-baselines": (
        "Appendix A.1, additional baselines",
        "MetaBO outperforms GMM-UCB and EPS-GREEDY: what it learned goes beyond a prior over the "
        "domain combined with a standard AF.",
    ),
    "run-time": (
        "Appendix A.2, table of run times",
        "A neural AF costs one forward pass whatever the number of source tasks; TAF-ME grows "
        "linearly in M and quadratically in N, TAF-R faster still.",
    ),
    "tuning": (
        "Appendix A.1, table of parameters",
        "The parameters of GMM-UCB and EPS-GREEDY, which the paper chose on its test set.",
    ),
    "figure-3-reference": (
        "Figure 3 (a), with TAF-50 from Appendix A.4",
        "MetaBO first identifies the pendulum, then adapts; TAF and EI explore too heavily. "
        "MetaBO benefits from all source tasks, compared with MetaBO-50.",
    ),
    "figure-3-simulation": (
        "Figure 3 (a), with a physically correct model",
        "As above; the paper trains and tests on the published model only.",
    ),
    "figure-3-real": (
        "Figure 3 (b)",
        "Trained on the simulation alone, MetaBO reliably yields stabilizing controllers after "
        "less than ten iterations on the hardware; the others do not within 25. The hardware is "
        "replaced by ten machines in MuJoCo with effects that the simulation lacks.",
    ),
    "generalization-furuta": (
        "Appendix A.3, the pendulum",
        "The AF generalizes better to heavy and long pendula than to light and short ones; "
        "regret 1 is not reached within 30 trials for f up to 0.5.",
    ),
    "figure-4-svm": (
        "Figure 4",
        "With 35 data sets to learn from, as TAF has, MetaBO surpasses EI and TAF on 15 others.",
    ),
    "figure-4-adaboost": (
        "Figure 4",
        "With 35 data sets to learn from, as TAF has, MetaBO surpasses EI and TAF on 15 others.",
    ),
    "figure-5": (
        "Figure 5",
        "On samples of a GP, without any structure to exploit, MetaBO performs better than or on "
        "par with EI, also in dimensions that it was not trained for.",
    ),
    "sources-branin": (
        "Appendix A.2, Branin",
        "A small number of source tasks already gives a powerful strategy.",
    ),
    "sources-furuta": (
        "Appendix A.2, the pendulum",
        "The more complex task needs a much larger number of source tasks.",
    ),
    "generalization": (
        "Appendix A.3, benchmark functions",
        "Neural AFs remain useful in a neighbourhood of the training range (the frame) and lose "
        "their advantage far from it.",
    ),
    "strategy-rhino-1": (
        "Appendix A.1, Rhino-1",
        "A first, non-greedy evaluation where all wide bumps have some height tells where the "
        "narrow peak is.",
    ),
    "strategy-rhino-2": (
        "Appendix A.1, Rhino-2",
        "A first, non-greedy evaluation at x = 0.2 tells the height h, and with it the peak's "
        "place.",
    ),
}


FITTED = "-fitted"
"""Ends the names of experiments whose hyperparameters are not known, as they are in the paper."""


def place_of(experiment: str) -> tuple[str, str]:
    """Place and claim of an experiment, or of the figure that its name begins with."""
    if experiment.endswith(FITTED):
        place, _ = place_of(experiment.removesuffix(FITTED))
        return f"Not in the paper: {place} with fitted hyperparameters", ""
    for name in (experiment, *(key for key in PLACES if experiment.startswith(f"{key}-"))):
        if name in PLACES:
            return PLACES[name]
    return "Not in the paper", ""
