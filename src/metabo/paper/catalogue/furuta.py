"""Figure 3 and its appendix: the Furuta pendulum in simulation and on machines.

Paper: acquisition functions are maximized on a lattice of 10,000 points there; here by the
gradient search, which is the default everywhere and reaches further with a few hundred.
"""

from metabo.paper.catalogue.record import Experiment, Scale

_TAF = tuple(f"{flavour}:M={m}:N=200" for flavour in ("taf-me", "taf-r") for m in (50, 100))
_LEARNED = ("metabo", "metabo-50")
SHARES = tuple(f"{f / 10:.1f}..{(f + 2) / 10:.1f}" for f in range(1, 20, 2))
"""Disjoint ranges of the masses and lengths, as shares of the nominal ones."""

FURUTA_EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "figure-3-reference",
        "The published simulation of the pendulum, in its training range and beyond (10-200 %)",
        "control",
        (*_LEARNED, "ei", "ei:prior=learned", "random", *_TAF),
        {"smoke": Scale(3, 4), "full": Scale(100, 50)},
        families=("furuta-reference", "furuta-reference:scale=0.1..2"),
        search="gradient",
    ),
    Experiment(
        "figure-3-simulation",
        "The physically correct simulation of the pendulum",
        "control",
        (*_LEARNED, "ei", "ei:prior=learned", "random", *_TAF),
        {"smoke": Scale(3, 4), "full": Scale(100, 50)},
        families=("furuta",),
        search="gradient",
    ),
    Experiment(
        "figure-3-real",
        "Ten machines that the simulation does not know, tuned with what was learned from it",
        "control",
        ("metabo", "ei", "ei:prior=learned", "random", "taf-me:M=100:N=200", "taf-r:M=100:N=200"),
        {"smoke": Scale(2, 3), "full": Scale(10, 25)},
        families=("furuta-real",),
        search="gradient",
        artifact="furuta",
    ),
    Experiment(
        "generalization-furuta",
        "Pendula outside the training range: trials until the median regret is at most 1",
        "reach",
        ("metabo", "ei"),
        {"smoke": Scale(3, 4), "full": Scale(100, 30)},
        families=tuple(f"furuta-reference:scale={share}" for share in SHARES),
        search="gradient",
        threshold=1.0,
    ),
)
