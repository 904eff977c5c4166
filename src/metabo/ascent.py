"""Projected BFGS in lockstep: maximize many small smooth functions at once inside a box.

Each row of a batch is its own problem, with its own dense estimate of the inverse Hessian. One
iteration evaluates all rows once, value and gradient together; a row whose trial point fails
Armijo's rule shortens its step and tries again in the next iteration, while the others move on. So
no row waits for another, and the cost is known in advance: `iterations` evaluations per row.

| symbol       | meaning                                          | shape   |
| ------------ | ------------------------------------------------ | ------- |
| `point`      | best point of each row so far, in `unit`s        | *n P    |
| `gradient`   | gradient there                                   | *n P    |
| `inverse`    | estimate of the inverse of minus the Hessian     | *n P P  |
| `step`       | the direction being tried, shortened on failure  | *n P    |
"""

from collections.abc import Callable

import torch
from torch import Tensor

from metabo.shapes import Float

_ARMIJO = 1e-4
_SHRINK = (0.1, 0.5)
"""Least and largest factor by which a failed step is shortened."""


def ascend(
    objective: Callable[[Tensor], Tensor],
    x: Float[Tensor, "*n P"],
    *,
    lower: Float[Tensor, " P"],
    upper: Float[Tensor, " P"],
    unit: Float[Tensor, "*#n P"],
    iterations: int,
    radius: float,
) -> tuple[Float[Tensor, "*n P"], Float[Tensor, "*n"]]:
    """Climb from each row of `x` to a point never worse; return the points and their values.

    Args:
        objective: Scores every row; row i of the result may depend on row i of the argument only.
        x: Starting points inside the box.
        lower: The box's lower corner.
        upper: The box's upper corner.
        unit: A natural length of each coordinate: the problem is solved in these units, where
            steps and curvatures of different coordinates compare.
        iterations: Evaluations of each row, at least 1.
        radius: Length of the first step and a tenth of the longest later one, in `unit`s (largest
            coordinate).
    """
    end = (upper - lower) / unit

    def place(point: Tensor) -> Tensor:
        # Rounding must not keep a point on the border from being exactly there.
        return torch.where(point >= end, upper, lower + point * unit)

    def evaluate(point: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            at = place(point).requires_grad_()
            value = objective(at)
            (gradient,) = torch.autograd.grad(value.sum(), at)
        return value.detach().nan_to_num(nan=-torch.inf), gradient.nan_to_num(0.0) * unit

    point = (x - lower) / unit
    value, gradient = evaluate(point)
    identity = torch.eye(point.shape[-1], dtype=point.dtype, device=point.device)
    inverse = identity.expand(*point.shape, point.shape[-1])
    is_first = torch.ones_like(value, dtype=torch.bool)
    step = _limit(_free(gradient, point, end), radius, is_first)
    for iteration in range(1, iterations):
        trial = (point + step).clamp_min(0).minimum(end)
        trial_value, trial_gradient = evaluate(trial)
        move = trial - point
        slope = (gradient * move).sum(-1)
        success = trial_value >= value + _ARMIJO * slope
        accepted = success[..., None]

        moved_inverse = _update(inverse, move, gradient - trial_gradient, is_first, identity)
        inverse = torch.where(accepted[..., None], moved_inverse, inverse)
        point = torch.where(accepted, trial, point)
        gradient = torch.where(accepted, trial_gradient, gradient)
        gain = trial_value - value
        value = torch.where(success, trial_value, value)
        is_first = is_first & ~success
        if iteration == iterations - 1:
            break
        # A failed step ends at the vertex of the parabola through what was seen, within bounds.
        factor = (-slope / (2 * (gain - slope))).nan_to_num(_SHRINK[0]).clamp(*_SHRINK)
        step = torch.where(
            accepted,
            _limit(_direction(inverse, gradient, point, end), 10 * radius, is_first),
            step * factor[..., None],
        )
    return place(point), value


def _direction(inverse: Tensor, gradient: Tensor, point: Tensor, end: Tensor) -> Tensor:
    """The quasi-Newton step in the coordinates that the box leaves free."""
    free_gradient = _free(gradient, point, end)
    free = free_gradient != 0
    # Rows and columns of held coordinates are left out, or their curvature would leak into the
    # others.
    step = ((inverse * free[..., None, :]) @ free_gradient[..., None])[..., 0] * free
    # Clipping at the border bends the step, perhaps so far that it no longer leads up. Then the
    # gradient, given the step's length, does.
    move = (point + step).clamp_min(0).minimum(end) - point
    rise = (move * free_gradient).sum(-1, keepdim=True)
    uphill = rise > 1e-3 * _length(move) * _length(free_gradient)
    plain = free_gradient * (_length(step) / _length(free_gradient).clamp_min(1e-300))
    return torch.where(uphill, step, plain)


def _length(vector: Tensor) -> Tensor:
    return vector.square().sum(-1, keepdim=True).sqrt()


def _free(gradient: Tensor, point: Tensor, end: Tensor) -> Tensor:
    """The gradient without the coordinates that sit on the border and want to leave."""
    held = ((point <= 0) & (gradient < 0)) | ((point >= end) & (gradient > 0))
    return gradient.masked_fill(held, 0.0)


def _limit(step: Tensor, radius: float, is_first: Tensor) -> Tensor:
    """Shorten long steps to the radius; the first, having no scale yet, gets that length."""
    length = step.abs().amax(-1, keepdim=True)
    stretched = torch.where(is_first[..., None], radius / length, (radius / length).clamp(max=1.0))
    return torch.where(length > 0, step * stretched, step)


def _update(
    inverse: Tensor, move: Tensor, change: Tensor, is_first: Tensor, identity: Tensor
) -> Tensor:
    """The BFGS update of the inverse, skipped where the function did not bend downwards."""
    # What the gradient did in coordinates that were held says nothing about the free ones.
    change = change.masked_fill(move == 0, 0.0)
    bend = (move * change).sum(-1)
    change_square = change.square().sum(-1)
    bends = bend > 1e-12 * (move.square().sum(-1) * change_square).sqrt()
    safe = torch.where(bends, bend, torch.ones_like(bend))[..., None, None]
    # Before the first update the identity is given the curvature just seen, so that it has the
    # right scale.
    scale = (safe[..., 0, 0] / change_square.clamp_min(1e-300))[..., None, None]
    start = torch.where(is_first[..., None, None], identity * scale, inverse)
    outer = move[..., :, None] * change[..., None, :] / safe
    left = identity - outer
    updated = left @ start @ left.mT + move[..., :, None] * move[..., None, :] / safe
    return torch.where(bends[..., None, None], updated, inverse)
