"""Pictures of what an acquisition function believes, wants and does."""

from metabo.explain.on_run import explain_run
from metabo.explain.on_tasks import Explanation, explain

__all__ = ["Explanation", "explain", "explain_run"]
