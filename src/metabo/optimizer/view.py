"""`RunView`: everything that can be read from a run without changing it."""

from metabo.gp import Prior
from metabo.optimizer.evaluation import Direction, Evaluation, best_of
from metabo.optimizer.header import header_of
from metabo.optimizer.model import Model
from metabo.optimizer.run import Run
from metabo.optimizer.setup import Setup
from metabo.optimizer.surrogate import described
from metabo.policies import Policy
from metabo.space import Space
from metabo.state import BOState


class RunView:
    """The settings, the history and the model of a run; the read-only half of `Optimizer`."""

    def __init__(self, made: Setup) -> None:
        """View a run that has no evaluations yet.

        Args:
            made: The run's space, settings, policy and surrogate.
        """
        self.space: Space = made.space
        """The parameters of the run."""
        self.policy: Policy = made.policy
        """The policy that chooses the next point."""
        self.configurations = made.configurations
        """The only points that may be proposed; None for the whole space."""
        self.seed: int = made.settings.seed
        """The random seed of the run."""
        self.direction: Direction = made.direction
        """Whether small values (`minimize`) or large values (`maximize`) are better."""
        self.settings: dict[str, object] = header_of(made.space, made.settings)
        """The space and the settings of the run, with every default resolved, in the form that a
        journal stores."""
        self._made = made
        self._model = Model(made.surrogate, made.direction, made.space.dim)
        self._run = Run(made.space, made.budget)

    @property
    def budget(self) -> int:
        """The number of evaluations in the whole run."""
        return self._run.state.budget

    @property
    def history(self) -> tuple[Evaluation, ...]:
        """All evaluations that were told and not forgotten, in order.

        Results that other processes told appear after the next `ask`, `tell` or `refresh`.
        """
        return self._run.state.history

    @property
    def pending(self) -> tuple[Evaluation, ...]:
        """Points that `reserve` gave out and whose results are not told yet, oldest first."""
        return tuple(line.evaluation for line in self._run.state.pending)

    @property
    def best(self) -> Evaluation | None:
        """The evaluation with the best value, the earliest of equals; None before any value."""
        return best_of(self.history, self.direction)

    @property
    def n_told(self) -> int:
        """The number of evaluations told and not forgotten, including failed ones."""
        return len(self.history)

    @property
    def remaining(self) -> int:
        """The number of evaluations left of the budget."""
        return max(0, self.budget - self.n_told)

    @property
    def can_reserve(self) -> bool:
        """Whether `reserve` works: a journal of format 1 cannot record reserved points."""
        return self._run.can_reserve

    @property
    def prior_source(self) -> str:
        """Where the GP's prior comes from, in words."""
        text = described(self._made.surrogate, self.n_told)
        if self._made.surrogate.is_informed:
            text += f"; past tasks fit with weight {1 - float(self.state.guard):.2g}"
        return text

    @property
    def prior(self) -> Prior:
        """The GP's prior at this point of the run."""
        return self.state.gp.prior

    @property
    def state(self) -> BOState:
        """The run as the policy sees it: one episode in the unit cube, larger values better."""
        return self._model.state(self.history, self.budget)

    def refresh(self) -> None:
        """Read the results that other processes have told in the meantime."""
        self._run.refresh()
