"""`Optimizer`: the verbs of the one BO loop, `propose` and `observe`, with the caller between."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast, get_args

from metabo.errors import DataError, OptionError, brief, unknown
from metabo.gp import Prior
from metabo.journal import Journal
from metabo.optimizer.asking import Asking, Pending
from metabo.optimizer.configurations import CandidatesName
from metabo.optimizer.evaluation import Direction, Evaluation, best_of, require_value
from metabo.optimizer.header import arguments, begun_with, require_same
from metabo.optimizer.model import Model
from metabo.optimizer.proposer import AF, default_af, proposer
from metabo.optimizer.run import Run
from metabo.optimizer.surrogate import PriorName, described, surrogate
from metabo.policies import Policy, SearchName
from metabo.rules import BUDGET, SEED
from metabo.space import Parameter, Space, Value
from metabo.space.schema import to_json
from metabo.state import BOState
from metabo.version import __version__


class Optimizer:
    """Asks for evaluations and is told their values; its history is its whole state.

    Any number of threads may use one, and any number of processes may have one on the same
    journal.

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
            raise OptionError(
                "An `Optimizer` needs a `budget`, such as `budget=30`.",
                shell="A run needs a budget. Give one, such as `--budget 30`.",
            )
        budget = made.artifact.budget if budget is None and made.artifact else budget
        BUDGET.require("budget", budget)
        SEED.require("seed", seed)
        known = None if made.artifact is None else made.artifact.card.get("direction")
        direction = cast(Direction, direction or known or "minimize")
        if direction not in get_args(Direction):
            raise unknown("direction", str(direction), get_args(Direction))
        assert budget is not None
        self.space: Space = made.space
        self.policy: Policy = made.policy
        self.configurations = made.configurations
        """What it proposes among; None for the whole space."""
        self.seed, self.direction = int(seed), direction
        self._surrogate = surrogate(prior, made.artifact, made.policy, made.space.dim)
        self._artifact = made.artifact
        self._model = Model(self._surrogate, direction, made.space.dim)
        self._asking = Asking(made, self._model, self.seed)
        self.settings: dict[str, object] = {
            "space": to_json(self.space),
            "direction": direction,
            "af": made.identity,
            "budget": int(budget),
            "seed": self.seed,
            "prior": self._surrogate.record,
            "search": search,
            "candidates": "space" if made.configurations is None else "table",
            "metabo": __version__,
        }
        """What the run is, beside its history, as the journal keeps it."""
        self._run = Run(self.space, int(budget))
        if journal is not None:
            self._take_up_journal(Journal.begin(Path(journal), self.settings))

    @classmethod
    def open(
        cls, journal: str | Path, *, af: AF | None = None, read_only: bool = False
    ) -> "Optimizer":
        """Go on with the run in a journal, with the settings in it.

        Args:
            journal: The file.
            af: Where the acquisition function is now, if it was an object or its file has moved.
            read_only: Whether to look only: nothing can be told then.
        """
        known = Journal(Path(journal))
        optimizer = cls(**arguments(known.path, known.header, af))
        optimizer._take_up_journal(known, read_only=read_only)
        return optimizer

    def close(self) -> None:
        """End the work with the journal: nothing can be told any more."""
        self._run.close()

    def __enter__(self) -> "Optimizer":
        """Use it in a `with` statement, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def budget(self) -> int:
        """Evaluations in all."""
        return self._run.state.budget

    @property
    def history(self) -> tuple[Evaluation, ...]:
        """All that was told and not forgotten, in order.

        What other processes told is in it after the next `ask`, `tell` or `refresh`.
        """
        return self._run.state.history

    @property
    def pending(self) -> tuple[Evaluation, ...]:
        """Points given out by `reserve` and not told yet, the oldest first."""
        return tuple(line.evaluation for line in self._run.state.pending)

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the best value, the first of equals; None before any value."""
        return best_of(self.history, self.direction)

    @property
    def n_told(self) -> int:
        """Evaluations told and not forgotten, failed ones included."""
        return len(self.history)

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
        return self._model.state(self.history, self.budget)

    def refresh(self) -> None:
        """Read what other processes have told since."""
        self._run.refresh()

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
        return [params for params, _ in self._asking.points(self._run.refresh(), n, pending)]

    def reserve(self, n: int = 1) -> list[dict[str, Value]]:
        """Like `ask_batch`, but what is given out counts as under way until it is told.

        The journal remembers it, so that two benches, or two processes, never get the same point.
        """
        points = self._run.reserve(lambda run: self._asking.points(run, n))
        return [params for params, _ in points]

    @property
    def can_reserve(self) -> bool:
        """Whether `reserve` can remember what it gives out: not in a journal of format 1."""
        return self._run.can_reserve

    def release(self, params: Mapping[str, object]) -> None:
        """Give up a point that `reserve` gave out: it is no longer under way."""
        self._run.release(params)

    def tell(self, params: Mapping[str, object], value: float) -> None:
        """Add an evaluation, asked for or not; also beyond the budget, since data is data.

        A point that was asked for enters the model exactly as it was proposed, another one as its
        values are encoded.
        """
        self._run.tell(params, require_value(value), known=self._asking.exactly)

    def tell_failure(self, params: Mapping[str, object]) -> None:
        """Add an evaluation that gave no value: it counts as spent.

        The model takes it to be as bad as the worst value so far (before any value, to be what
        the model expects everywhere), so that the neighbourhood is avoided but not forbidden.
        """
        self._run.tell(params, None, known=self._asking.exactly)

    def forget(self, number: int) -> Evaluation:
        """Take back a wrong result: it no longer counts, but stays in the journal.

        Args:
            number: The `number` of the evaluation in `history`; others keep theirs.

        Returns:
            What was taken back.
        """
        return self._run.forget(number)

    def extend(self, budget: int) -> None:
        """Go on to a larger budget, also when the present one is spent."""
        self._run.extend(budget)

    def take_up(self, history: Iterable[Evaluation]) -> None:
        """Add the evaluations of another run in the same space, to the last bit of their `x`."""
        for one in history:
            if not isinstance(one, Evaluation):
                raise DataError(f"`take_up` needs `Evaluation`s, but got {brief(one)}.")
            value = None if one.value is None else require_value(one.value)
            self._run.tell(one.params, value, known=lambda _, x=one.x: x)  # type: ignore[misc]

    def __repr__(self) -> str:
        return (
            f"Optimizer({list(self.space.parameters)}, {self.n_told} of {self.budget} told, "
            f"{self.direction}, prior {self.prior_source})"
        )

    def _take_up_journal(self, journal: Journal, *, read_only: bool = False) -> None:
        """Go on with the run in a journal, if it is one with these settings."""
        known, budget = begun_with(journal.path, journal.header)
        run = Run(known, budget, journal, is_read_only=read_only)
        require_same(
            *(journal.path, journal.header, self.settings),
            budget=run.state.budget,
            artifact=self._artifact,
        )
        self._run = run
