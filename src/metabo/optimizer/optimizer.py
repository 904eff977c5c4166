"""`Optimizer`: the Bayesian optimization loop, with the caller evaluating the points."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from metabo.errors import DataError, brief
from metabo.journal import Journal
from metabo.optimizer.af import AF
from metabo.optimizer.evaluation import Evaluation, require_value
from metabo.optimizer.header import begun_with, require_recordable, settings_in
from metabo.optimizer.proposal import Proposal
from metabo.optimizer.proposing import Pending, Proposer
from metabo.optimizer.run import Run
from metabo.optimizer.settings import RunOptions, RunSettings, combined, spelled_out
from metabo.optimizer.setup import Setup, setup
from metabo.optimizer.view import RunView
from metabo.space import Parameter, Space, Value


class Optimizer(RunView):
    """Proposes points to evaluate and learns from their values; its history is its whole state.

    Any number of threads may share one optimizer, and any number of processes one journal.

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
        """Start a run, or continue the one in a journal.

        Args:
            space: Parameters by name; None for those that the artifact was trained on.
            journal: File that durably records every result. If it exists, the run in it is
                continued; that run must have been started with the same settings.
            settings: The options of the run as one object; None for the defaults.
            options: Single options of `RunSettings` as keywords: `budget`, `af`, `direction`,
                `seed`, `prior`, `search` and `candidates`. They take precedence over `settings`.

        Raises:
            OptionError: If an option is not accepted, or the journal has other settings.
            ShapeError: If the AF or the prior is for a different number of coordinates.
            DataError: If an artifact or the journal cannot be read.
            OutputError: If the journal cannot be written.
        """
        self._begin(setup(space, combined(settings, options)))
        if journal is not None:
            require_recordable(self._made.settings.prior)
            begun = Journal.begin(Path(journal), self.settings)
            self._run = Run.resume(begun, self.space, self._made.settings)

    def _begin(self, made: Setup) -> None:
        super().__init__(made)
        self._proposer = Proposer(made, self._model)

    @classmethod
    def of(cls, made: Setup) -> "Optimizer":
        """Start a run without a journal from a setup, which several runs may share."""
        optimizer = cls.__new__(cls)
        optimizer._begin(made)
        return optimizer

    @classmethod
    def open(
        cls, journal: str | Path, *, af: AF | None = None, read_only: bool = False
    ) -> "Optimizer":
        """Continue the run in a journal with the settings in it.

        Args:
            journal: The journal's file.
            af: The acquisition function, if it was an object or its file has moved.
            read_only: Whether to only read: every change to the run is then refused.

        Returns:
            An optimizer with the history of the journal.

        Raises:
            DataError: If the file is missing, damaged or not a journal.
            OptionError: If the acquisition function is needed and not given, or is a different
                one.

        Examples:
            >>> import metabo
            >>> space = {"x": metabo.Float(-1, 2)}
            >>> with metabo.Optimizer(space, budget=9, af="ei", journal="run.jsonl") as optimizer:
            ...     optimizer.tell({"x": 0.5}, 1.25)
            >>> metabo.Optimizer.open("run.jsonl").best.value
            1.25
        """
        known = Journal(Path(journal))
        space, _ = begun_with(known.path, known.header)
        optimizer = cls(space, settings=settings_in(known.path, known.header, af))
        made = optimizer._made
        optimizer._run = Run.resume(known, made.space, made.settings, is_read_only=read_only)
        return optimizer

    def close(self) -> None:
        """Close the journal; further changes to the run are refused."""
        self._run.close()

    def __enter__(self) -> "Optimizer":
        """Enter a `with` statement, which closes the journal at its end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def propose(
        self, n: int = 1, *, pending: Sequence[Pending] = (), reserve: bool = False
    ) -> list[Proposal]:
        """Choose the next `n` points, each as if those before it were being evaluated.

        Args:
            n: The number of points.
            pending: Evaluations under way elsewhere, given by their parameters, or as an
                `Evaluation` whose `x` is kept to the last bit. They count against the budget, and
                the model assumes that they will give the value it expects (the kriging believer).
            reserve: Whether the points count as under way until their results are told. The
                journal records them, so that two processes never get the same point.

        Returns:
            The parameters of each point, its position in the unit cube, and why it was chosen.
            Without `reserve` nothing changes: a second call gives the same answer.

        Raises:
            MetaBOError: If fewer than `n` evaluations of the budget, or fewer than `n` points
                that may be proposed, are left.
            OptionError: If points are to be reserved in a journal of format 1.

        Examples:
            >>> import metabo
            >>> optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=9, af="ei")
            >>> optimizer.tell({"x": -1.0}, 0.5)
            >>> optimizer.tell({"x": 2.0}, 0.75)
            >>> (proposal,) = optimizer.propose()
            >>> -1 < proposal.params["x"] < 2, proposal.why.best
            (True, 0.5)
        """
        if reserve:
            return self._run.reserve(lambda run: self._proposer.propose(run, n, pending))
        return self._proposer.propose(self._run.refresh(), n, pending)

    def ask(self, *, pending: Sequence[Pending] = ()) -> dict[str, Value]:
        """Choose the next point to evaluate; `propose` also says why it was chosen.

        Args:
            pending: Evaluations under way elsewhere, as for `propose`.

        Returns:
            The parameters by name. Nothing changes: a second call gives the same answer.

        Raises:
            MetaBOError: If the budget is spent, or no point is left.
        """
        return self.propose(pending=pending)[0].params

    def ask_batch(self, n: int, *, pending: Sequence[Pending] = ()) -> list[dict[str, Value]]:
        """Choose the next `n` points, to be evaluated side by side.

        Args:
            n: The number of points.
            pending: Evaluations under way elsewhere, as for `propose`.

        Returns:
            The parameters of each point, by name.

        Raises:
            MetaBOError: If fewer than `n` evaluations, or points, are left.
        """
        return [one.params for one in self.propose(n, pending=pending)]

    def reserve(self, n: int = 1) -> list[dict[str, Value]]:
        """Choose the next `n` points, and record that they are under way until they are told.

        Args:
            n: The number of points.

        Returns:
            The parameters of each point, by name; no two processes get the same point.

        Raises:
            MetaBOError: If fewer than `n` evaluations, or points, are left.
            OptionError: If the journal is of format 1, which cannot record reserved points.

        Examples:
            >>> import metabo
            >>> optimizer = metabo.Optimizer({"x": metabo.Float(-1, 2)}, budget=9, af="ei")
            >>> first, second = optimizer.reserve(2)
            >>> optimizer.tell(first, 0.5)
            >>> optimizer.release(second)
            >>> len(optimizer.pending)
            0
        """
        return [one.params for one in self.propose(n, reserve=True)]

    def release(self, params: Mapping[str, object]) -> None:
        """Give up a point that `reserve` gave out, so that it may be proposed again.

        Args:
            params: The parameters of the point.

        Raises:
            MetaBOError: If the point is not under way, or the journal cannot be written.
        """
        self._run.release(params)

    def tell(self, params: Mapping[str, object], value: float) -> None:
        """Add the result of an evaluation, whether or not its point was proposed.

        A proposed point enters the model exactly as it was proposed. Results beyond the budget
        are accepted, too.

        Args:
            params: The parameters of the point.
            value: The finite value that the evaluation gave.

        Raises:
            MetaBOError: If the parameters or the value do not fit, or the journal cannot be
                written; nothing is added then.
        """
        self._run.tell(params, require_value(value), known=self._proposer.exactly)

    def tell_failure(self, params: Mapping[str, object]) -> None:
        """Add an evaluation that gave no value; it counts against the budget.

        The model treats it as being as bad as the worst value so far (before any value, as the
        value it expects everywhere), so that the neighbourhood is avoided but not forbidden.

        Args:
            params: The parameters of the point.

        Raises:
            MetaBOError: If the parameters do not fit, or the journal cannot be written.
        """
        self._run.tell(params, None, known=self._proposer.exactly)

    def forget(self, number: int) -> Evaluation:
        """Withdraw a wrong result; it no longer counts, but stays in the journal.

        Args:
            number: The `number` of the evaluation in `history`; the others keep theirs.

        Returns:
            The evaluation that was withdrawn.

        Raises:
            MetaBOError: If there is no such evaluation, or it is already withdrawn.
        """
        return self._run.forget(number)

    def extend(self, budget: int) -> None:
        """Give the run a larger budget, whether or not the present one is spent.

        Args:
            budget: The new number of evaluations in the whole run.

        Raises:
            OptionError: If the budget is not larger than the present one.
        """
        self._run.extend(budget)

    def take_up(self, history: Iterable[Evaluation]) -> None:
        """Add the evaluations of another run in the same space, each exactly at its `x`.

        Args:
            history: The evaluations, such as the `history` of another optimizer.

        Raises:
            DataError: If something else than evaluations is given.
            MetaBOError: If an evaluation does not fit the space.
        """
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
