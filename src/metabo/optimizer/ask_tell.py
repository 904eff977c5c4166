"""`Optimizer`: the verbs of the one BO loop, `propose` and `observe`, with the caller between."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast, get_args

import torch
from torch import Tensor

from metabo.errors import DataError, MetaBOError, OptionError, unknown
from metabo.gp import Prior
from metabo.journal import Journal, read
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.evaluation import Direction, Evaluation, model_values, require_value
from metabo.optimizer.proposals import key, proposals, require_left
from metabo.optimizer.proposer import AF, default_af, proposer
from metabo.optimizer.record import arguments, evaluation_record, read_history, require_same
from metabo.optimizer.surrogate import PriorName, described, is_made_at_once, say_once, surrogate
from metabo.options import require_whole
from metabo.policies import Policy, SearchName
from metabo.schema import to_json
from metabo.shapes import Float
from metabo.space import Parameter, Space, Value
from metabo.state import BOState
from metabo.version import __version__

MAX_BUDGET = 10_000
Pending = Mapping[str, object] | Evaluation


class Optimizer:
    """Asks for evaluations and is told their values; its history is its whole state.

    ```
    optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=20)
    for _ in range(20):
        params = optimizer.ask()
        optimizer.tell(params, (params["x"] - 0.3) ** 2)
    print(optimizer.best)
    ```
    """

    def __init__(
        self,
        space: Space | Mapping[str, Parameter] | None = None,
        *,
        budget: int | None = None,
        af: AF | None = None,
        direction: Direction | None = None,
        seed: int = 0,
        prior: Prior | PriorName | None = None,
        search: SearchName = "gradient",
        candidates: CandidatesName | None = None,
        journal: str | Path | None = None,
    ) -> None:
        """Begin a run.

        Args:
            space: Parameters by name; None for those that the artifact was trained on.
            budget: Evaluations in all, which a learned AF plans with; None for the artifact's.
            af: A classical method (`ei`, `logei`, `pi`, `ucb:beta=9`, `random`), an artifact by
                name or file, or an acquisition function or policy itself. None for the learned AF
                for any space, `gp-matern52`, where it is installed, else `logei`.
            direction: `minimize` or `maximize`; if None, that of the table which the artifact was
                trained on, and else `minimize`.
            seed: Of the random numbers, which are a function of it and of the step.
            prior: Of the GP: the `artifact`'s, `fitted` to the history, or a `Prior`. None for
                the artifact's where there is one, else `fitted`. A fitted prior sees
                standardized values, the others values as told: a learned AF knows those of its
                training.
            search: How an acquisition function is maximized: `gradient`, `grid` or `sobol`.
            candidates: What may be proposed: the configurations of the `table` that an artifact
                was trained on, or any point of the `space`. None for the table's where there are
                any.
            journal: File that keeps what is told, durably. If it exists the run in it goes on;
                its settings must be these.
        """
        made = proposer(default_af(budget) if af is None else af, space, search, candidates)
        if budget is None and made.artifact is None:
            raise OptionError("An `Optimizer` needs a `budget`, such as `budget=30`.")
        budget = made.artifact.budget if budget is None and made.artifact else budget
        require_whole("budget", budget, 1, MAX_BUDGET)
        require_whole("seed", seed, -(2**63), 2**63)
        known = None if made.artifact is None else made.artifact.card.get("direction")
        direction = cast(Direction, direction or known or "minimize")
        if direction not in get_args(Direction):
            raise unknown("direction", str(direction), get_args(Direction))
        assert budget is not None
        self.space: Space = made.space
        self.policy: Policy = made.policy
        self.configurations = made.configurations
        """What it proposes among; None for the whole space."""
        self.budget, self.seed, self.direction = int(budget), int(seed), direction
        self._surrogate = surrogate(prior, made.artifact, made.policy, made.space.dim)
        self._history: list[Evaluation] = []
        self._is_read_only = False
        self._asked: dict[object, Float[Tensor, " D"]] = {}
        self._state: tuple[list[float], BOState] | None = None
        self._answer: tuple[object, list[Tensor]] | None = None
        self.settings: dict[str, object] = {
            "space": to_json(self.space),
            "direction": direction,
            "af": made.identity,
            "budget": self.budget,
            "seed": self.seed,
            "prior": self._surrogate.record,
            "search": search,
            "candidates": "space" if made.configurations is None else "table",
            "metabo": __version__,
        }
        """What the run is, beside its history, as the journal keeps it."""
        self._journal = None if journal is None else self._begun(Path(journal))

    @classmethod
    def open(
        cls, journal: str | Path, *, af: AF | None = None, read_only: bool = False
    ) -> "Optimizer":
        """Go on with the run in a journal, with the settings in it.

        Args:
            journal: The file.
            af: Where the acquisition function is now, if it was an object or its file has moved.
            read_only: Whether to look only: others may have the journal open, and nothing can be
                told.
        """
        path = Path(journal)
        content = read(path)
        header = content.header
        if header is None:
            raise DataError(f"The journal `{path}` is empty. Begin it with `metabo init`.")
        optimizer = cls(**arguments(path, header, af), journal=None if read_only else path)
        if read_only:
            require_same(path, header, optimizer.settings)
            optimizer._history = read_history(path, content.records, optimizer.space)
            optimizer._is_read_only = True
        return optimizer

    def close(self) -> None:
        """Let others open the journal; nothing can be told any more."""
        if self._journal is not None:
            self._journal.close()
            self._is_read_only = True

    def __enter__(self) -> "Optimizer":
        """Use it in a `with` statement, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def history(self) -> tuple[Evaluation, ...]:
        """All that was told, in order."""
        return tuple(self._history)

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the best value, the first of equals; None before any value."""
        done = [one for one in self._history if one.value is not None]
        choose = min if self.direction == "minimize" else max
        return choose(done, key=lambda one: one.value or 0.0) if done else None

    @property
    def n_told(self) -> int:
        """Evaluations told, failed ones included."""
        return len(self._history)

    @property
    def remaining(self) -> int:
        """Evaluations left of the budget."""
        return max(0, self.budget - self.n_told)

    @property
    def prior_source(self) -> str:
        """Where the GP's prior comes from, in words."""
        return described(self._surrogate, self.n_told)

    @property
    def prior(self) -> Prior:
        """The GP's prior at this point of the run."""
        return self.state.gp.prior

    @property
    def state(self) -> BOState:
        """The run as the policy sees it: one episode in the unit cube, larger values better."""
        values = model_values(self._history, self.direction)
        if self._state is None or self._state[0] != values:
            self._state = values, self._observed(values)
        return self._state[1]

    def ask(self, *, pending: Sequence[Pending] = ()) -> dict[str, Value]:
        """What to evaluate next. Changes nothing: asked twice, the answer is the same.

        Args:
            pending: Evaluations under way elsewhere, by parameters, or as an `Evaluation` whose
                `x` is kept to the last bit. They count as spent, and the model believes of them
                what it expects (the kriging believer).
        """
        return self.ask_batch(1, pending=pending)[0]

    def ask_batch(self, n: int, *, pending: Sequence[Pending] = ()) -> list[dict[str, Value]]:
        """The next `n` evaluations, each chosen as if those before it were under way."""
        require_whole("n", n, 1, MAX_BUDGET)
        under_way = [self._under_way(one) for one in pending]
        require_left(self.budget, self.remaining, under_way=len(under_way), n=n)
        question = (self.n_told, [x.tolist() for x in under_way])
        if self._answer is None or self._answer[0] != question or len(self._answer[1]) < n:
            run = self.policy, self.state, self.space, self.configurations
            self._answer = question, proposals(*run, seed=self.seed, n=n, under_way=under_way)
        named = self.space.decode if self.configurations is None else self.configurations.at
        answers = [named(x) for x in self._answer[1][:n]]
        self._asked |= {key(p): x for p, x in zip(answers, self._answer[1], strict=False)}
        return answers

    def tell(self, params: Mapping[str, object], value: float) -> None:
        """Add an evaluation, asked for or not; also beyond the budget, since data is data.

        A point that was asked for enters the model exactly as it was proposed, another one as its
        values are encoded.
        """
        number = require_value(value)
        self._add(params, number)

    def tell_failure(self, params: Mapping[str, object]) -> None:
        """Add an evaluation that gave no value: it counts as spent.

        The model takes it to be as bad as the worst value so far (before any value, to be what
        the model expects everywhere), so that the neighbourhood is avoided but not forbidden.
        """
        self._add(params, None)

    def take_up(self, history: Iterable[Evaluation]) -> None:
        """Add the evaluations of another run in the same space, to the last bit of their `x`."""
        for one in history:
            value = None if one.value is None else require_value(one.value)
            self._append(self.space.clean(one.params), value, one.point[0])

    def __repr__(self) -> str:
        return (
            f"Optimizer({list(self.space.parameters)}, {self.n_told} of {self.budget} told, "
            f"{self.direction}, prior {self.prior_source})"
        )

    def _add(self, params: Mapping[str, object], value: float | None) -> None:
        cleaned = self.space.clean(params)
        self._append(cleaned, value, self._place(cleaned))

    def _append(
        self, params: dict[str, Value], value: float | None, x: Float[Tensor, " D"]
    ) -> None:
        if self._is_read_only:
            raise MetaBOError("The journal is not open for writing. Open it again to tell.")
        one = Evaluation(params, value, tuple(x.tolist()))
        if self._journal is not None:
            self._journal.append(evaluation_record(one))
        self._history.append(one)

    def _begun(self, path: Path) -> Journal:
        """The journal, with this run's settings in it; what it holds is taken up."""
        journal = Journal(path)
        try:
            if journal.header is None:
                journal.begin(self.settings)
            else:
                require_same(path, journal.header, self.settings)
            self._history = read_history(path, journal.records, self.space)
        except BaseException:
            journal.close()
            raise
        return journal

    def _under_way(self, one: Pending) -> Float[Tensor, " D"]:
        if isinstance(one, Evaluation):
            return one.point[0]
        return self._place(self.space.clean(one))

    def _place(self, params: Mapping[str, Value]) -> Float[Tensor, " D"]:
        """The point of the cube: the proposed one if these parameters were asked for."""
        known = self._asked.get(key(params))
        return self.space.encode(params) if known is None else known

    def _observed(self, values: list[float]) -> BOState:
        """The state after the history, taking up an earlier one where that is a beginning."""
        known, state = self._state or ([], None)
        x = torch.tensor([one.x for one in self._history], dtype=torch.float64)
        x = x.view(-1, self.space.dim)
        prior, seen = self._surrogate.model(x, values)
        y = torch.tensor(seen, dtype=torch.float64)
        say_once(len(known), len(seen))
        if is_made_at_once(self._surrogate, len(seen)):
            return BOState.after(prior, x[None], y[None], budget=self.budget)
        if state is None or values[: len(known)] != known:
            known, state = [], BOState.start(prior, episodes=1, budget=self.budget)
        for t in range(len(known), len(seen)):  # as in a rollout, to the bit
            state = state.observe(x[t : t + 1], y[t : t + 1])
        return state
