"""The next points of the cube: what a policy proposes, never a discrete point twice."""

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
"""The number by which a run draws its random numbers: that of the first episode of a rollout."""
_REDRAWS = 64
_CLOSE = 1e-9
"""Points that are the same parameters lie no further apart, once projected."""


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
    """The next `n` queries, each as if those before it had given what the model expects."""
    found: list[Tensor] = []
    state = believing(state, under_way)
    while len(found) < n:
        if configurations is not None:
            configurations.require_left(state.history)
        found.append(_proposed(policy, state, space, seed))
        state = believing(state, found[-1:]) if len(found) < n else state
    return found


def require_left(budget: int, remaining: int, *, under_way: int, n: int) -> None:
    """Raise unless `n` evaluations are left of the budget."""
    left, told = remaining - under_way, f" ({under_way} under way)" if under_way else ""
    longer = "a larger budget with `metabo extend RUN.jsonl --budget N`"
    if left <= 0:
        spent = f"The budget of {budget} evaluations is spent{told}."
        given_up = ", or give up a point under way with `--drop`" if under_way else ""
        raise MetaBOError(
            f"{spent} Go on with a larger one: `optimizer.extend(budget)`.",
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
    """The state as if each point had been evaluated and had given what the model expects."""
    for x in points:
        mean, _ = state.gp.predict(x[None, None])
        state = state.observe(x[None], mean[:, 0])
    return state


def _proposed(policy: Policy, state: BOState, space: Space, seed: int) -> Float[Tensor, " D"]:
    noise = Noise.at(seed, episodes=_EPISODE, step=state.n_observed)
    x = policy.propose(state, noise.stream("policy")).x[0]
    projected = space.project(x)
    # A point that is one of the space's already stays what it is, to the bit.
    x = x if bool(((projected - x).abs() <= SAME).all()) else projected
    if space.size is None:
        return x
    history = state.history.x[0]
    if len(history) >= space.size and len(_keys(space, history)) >= space.size:
        raise MetaBOError(
            f"All {space.size} points of the space are evaluated or under way. Nothing is left to "
            "ask for."
        )
    # A policy of the user's own, or random search in a large space, may repeat itself.
    cells = space.project(history)
    for count in range(_REDRAWS):
        # To decode a long history takes seconds; only what lies close can be the same.
        is_close = ((cells - space.project(x)).abs() <= _CLOSE).all(-1)
        if key(space.decode(x)) not in _keys(space, history[is_close]):
            return x
        x = space.project(noise.stream(f"again {count}").uniform(space.dim)[0])
    seen = _keys(space, history)
    few = first_points(space, len(seen) + 1)
    return next(x for x in few if key(space.decode(x)) not in seen)


def _keys(space: Space, points: Float[Tensor, "N D"]) -> set[object]:
    return {key(space.decode(point)) for point in points}
