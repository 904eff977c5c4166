"""The next points of the unit cube that a policy proposes, no discrete point twice."""

from collections.abc import Sequence

import torch
from torch import Tensor

from metabo.errors import MetaBOError
from metabo.optimizer.configurations import Configurations
from metabo.optimizer.evaluation import key
from metabo.policies import SAME, Policy
from metabo.seeding import Noise
from metabo.shapes import Float
from metabo.space import Space
from metabo.space.discrete import first_points
from metabo.state import BOState

_EPISODE = torch.tensor([0])
"""The number of the episode whose random numbers a run draws: the first of a rollout."""
_REDRAWS = 64
"""Number of random points to try before the points of a discrete space are enumerated."""
_CLOSE = 1e-9
"""Largest distance between projected points that stand for the same parameters."""


def next_queries(
    policy: Policy,
    state: BOState,
    space: Space,
    configurations: Configurations | None = None,
    *,
    seed: int,
    n: int,
    under_way: Sequence[Tensor],
) -> list[Float[Tensor, " D"]]:
    """Choose `n` queries, each as if those before it had given the value the model expects."""
    found: list[Tensor] = []
    state = believing(state, under_way)
    while len(found) < n:
        if configurations is not None:
            configurations.require_left(state.history)
        found.append(_proposed(policy, state, space, seed))
        state = believing(state, found[-1:]) if len(found) < n else state
    return found


def require_left(budget: int, remaining: int, *, under_way: int, n: int) -> None:
    """Raise `MetaBOError` unless `n` evaluations are left of the budget."""
    left, told = remaining - under_way, f" ({under_way} under way)" if under_way else ""
    longer = "a larger budget with `metabo extend RUN.jsonl --budget N`"
    if left <= 0:
        spent = f"The budget of {budget} evaluations is spent{told}."
        given_up = ", or give up a point under way with `--drop`" if under_way else ""
        raise MetaBOError(
            f"{spent} Continue with a larger one: `optimizer.extend(budget)`.",
            shell=f"{spent} Give the run {longer}{given_up}.",
        )
    if n > left:
        asked = (
            f"{n} evaluations were asked for, but {left} of the budget of {budget} "
            f"{'is' if left == 1 else 'are'} left{told}."
        )
        raise MetaBOError(
            f"{asked} Ask for fewer, or extend the budget: `optimizer.extend(budget)`.",
            shell=f"{asked} Ask for fewer, or give the run {longer}.",
        )


def believing(state: BOState, points: Sequence[Tensor]) -> BOState:
    """Return the state as if each point had given the value that the model expects."""
    for x in points:
        mean, _ = state.gp.predict(x[None, None])
        state = state.observe(x[None], mean[:, 0])
    return state


def _proposed(policy: Policy, state: BOState, space: Space, seed: int) -> Float[Tensor, " D"]:
    noise = Noise.at(seed, episodes=_EPISODE, step=state.n_observed)
    x = policy.propose(state, noise.stream("policy")).x[0]
    projected = space.project(x)
    # A point that already belongs to the space is kept bit for bit.
    x = x if bool(((projected - x).abs() <= SAME).all()) else projected
    if space.size is None:
        return x
    history = state.history.x[0]
    if len(history) >= space.size and len(_keys(space, history)) >= space.size:
        raise MetaBOError(
            f"All {space.size} points of the space are evaluated or under way. Nothing is left to "
            "ask for."
        )
    # A custom policy, or random search in a large space, may repeat a point.
    cells = space.project(history)
    for count in range(_REDRAWS):
        # Decoding a long history takes seconds; only points close by can be the same.
        is_close = ((cells - space.project(x)).abs() <= _CLOSE).all(-1)
        if key(space.decode(x)) not in _keys(space, history[is_close]):
            return x
        x = space.project(noise.stream(f"again {count}").uniform(space.dim)[0])
    seen = _keys(space, history)
    few = first_points(space, len(seen) + 1)
    return next(x for x in few if key(space.decode(x)) not in seen)


def _keys(space: Space, points: Float[Tensor, "N D"]) -> set[object]:
    return {key(space.decode(point)) for point in points}
