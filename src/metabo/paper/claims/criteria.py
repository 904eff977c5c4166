"""The criteria of the claims: each gives whether it is met, and the numbers that say so."""

import numpy as np

from metabo.evaluation.numbers import fixed, percent, scientific, significant
from metabo.paper.catalogue import ALL_SOURCES, BENCHMARKS
from metabo.paper.claims.evidence import Evidence, NotRunError

_TAF_50 = ("taf-me:M=50:N=100", "taf-r:M=50:N=100")
_TAF_20 = ("taf-me:M=20:N=50", "taf-r:M=20:N=50")
_EXTENDED = "furuta-reference:scale=0.1..2"
_TAF_100 = ("taf-me:M=100:N=200", "taf-r:M=100:N=200")
FIGURE_5 = ("figure-5-3d", "figure-5-4d", "figure-5-5d")
"""The experiments with known hyperparameters, as in the paper."""
Judged = tuple[bool, str]


def beats_ei(known: Evidence) -> Judged:
    """Half of EI's median or less, with intervals apart, at t = 5 and 10."""
    said, is_met = [], True
    for family in BENCHMARKS:
        ei = known.median("figure-2", family, "ei")
        for method in ("metabo", "metabo-50"):
            ours = known.median("figure-2", family, method)
            for t in (5, 10):
                above = known.interval("figure-2", family, method, t)[1]
                below = known.interval("figure-2", family, "ei", t)[0]
                is_met &= bool(2 * ours[t - 1] <= ei[t - 1]) and above < below
            said.append(f"{family} {method} {scientific(ours[9])} (EI {scientific(ei[9])})")
    return is_met, f"At t = 10: {'; '.join(said)}."


def beats_taf(known: Evidence) -> Judged:
    """Below both flavours in at least half of the steps."""
    said, is_met = [], True
    for family in BENCHMARKS:
        ours = known.median("figure-2", family, "metabo-50")
        for taf in _TAF_50:
            ahead = int((ours < known.median("figure-2", family, taf)).sum())
            is_met &= 2 * ahead >= len(ours)
            said.append(f"{family} {taf.partition(':')[0]} {ahead} of {len(ours)}")
    return is_met, f"Steps ahead: {'; '.join(said)}."


def starts_higher(known: Evidence) -> Judged:
    """Above both flavours of TAF at the first step."""
    said, is_met = [], True
    for family in BENCHMARKS:
        ours = known.median("figure-2", family, "metabo-50")[0]
        theirs = max(known.median("figure-2", family, taf)[0] for taf in _TAF_50)
        is_met &= bool(ours > theirs)
        said.append(f"{family} {significant(ours)} (TAF {significant(theirs)})")
    return is_met, f"Median regret at t = 1: {'; '.join(said)}."


def full_is_comparable(known: Evidence) -> Judged:
    """Medians within a factor of five at t = 10 and 30."""
    said, is_met = [], True
    for family in BENCHMARKS:
        full, fifty = (known.median("figure-2", family, m) for m in ("metabo", "metabo-50"))
        ratios = [full[t - 1] / fifty[t - 1] for t in (10, 30)]
        is_met &= all(0.2 <= ratio <= 5 for ratio in ratios)
        said.append(f"{family} {significant(ratios[0])}, {significant(ratios[1])}")
    return is_met, f"Full / 50 at t = 10 and 30: {'; '.join(said)}."


def taf_need_not_gain(known: Evidence) -> Judged:
    """Fewer sources at least as good somewhere."""
    found = []
    for family in BENCHMARKS:
        for few, many in zip(_TAF_20, _TAF_50, strict=True):
            a, b = known.median("figure-2", family, few), known.median("figure-2", family, many)
            found += [
                f"{family} {few.partition(':')[0]} at t = {t}: {significant(a[t - 1])} and "
                f"{significant(b[t - 1])}"
                for t in (10, 30)
                if a[t - 1] <= b[t - 1]
            ]
    return bool(found), f"M = 20 and M = 50: {'; '.join(found) or 'nowhere as good'}."


def ei_is_best_of_classical(known: Evidence) -> Judged:
    """The least log10 regret on average over the steps."""
    said, is_met = [], True
    for family in BENCHMARKS:
        curves = {m: known.median("figure-2", family, m) for m in ("ei", "pi", "ucb")}
        level = {m: float(np.log10(np.maximum(c, 1e-16)).mean()) for m, c in curves.items()}
        best = min(level, key=lambda method: level[method])
        is_met &= best == "ei"
        said.append(f"{family} {best}")
    return is_met, f"Best on average: {'; '.join(said)}."


def beats_naive(known: Evidence) -> Judged:
    """Below GMM-UCB and EPS-GREEDY at t = 10 and 30."""
    said, is_met = [], True
    for family in BENCHMARKS:
        ours = known.median("additional-baselines", family, "metabo")
        rivals = [
            known.median("additional-baselines", family, m) for m in ("gmm-ucb", "eps-greedy")
        ]
        for t in (10, 30):
            is_met &= all(bool(ours[t - 1] < rival[t - 1]) for rival in rivals)
        theirs = ", ".join(scientific(rival[9]) for rival in rivals)
        said.append(f"{family} {scientific(ours[9])} ({theirs})")
    return is_met, f"At t = 10 (GMM-UCB, EPS-GREEDY): {'; '.join(said)}."


def identifies_then_finds(known: Evidence) -> Judged:
    """One first query for all, then most of the best value."""
    said, is_met = [], True
    for family in ("rhino-1", "rhino-2"):
        episodes = known.result(f"strategy-{family}", family, "metabo")["episodes"]
        assert isinstance(episodes, list)
        first = [one["steps"][0]["query"][0] for one in episodes]
        shares = [max(s["value"] for s in one["steps"]) / one["best"] for one in episodes]
        is_met &= max(first) - min(first) <= 0.01 and min(shares) >= 0.9
        said.append(
            f"{family} starts at {fixed(first[0], 2)}, finds {percent(min(shares))} or more"
        )
    return is_met, f"{'; '.join(said)}."


def pendulum_in_simulation(known: Evidence) -> Judged:
    """Below EI and TAF at t = 10."""
    medians = {
        m: float(known.median("figure-3-reference", _EXTENDED, m)[9])
        for m in ("metabo", "ei", *_TAF_100)
    }
    return min(medians, key=lambda m: medians[m]) == "metabo", _listed("At t = 10", medians)


def pendulum_needs_sources(known: Evidence) -> Judged:
    """Below MetaBO-50 in at least half of the steps."""
    full, fifty = (
        known.median("figure-3-reference", _EXTENDED, m) for m in ("metabo", "metabo-50")
    )
    ahead = int((full < fifty).sum())
    return 2 * ahead >= len(full), f"Ahead in {ahead} of {len(full)} steps."


def stabilizes_machines(known: Evidence) -> Judged:
    """All within nine trials."""
    first = _first(known, "metabo")
    soon = sum(0 < f < 10 for f in first)
    return soon == len(first), f"{soon} of {len(first)} machines; first such trials {first}."


def others_do_not_stabilize(known: Evidence) -> Judged:
    """Each leaves one fallen."""
    fallen = {m: _first(known, m).count(0) for m in ("ei", *_TAF_100)}
    return min(fallen.values()) > 0, _listed("Machines fallen after 25 trials", fallen)


def beats_on_tables(known: Evidence) -> Judged:
    """The least mean regret on average over the steps, on both tables."""
    said, is_met = [], True
    for family in ("svm", "adaboost"):
        level = {
            m: float(known.mean(f"figure-4-{family}", family, m).mean())
            for m in ("metabo", "ei", "taf-me", "taf-r")
        }
        is_met &= min(level, key=lambda m: level[m]) == "metabo"
        said.append(_listed(family, level))
    return is_met, " ".join(said)


def falls_back(known: Evidence) -> Judged:
    """At most 1.5 times EI's median, at half of the budget and at its end."""
    said, is_met = [], True
    for name in FIGURE_5:
        for family in known.families(name):
            ours, ei = (known.median(name, family, m) for m in ("metabo", "ei"))
            pairs = [(ours[t], ei[t]) for t in (len(ei) // 2 - 1, len(ei) - 1)]
            is_met &= all(bool(a <= 1.5 * b) for a, b in pairs)
            said.append(
                f"{family} " + ", ".join(f"{significant(a)} ({significant(b)})" for a, b in pairs)
            )
    if not said:
        raise NotRunError("figure-5 is not run")
    return is_met, f"Half-way and at the end (EI): {'; '.join(said)}."


def few_sources_suffice(known: Evidence) -> Judged:
    """Twenty sources take at most twice the steps."""
    few, every = _by_sources(known, "sources-branin", "branin")
    return few <= 2 * every, f"Steps with 20 source tasks: {few}; with all: {every}."


def pendulum_needs_many(known: Evidence) -> Judged:
    """Twenty sources take at least twice the trials."""
    few, every = _by_sources(known, "sources-furuta", "furuta-reference")
    never = len(known.median("sources-furuta", "furuta-reference", "metabo:sources=20")) + 1
    said = "never" if few == never else few
    is_met = every < never and (few == never or few >= 2 * every)
    return is_met, f"Trials with 20 source tasks: {said}; with all: {every}."


def is_not_much_slower(known: Evidence) -> Judged:
    """At most ten times EI."""
    ratios = {f: known.seconds(f, "metabo") / known.seconds(f, "ei") for f in BENCHMARKS}
    return max(ratios.values()) <= 10, _listed("Times EI's", ratios)


def taf_is_slower(known: Evidence) -> Judged:
    """At least ten times MetaBO."""
    ratios = {
        f"{f} {taf.partition(':')[0]}": known.seconds(f, taf) / known.seconds(f, "metabo")
        for f in BENCHMARKS
        for taf in _TAF_50
    }
    is_met = min(ratios.values()) >= 10
    why = "" if is_met else " Ours share one factorization among all sources."
    return is_met, _listed("Times MetaBO's", ratios) + why


def time_is_independent_of_sources(known: Evidence) -> Judged:
    """Within a quarter of one another."""
    ratios = {f: known.seconds(f, "metabo") / known.seconds(f, "metabo-50") for f in BENCHMARKS}
    is_met = all(0.8 <= ratio <= 1.25 for ratio in ratios.values())
    return is_met, _listed("Full / 50", ratios)


def heavy_is_easier(known: Evidence) -> Judged:
    """More of the ranges above reached than below."""
    name = "generalization-furuta"
    reached: dict[bool, list[bool]] = {True: [], False: []}
    for family in known.families(name):
        low, _, high = family.partition("=")[2].partition("..")
        n_steps = len(known.median(name, family, "metabo"))
        is_reached = known.steps(name, family, "metabo") <= n_steps
        if float(low) >= 1.1 or float(high) <= 0.9:
            reached[float(low) >= 1.1].append(is_reached)
    heavy, light = (float(np.mean(reached[side])) for side in (True, False))
    return (
        heavy > light,
        f"Reached in {percent(heavy)} of the ranges above, {percent(light)} below.",
    )


def _first(known: Evidence, method: str) -> list[int]:
    first = known.result("figure-3-real", "furuta-real", method)["first_stabilized"]
    assert isinstance(first, list)
    return first


def _by_sources(known: Evidence, experiment: str, family: str) -> tuple[int, int]:
    few, every = (
        known.steps(experiment, family, f"metabo:sources={m}") for m in ("20", ALL_SOURCES)
    )
    return few, every


def _listed(what: str, numbers: dict[str, float] | dict[str, int]) -> str:
    listed = (f"{name} {significant(value, 3)}" for name, value in numbers.items())
    return f"{what}: {'; '.join(listed)}."
