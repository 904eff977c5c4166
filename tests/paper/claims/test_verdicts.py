from dataclasses import replace

import pytest

from metabo.paper.catalogue import ALL_SOURCES, EXPERIMENTS
from metabo.paper.catalogue.places import place_of
from metabo.paper.claims import CLAIMS, verdicts
from metabo.paper.results import Stored

LEVELS = {
    # method -> regret at the first and at all later steps: where the claims hold, and where not
    "metabo": ((2.0, 1e-3), (0.5, 2.0)),
    "metabo-50": ((2.0, 2e-3), (0.5, 0.1)),
    "taf-20": ((1.0, 0.09), (1.0, 0.2)),
    "taf": ((1.0, 0.1), (1.0, 0.1)),
    "ei": ((1.0, 0.5), (1.0, 1.0)),
    "pi": ((1.0, 0.9), (1.0, 0.1)),
    "other": ((1.0, 0.9), (1.0, 0.9)),
}
SECONDS = {"ei": (0.1, 0.01), "metabo": (0.5, 0.5), "metabo-50": (0.5, 0.1), "other": (50, 0.5)}
TRAINING = {"config": {"episodes": 10}, "best_iteration": 12, "seconds": 5.0}


def level(unit, is_good):
    name = unit.method.partition(":")[0]
    if name.startswith("taf"):
        name = "taf-20" if "M=20" in unit.method else "taf"
    first, later = LEVELS.get(name, LEVELS["other"])[0 if is_good else 1]
    return [first] + [later] * (unit.budget - 1)


def reach(unit, is_good):
    is_heavy = float(unit.family.partition("=")[2].partition("..")[0]) >= 1.1
    return [0.5 if is_heavy == is_good else 2.0] * unit.budget


def by_sources(unit, is_good):
    is_few = unit.sources != ALL_SOURCES
    # Few are enough on Branin, and not for the pendulum.
    is_lost = is_few and is_good == (unit.family != "branin")
    return [9.0 if is_lost else 0.0] * unit.budget


def result(unit, is_good):
    curve = level(unit, is_good)
    if unit.kind == "seconds":
        name = unit.method if unit.method in SECONDS else "other"
        return {"seconds_per_episode": SECONDS[name][0 if is_good else 1]}
    if unit.kind == "table":
        return {"mean": curve}
    if unit.kind == "control":
        is_up = (unit.method == "metabo") == is_good
        return {"median": curve, "first_stabilized": [3 if is_up else 0] * 10}
    if unit.kind == "strategy":
        starts = (0.3, 0.3, 0.3) if is_good else (0.1, 0.3, 0.5)
        steps = [[{"query": [x], "value": 2.9}] for x in starts]
        return {"episodes": [{"best": 3.0, "steps": each} for each in steps]}
    if unit.kind == "reach":
        curve = reach(unit, is_good)
    if unit.kind == "sources":
        curve = by_sources(unit, is_good)
    return {"median": curve, "regret": [curve] * 3, "training": TRAINING}


def evidence(is_good, left_out=()):
    return {
        name: Stored(
            one,
            "full",
            {
                (u.family, u.label): {"result": result(u, is_good)}
                for u in one.units("full")
                if u.kind not in ("tuning", "heat") and name not in left_out
            },
        )
        for name, one in EXPERIMENTS.items()
    }


def test_every_claim_holds_where_the_numbers_say_so_and_not_where_they_do_not():
    for is_good, expected in ((True, "holds"), (False, "does not hold")):
        for verdict in verdicts(evidence(is_good)):
            assert verdict.outcome == expected, verdict
            assert any(c.isdigit() for c in verdict.evidence) or "ucb" in verdict.evidence


def test_without_results_no_claim_can_be_tested():
    for verdict in verdicts(evidence(True, left_out=EXPERIMENTS)):
        assert verdict.outcome == "cannot be tested here"
        assert verdict.evidence.endswith("is not run.")


def test_a_few_tasks_and_steps_are_not_enough_to_judge_by():
    small = {name: replace(one, scale="smoke") for name, one in evidence(True).items()}
    for verdict in verdicts(small):
        assert verdict.outcome == "cannot be tested here"
    assert "judged at full scale" in verdicts(small)[0].evidence


@pytest.mark.parametrize("name", ["figure-2", "figure-3-real"])
def test_a_claim_lacks_only_its_own_experiment(name):
    for verdict in verdicts(evidence(True, left_out=[name])):
        is_lost = name in verdict.claim.experiments
        assert (verdict.outcome == "cannot be tested here") == is_lost


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.judge.__name__)
def test_a_claim_is_judged_by_the_experiments_that_it_names_and_needs_them_all(claim):
    everything = evidence(True)
    named = {name: everything[name] for name in claim.experiments}
    (alone,) = (verdict for verdict in verdicts(named) if verdict.claim is claim)
    assert alone in verdicts(everything)
    for name in claim.experiments:
        rest = {other: one for other, one in everything.items() if other != name}
        assert claim not in [verdict.claim for verdict in verdicts(rest)]
        (empty,) = (v for v in verdicts(evidence(True, left_out=[name])) if v.claim is claim)
        assert empty.outcome == "cannot be tested here"


def test_claims_name_experiments_that_exist():
    assert all(name in EXPERIMENTS for claim in CLAIMS for name in claim.experiments)
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS)


def test_every_experiment_has_its_place_in_the_paper_or_is_said_to_have_none():
    for name in EXPERIMENTS:
        place, claim = place_of(name)
        assert claim or place.startswith("Not in the paper"), name
    assert place_of("figure-5-4d")[0] == "Figure 5"
    assert place_of("figure-5-4d-fitted")[0].startswith("Not in the paper: Figure 5")
