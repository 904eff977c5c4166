"""`Proposer`: the points that a policy proposes for a run."""

from collections.abc import Mapping, Sequence
from functools import partial

from torch import Tensor

from metabo.journal.turn import Turn
from metabo.optimizer.af import short_name
from metabo.optimizer.evaluation import Direction, Evaluation, best_of, key, model_values
from metabo.optimizer.history import RunState
from metabo.optimizer.model import Model
from metabo.optimizer.proposal import Proposal, Why
from metabo.optimizer.queries import next_queries, require_left
from metabo.optimizer.setup import Setup
from metabo.optimizer.surrogate import Surrogate
from metabo.rules import MAX_BUDGET, Rule, whole
from metabo.space import Value
from metabo.state import BOState

Pending = Mapping[str, object] | Evaluation
"""An evaluation under way: its parameters, or an `Evaluation`, whose `x` is kept exactly."""

_PENDING = Rule(
    "a list of evaluations under way",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str),
)


class Proposer:
    """Proposes points, and remembers its last answer and every point that it proposed."""

    def __init__(self, made: Setup, model: Model) -> None:
        self._made, self._model = made, model
        self._turn = Turn()
        self._asked: dict[object, tuple[float, ...]] = {}
        self._answer: tuple[object, list[Tensor], BOState] | None = None
        self._method = short_name(made.settings.af or "")

    def propose(self, run: RunState, n: int, pending: Sequence[Pending] = ()) -> list[Proposal]:
        """Propose the next `n` points of a run, with other points under way besides its own."""
        whole(1, MAX_BUDGET).require("n", n, in_shell="-n")
        under_way = self._under_way(run, pending)
        history = run.history
        left = max(0, run.budget - len(history))
        require_left(run.budget, left, under_way=len(under_way), n=n)
        question = history, run.budget, [one.x for one in under_way]
        ahead = [one.point[0] for one in under_way]
        with self._turn:
            if self._answer is None or self._answer[0] != question or len(self._answer[1]) < n:
                made, state = self._made, self._model.state(history, run.budget)
                found = next_queries(
                    made.policy,
                    state,
                    made.space,
                    made.configurations,
                    seed=made.settings.seed,
                    n=n,
                    under_way=ahead,
                )
                self._answer = question, found, state
            _, points, state = self._answer
            proposals = self._explained(points[:n], ahead, history, state)
            self._asked |= {key(one.params): one.point for one in proposals}
        return proposals

    def exactly(self, params: Mapping[str, Value]) -> tuple[float, ...] | None:
        """Return the exact point that was proposed with these parameters, if any."""
        return self._asked.get(key(params))

    def _explained(
        self,
        points: Sequence[Tensor],
        ahead: Sequence[Tensor],
        history: Sequence[Evaluation],
        state: BOState,
    ) -> list[Proposal]:
        made, few = self._made, self._made.configurations
        named = made.space.decode if few is None else few.at
        best = best_of(history, made.direction)
        scale = partial(_scale, made.surrogate, history, made.direction)
        reached = [*ahead, *points]
        return [
            Proposal(
                named(x),
                tuple(x.tolist()),
                Why(
                    self._method,
                    None if best is None else best.value,
                    *(state, scale, tuple(reached[: len(ahead) + i]), x),
                ),
            )
            for i, x in enumerate(points)
        ]

    def _under_way(self, run: RunState, pending: Sequence[Pending]) -> list[Evaluation]:
        _PENDING.require("pending", pending)
        own = [line.evaluation for line in run.pending]
        known = {key(one.params) for one in own}
        others = [one if isinstance(one, Evaluation) else self._placed(one) for one in pending]
        return [*own, *(one for one in others if key(one.params) not in known)]

    def _placed(self, params: Mapping[str, object]) -> Evaluation:
        cleaned = self._made.space.clean(params)
        x = self.exactly(cleaned) or tuple(self._made.space.encode(cleaned).tolist())
        return Evaluation(cleaned, None, x)


def _scale(
    surrogate: Surrogate, history: Sequence[Evaluation], direction: Direction
) -> tuple[float, float] | None:
    """Return the value that the model sees as 0 and its unit, in the user's direction."""
    scale = surrogate.scale(model_values(history, direction))
    sign = -1.0 if direction == "minimize" else 1.0
    return None if scale is None else (sign * scale[0], sign * scale[1])
