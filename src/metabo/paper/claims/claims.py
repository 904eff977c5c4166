"""The paper's claims, each with the criterion by which it is judged from stored numbers."""

from dataclasses import dataclass

from metabo.paper.claims import criteria as by
from metabo.paper.claims.evidence import Judge


@dataclass(frozen=True)
class Claim:
    """What the paper says, and how it is judged."""

    text: str
    """What the paper says, in its own words or close to them."""
    place: str
    criterion: str
    judge: Judge
    experiments: tuple[str, ...]
    """The experiments that it is judged by; the first one's section shows the numbers."""


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "MetaBO outperforms EI by clear margin, especially in early stages.",
        "Figure 2",
        "On all three families, with MetaBO and with MetaBO-50, the median regret at t = 5 and 10 "
        "is at most half of EI's, and the 90 % intervals do not meet.",
        by.beats_ei,
        ("figure-2",),
    ),
    Claim(
        "MetaBO-50 outperforms both flavours of TAF-50 over wide ranges of the budget.",
        "Figure 2",
        "On all three families its median regret is below that of TAF-ME-50 and of TAF-R-50 in at "
        "least half of the 30 steps.",
        by.beats_taf,
        ("figure-2",),
    ),
    Claim(
        "MetaBO starts with higher regret than TAF: first evaluations identify the function.",
        "Figure 2",
        "On all three families its median regret at t = 1 is above TAF-ME-50's and TAF-R-50's.",
        by.starts_higher,
        ("figure-2",),
    ),
    Claim(
        "The full version performs comparably with MetaBO-50.",
        "Figure 2",
        "On all three families the two medians at t = 10 and 30 are within a factor of 5.",
        by.full_is_comparable,
        ("figure-2",),
    ),
    Claim(
        "TAF's performance does not necessarily increase with more source data.",
        "Figure 2",
        "On some family a flavour of TAF with M = 20, N = 50 has a median regret at t = 10 or 30 "
        "that is at most that with M = 50, N = 100.",
        by.taf_need_not_gain,
        ("figure-2",),
    ),
    Claim(
        "EI performs better than PI and GP-UCB.",
        "Section 5",
        "On all three families EI's log10 median regret, averaged over the steps, is the least.",
        by.ei_is_best_of_classical,
        ("figure-2",),
    ),
    Claim(
        "MetaBO outperforms GMM-UCB and EPS-GREEDY.",
        "Appendix A.1",
        "On all three families its median regret is below both at t = 10 and t = 30, with the "
        "parameters that we tuned.",
        by.beats_naive,
        ("additional-baselines",),
    ),
    Claim(
        "A first evaluation at one place tells where the optimum is, which is then found.",
        "Appendix A.1",
        "In all runs on Rhino-1 and Rhino-2 the first query is the same to 0.01, and 90 % of the "
        "best value is found within four steps.",
        by.identifies_then_finds,
        ("strategy-rhino-1", "strategy-rhino-2"),
    ),
    Claim(
        "In simulation MetaBO performs very strongly; EI and TAF explore too heavily.",
        "Figure 3 (a)",
        "On the extended set (10-200 %) of the published simulation its median regret at t = 10 "
        "is below that of EI, TAF-ME-100 and TAF-R-100.",
        by.pendulum_in_simulation,
        ("figure-3-reference",),
    ),
    Claim(
        "MetaBO benefits from learning from the whole set of source tasks.",
        "Figure 3 (a)",
        "On the extended set its median regret is below MetaBO-50's in half of the steps or more.",
        by.pendulum_needs_sources,
        ("figure-3-reference",),
    ),
    Claim(
        "On the real system it yields stabilizing controllers after less than ten iterations.",
        "Figure 3 (b)",
        "On each of ten machines, which the simulation it learned from does not know, one of its "
        "first nine trials keeps the pendulum up.",
        by.stabilizes_machines,
        ("figure-3-real",),
    ),
    Claim(
        "EI and TAF do not reliably find stabilizing controllers within 25 iterations.",
        "Figure 3 (b)",
        "EI, TAF-ME-100 and TAF-R-100 each leave at least one of ten machines fallen after 25.",
        by.others_do_not_stabilize,
        ("figure-3-real",),
    ),
    Claim(
        "On hyperparameters of SVMs and AdaBoost it surpasses EI and TAF.",
        "Figure 4",
        "On both, its mean regret over the 15 data sets, averaged over the steps, is below that "
        "of EI, TAF-ME and TAF-R.",
        by.beats_on_tables,
        ("figure-4-svm", "figure-4-adaboost"),
    ),
    Claim(
        "Without structure it falls back to the level of general-purpose AFs.",
        "Figure 5",
        "In every panel (D = 3, 4, 5, two kernels, known hyperparameters) its median regret at "
        "half of the budget and at its end is at most 1.5 times EI's.",
        by.falls_back,
        by.FIGURE_5,
    ),
    Claim(
        "On Branin few source tasks are enough.",
        "Appendix A.2",
        "With 20 source tasks it takes at most twice the steps to regret 1e-3 that it takes with "
        "a new task in every episode.",
        by.few_sources_suffice,
        ("sources-branin",),
    ),
    Claim(
        "The pendulum needs many more source tasks.",
        "Appendix A.2",
        "With 20 source tasks it takes at least twice the trials to regret 1 that it takes with a "
        "new task in every episode, or never gets there.",
        by.pendulum_needs_many,
        ("sources-furuta",),
    ),
    Claim(
        "MetaBO does not make evaluations considerably slower than standard AFs.",
        "Appendix A.2",
        "An episode takes at most ten times as long as with EI on all three families.",
        by.is_not_much_slower,
        ("run-time",),
    ),
    Claim(
        "TAF is far slower than MetaBO, and more so with more data.",
        "Appendix A.2",
        "TAF-ME-50-100 and TAF-R-50-100 take at least ten times as long as MetaBO on all three "
        "families.",
        by.taf_is_slower,
        ("run-time",),
    ),
    Claim(
        "Its run time does not depend on the number of source tasks.",
        "Appendix A.2",
        "MetaBO and MetaBO-50 take times within 25 % of one another on all three families.",
        by.time_is_independent_of_sources,
        ("run-time",),
    ),
    Claim(
        "It generalizes better to heavy and long than to light and short pendula.",
        "Appendix A.3",
        "Regret 1 is reached within 30 trials in a larger share of the ranges above 1.1 times the "
        "nominal masses and lengths than of those below 0.9.",
        by.heavy_is_easier,
        ("generalization-furuta",),
    ),
)
