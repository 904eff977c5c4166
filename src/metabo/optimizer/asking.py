"""What to evaluate next: the proposals of a policy for a run, and where exactly they lie."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from metabo.errors import DataError, brief
from metabo.journal.turn import Turn
from metabo.optimizer.evaluation import Evaluation
from metabo.optimizer.model import Model
from metabo.optimizer.proposals import key, proposals, require_left
from metabo.optimizer.proposer import Proposer
from metabo.optimizer.record import RunState
from metabo.optimizer.run import Point
from metabo.rules import MAX_BUDGET, whole
from metabo.space import Value

Pending = Mapping[str, object] | Evaluation
"""An evaluation under way: its parameters, or itself, whose `x` is kept to the last bit."""


class Asking:
    """Proposes, remembering the last answer and every point that was proposed."""

    def __init__(self, made: Proposer, model: Model, seed: int) -> None:
        self._made, self._model, self._seed = made, model, seed
        self._turn = Turn()
        self._asked: dict[object, tuple[float, ...]] = {}
        self._answer: tuple[object, list[Tensor]] | None = None

    def points(self, run: RunState, n: int, pending: Sequence[Pending] = ()) -> list[Point]:
        """The next `n` evaluations of a run, with others under way beside its own."""
        whole(1, MAX_BUDGET).require("n", n, in_shell="-n")
        under_way = self._under_way(run, pending)
        history = run.history
        left = max(0, run.budget - len(history))
        require_left(run.budget, left, under_way=len(under_way), n=n)
        made, question = self._made, (history, run.budget, [one.x for one in under_way])
        with self._turn:
            if self._answer is None or self._answer[0] != question or len(self._answer[1]) < n:
                found = proposals(
                    made.policy,
                    self._model.state(history, run.budget),
                    made.space,
                    made.configurations,
                    seed=self._seed,
                    n=n,
                    under_way=[one.point[0] for one in under_way],
                )
                self._answer = question, found
            few = made.configurations
            named = made.space.decode if few is None else few.at
            points = [(named(x), tuple(x.tolist())) for x in self._answer[1][:n]]
            self._asked |= {key(params): x for params, x in points}
        return points

    def exactly(self, params: Mapping[str, Value]) -> tuple[float, ...] | None:
        """The point that was proposed with these parameters, if they were."""
        return self._asked.get(key(params))

    def _under_way(self, run: RunState, pending: Sequence[Pending]) -> list[Evaluation]:
        if not isinstance(pending, Sequence) or isinstance(pending, str):
            raise DataError(
                f"`pending` must be a list of evaluations under way, but is {brief(pending)}."
            )
        own = [line.evaluation for line in run.pending]
        known = {key(one.params) for one in own}
        others = [one if isinstance(one, Evaluation) else self._placed(one) for one in pending]
        return [*own, *(one for one in others if key(one.params) not in known)]

    def _placed(self, params: Mapping[str, object]) -> Evaluation:
        cleaned = self._made.space.clean(params)
        x = self.exactly(cleaned) or tuple(self._made.space.encode(cleaned).tolist())
        return Evaluation(cleaned, None, x)
