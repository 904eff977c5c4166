"""A run as the policy sees it: one episode in the unit cube, larger values better."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from metabo.journal.turn import Turn
from metabo.optimizer.evaluation import Direction, Evaluation, model_values
from metabo.optimizer.surrogate import Surrogate, is_made_at_once, say_once
from metabo.shapes import Float
from metabo.state import BOState


class Model:
    """Computes the state after a history, and keeps it until the history changes."""

    def __init__(self, surrogate: Surrogate, direction: Direction, dim: int) -> None:
        self._surrogate, self._direction, self._dim = surrogate, direction, dim
        self._turn = Turn()
        self._known: tuple[Float[Tensor, "t D"], list[float], BOState] | None = None

    def state(self, history: Sequence[Evaluation], budget: int) -> BOState:
        """Return the state after these evaluations of a run with this budget."""
        x = torch.tensor([one.x for one in history], dtype=torch.float64).view(-1, self._dim)
        values = model_values(history, self._direction)
        with self._turn:
            known = self._known
            if known is None or not (torch.equal(known[0], x) and known[1] == values):
                known = x, values, self._observed(x, values, budget)
            state = known[2]
            if int(state.budget) != budget:
                state = replace(state, budget=torch.full_like(state.budget, budget))
            self._known = x, values, state
            return state

    def _observed(self, x: Float[Tensor, "t D"], values: list[float], budget: int) -> BOState:
        """Compute the state, starting from the known one if its history is a prefix."""
        prior, seen = self._surrogate.model(x, values)
        y = torch.tensor(seen, dtype=torch.float64)
        say_once(0 if self._known is None else len(self._known[1]), len(seen))
        if is_made_at_once(self._surrogate, len(seen)):
            return BOState.after(prior, x[None], y[None], budget=budget)
        begun, state = 0, BOState.start(prior, episodes=1, budget=budget)
        if self._known is not None:
            earlier, told, known = self._known
            if told == values[: len(told)] and torch.equal(earlier, x[: len(told)]):
                begun, state = len(told), known
        for t in range(begun, len(seen)):  # bit for bit as in a rollout
            state = state.observe(x[t : t + 1], y[t : t + 1])
        return state
