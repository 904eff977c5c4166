"""Figure 2 and its appendix: the benchmark families, tuned parameters, run time."""

from metabo.paper.catalogue.record import Experiment, Scale, ScaleName


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

BENCHMARK_EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "figure-2",
        "Simple regret on the benchmark families",
        "regret",
        (
            "ei",
            "ei:prior=learned",
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
        (
            "ei",
            "ei:prior=learned",
            "pi",
            "ucb",
            "random",
            "taf-me:M=50:N=100",
            "taf-r:M=50:N=100",
            "metabo",
            "metabo-50",
        ),
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
)
