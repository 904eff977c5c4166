"""The paper's claims, judged from stored numbers."""

from metabo.paper.claims.claims import CLAIMS, Claim
from metabo.paper.claims.evidence import Evidence
from metabo.paper.claims.verdicts import Outcome, Verdict, verdicts

__all__ = ["CLAIMS", "Claim", "Evidence", "Outcome", "Verdict", "verdicts"]
