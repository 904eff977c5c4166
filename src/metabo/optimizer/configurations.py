"""Proposals among the configurations of the table that an artifact was trained on.

In training and in cross-validation only these could be queried. An AF learned from a table was
never tested between them, so it proposes other points only if `candidates` is `space`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.choices import CandidatesName as CandidatesName
from metabo.domain import Finite
from metabo.errors import MetaBOError, OptionError
from metabo.policies import queried
from metabo.pretrained import TrainedAF
from metabo.shapes import Float
from metabo.space import Space, Value
from metabo.space.schema import first_difference
from metabo.state import History


@dataclass(frozen=True, eq=False)
class Configurations:
    """The points that may be proposed, with exactly the values they have in the table."""

    rows: tuple[dict[str, Value], ...]
    """The parameters of each configuration."""
    domain: Finite
    """The configurations as points of the unit cube."""

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Value]], space: Space) -> "Configurations":
        """Encode configurations as points of a space."""
        domain = Finite(torch.stack([space.encode(row) for row in rows]))
        return cls(tuple(space.clean(row) for row in rows), domain)

    def at(self, x: Float[Tensor, " D"]) -> dict[str, Value]:
        """Return the configuration at a point; decoding the point could miss its last digit."""
        index = int((self.domain.points - x).abs().amax(-1).argmin())
        return dict(self.rows[index])

    def n_left(self, history: History) -> int:
        """Count the configurations that a run has not queried."""
        return int((~queried(self.domain.points[None], history)).sum())

    def require_left(self, history: History) -> None:
        """Raise `MetaBOError` if a run has queried all configurations."""
        if not self.n_left(history):
            raise MetaBOError(
                f"All {len(self.rows)} configurations of the table are evaluated or under way. "
                "Start a run with `candidates='space'` to search between them.",
                shell=f"All {len(self.rows)} configurations of the table are evaluated or under "
                "way. Start a run with `--candidates space` to search between them.",
            )


def configurations(
    candidates: CandidatesName | None, artifact: TrainedAF | None, space: Space
) -> Configurations | None:
    """Return the configurations to choose from, or None for the whole space.

    Args:
        candidates: `table` or `space`; None takes the artifact's configurations if it has some
            for this space, and the whole space otherwise.
        artifact: The artifact, if the run uses one.
        space: The parameters of the run.

    Raises:
        OptionError: If `table` is given and there are no configurations for this space.
    """
    rows = None if artifact is None or candidates == "space" else artifact.configurations
    if rows is not None and artifact is not None and not first_difference(space, artifact.space):
        return Configurations.of(rows, space)
    if candidates == "table":
        raise OptionError(
            "`candidates='table'` needs an artifact whose card has the configurations of a table "
            "for this space. Train one on a table, or give `candidates='space'`.",
            shell="`--candidates table` needs an artifact that was trained on a table with this "
            "space. Train one on a table, or give `--candidates space`.",
        )
    return None
