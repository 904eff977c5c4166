"""`Optimizer`: the verbs of the one BO loop, `propose` and `observe`, with the caller between."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from metabo.errors import DataError, brief
from metabo.gp import Prior
from metabo.journal import Journal
from metabo.optimizer.af import AF
from metabo.optimizer.evaluation import Direction, Evaluation, best_of, require_value
from metabo.optimizer.header import begun_with, header_of, settings_in
from metabo.optimizer.model import Model
from metabo.optimizer.proposal import Proposal
from metabo.optimizer.proposing import Pending, Proposer
from metabo.optimizer.run import Run
from metabo.optimizer.settings import RunOptions, RunSettings, spelled_out
from metabo.optimizer.setup import Setup, setup
from metabo.optimizer.surrogate import described
from metabo.policies import Policy
from metabo.space import Parameter, Space, Value
from metabo.state import BOState


class Optimizer:
    """Asks for evaluations and is told their values; its history is its whole state.

    Any number of threads may share one, and any number of processes a journal.

    Examples:
        >>> import metabo
        >>> optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=4, af="ei")
        >>> while optimizer.remaining:
        ...     params = optimizer.ask()
        ...     optimizer.tell(params, (params["x"] - 0.3) ** 2)
        >>> optimizer.n_told, optimizer.best.value < 0.1
        (4, True)
    """

    @spelled_out()
    def __init__(
        self,
        space: Space | Mapping[str, Parameter] | None = None,
        *,
        journal: str | Path | None = None,
        settings: RunSettings | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        """Begin a run.

        Args:
            space: Parameters by name; None for those that the artifact was trained on.
            journal: File that keeps what is told, durably. If it exists, the run in it continues;
                it must have been begun with the same settings.
            settings: The options of the run as one object; None for the defaults.
            options: Single options of `RunSettings` as keywords: `budget`, `af`, `direction`,
                `seed`, `prior`, `search` and `candidates`. They take precedence over `settings`.

        Raises:
            OptionError: If an option is not accepted, or the journal has other settings.
            ShapeError: If the AF or the prior is for another number of coordinates.
            DataError: If an artifact or the journal cannot be read.
            OutputError: If the journal cannot be written.
        """
        self._prepare(setup(space, replace(settings or RunSettings(), **options)))
        if journal is not None:
            begun = Journal.begin(Path(journal), self.settings)
            self._run = Run.resume(begun, self.space, self._made.settings)

    def _prepare(self, made: Setup) -> None:
        self.space: Space = made.space
        self.policy: Policy = made.policy
        self.configurations = made.configurations
        """The only points that may be proposed; None for the whole space."""
        self.seed: int = made.settings.seed
        self.direction: Direction = made.direction
        self.settings: dict[str, object] = header_of(made.space, made.settings)
        """The space and the settings of the run, all of them chosen, as a journal keeps them."""
        self._made = made
        self._model = Model(made.surrogate, made.direction, made.space.dim)
        self._proposer = Proposer(made, self._model)
        self._run = Run(made.space, made.budget)

    @classmethod
    def of(cls, made: Setup) -> "Optimizer":
        """Begin a run without a journal; what `setup` made of its settings may serve many."""
        optimizer = cls.__new__(cls)
        optimizer._prepare(made)
        return optimizer

    @classmethod
    def open(
        cls, journal: str | Path, *, af: AF | None = None, read_only: bool = False
    ) -> "Optimizer":
        """Continue the run in a journal with the settings in it.

        Args:
            journal: The file.
            af: The acquisition function, if it was an object or its file has moved.
            read_only: Whether to look only: nothing can be told then.

        Returns:
            An optimizer with the history of the journal.

        Raises:
            DataError: If the file is missing, damaged or not a journal.
            OptionError: If the acquisition function has to be given, or is another one.
        """
        known = Journal(Path(journal))
        space, _ = begun_with(known.path, known.header)
        optimizer = cls(space, settings=settings_in(known.path, known.header, af))
        made = optimizer._made
        optimizer._run = Run.resume(known, made.space, made.settings, is_read_only=read_only)
        return optimizer

    def close(self) -> None:
        """Close the journal: nothing can be told any more."""
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
        return described(self._made.surrogate, self.n_told)

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

    def propose(
        self, n: int = 1, *, pending: Sequence[Pending] = (), reserve: bool = False
    ) -> list[Proposal]:
        """Choose the next `n` evaluations, each as if those before it were under way.

        Args:
            n: The number of points.
            pending: Evaluations under way elsewhere, by parameters, or as an `Evaluation` whose
                `x` is kept to the last bit. They count as spent, and the model takes them to have
                given what it expects (the kriging believer).
            reserve: Whether the points count as under way until they are told. The journal
                remembers them, so that two processes never get the same point.

        Returns:
            The points by their parameters, where they lie in the unit cube, and why they were
            chosen. Without `reserve` nothing changes: asked twice, the answer is the same.

        Raises:
            MetaBOError: If the budget, or the points that may be proposed, do not suffice.
            OptionError: If points are to be reserved in a journal of format 1.
        """
        if reserve:
            return self._run.reserve(lambda run: self._proposer.propose(run, n, pending))
        return self._proposer.propose(self._run.refresh(), n, pending)

    def ask(self, *, pending: Sequence[Pending] = ()) -> dict[str, Value]:
        """Say what to evaluate next: the parameters of `propose`.

        Args:
            pending: Evaluations under way elsewhere, as for `propose`.

        Returns:
            The parameters by name. Nothing changes: asked twice, the answer is the same.

        Raises:
            MetaBOError: If the budget is spent, or no point is left.
        """
        return self.propose(pending=pending)[0].params

    def ask_batch(self, n: int, *, pending: Sequence[Pending] = ()) -> list[dict[str, Value]]:
        """Say what to evaluate next, `n` points side by side: the parameters of `propose`.

        Raises:
            MetaBOError: If fewer than `n` evaluations, or points, are left.
        """
        return [one.params for one in self.propose(n, pending=pending)]

    def reserve(self, n: int = 1) -> list[dict[str, Value]]:
        """Like `ask_batch`, but the points count as under way until they are told.

        Returns:
            The parameters of each point, by name; no two processes get the same.

        Raises:
            MetaBOError: If fewer than `n` evaluations, or points, are left.
            OptionError: If the journal is of format 1, which cannot remember them.
        """
        return [one.params for one in self.propose(n, reserve=True)]

    @property
    def can_reserve(self) -> bool:
        """Whether `reserve` can remember what it gives out: not in a journal of format 1."""
        return self._run.can_reserve

    def release(self, params: Mapping[str, object]) -> None:
        """Give up a point that `reserve` gave out; it must be under way."""
        self._run.release(params)

    def tell(self, params: Mapping[str, object], value: float) -> None:
        """Add an evaluation, asked for or not; also beyond the budget, since data is data.

        A point that was asked for enters the model exactly as it was proposed.

        Raises:
            MetaBOError: If the parameters or the value do not fit, or the journal cannot be
                written; nothing was added then.
        """
        self._run.tell(params, require_value(value), known=self._proposer.exactly)

    def tell_failure(self, params: Mapping[str, object]) -> None:
        """Add an evaluation that gave no value: it counts as spent.

        The model takes it to be as bad as the worst value so far (before any value, to be what
        the model expects everywhere), so that the neighbourhood is avoided but not forbidden.

        Raises:
            MetaBOError: If the parameters do not fit, or the journal cannot be written.
        """
        self._run.tell(params, None, known=self._proposer.exactly)

    def forget(self, number: int) -> Evaluation:
        """Withdraw a wrong result: it no longer counts, but stays in the journal.

        Args:
            number: The `number` of the evaluation in `history`; the others keep theirs.

        Returns:
            The evaluation that was withdrawn.

        Raises:
            MetaBOError: If there is no such evaluation.
        """
        return self._run.forget(number)

    def extend(self, budget: int) -> None:
        """Continue to a larger budget, also when the present one is spent."""
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
