"""The outcome of each claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from metabo.paper.claims.claims import CLAIMS, Claim
from metabo.paper.claims.evidence import Evidence, NotRunError
from metabo.paper.results import Stored

Outcome = Literal["holds", "does not hold", "cannot be tested here"]


@dataclass(frozen=True)
class Verdict:
    """A claim with its outcome."""

    claim: Claim
    outcome: Outcome
    evidence: str
    """The numbers that decide, as a sentence, or the reason why there are none."""


def verdicts(stored: Mapping[str, Stored]) -> list[Verdict]:
    """Judge the claims whose experiments are all among those given; leave out the others."""
    judged = (claim for claim in CLAIMS if stored.keys() >= set(claim.experiments))
    return [_judged(claim, Evidence(stored)) for claim in judged]


def _judged(claim: Claim, evidence: Evidence) -> Verdict:
    try:
        is_true, text = claim.judge(evidence)
    except NotRunError as reason:
        return Verdict(claim, "cannot be tested here", f"{reason}.")
    return Verdict(claim, "holds" if is_true else "does not hold", text)
