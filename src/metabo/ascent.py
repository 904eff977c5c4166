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

Objective = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Gives the value of every row of a point tensor `*n P`, and the gradients."""

Box = tuple[Tensor, Tensor]
"""The lower and the upper corner."""

_ARMIJO = 1e-4
_SHRINK = (0.1, 0.5)
"""Least and largest factor by which a failed step is shortened."""
_TINY = 1e-300
"""Keeps a division by the length of a zero vector finite."""


def differentiated(function: Callable[[Tensor], Tensor]) -> Objective:
    """The objective made of a function of rows by autograd, in inference mode too."""

    def objective(x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.inference_mode(mode=False), torch.enable_grad():
            at = x.clone().requires_grad_()
            value = function(at)
            (gradient,) = torch.autograd.grad(value.sum(), at)
        return value.detach(), gradient

    return objective


def ascend(
    objective: Objective,
    x: Float[Tensor, "*n P"],
    *,
    lower: Float[Tensor, " P"],
    upper: Float[Tensor, " P"],
    unit: Float[Tensor, "*#n P"],
    iterations: int,
    radius: float,
    tolerance: float | None = None,
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
        tolerance: Slope per `unit` below which a row has arrived; when all have, the climb ends
            before its time. None to take all iterations, as a captured graph must.
    """
    end = (upper - lower) / unit
    box = torch.zeros_like(end), end

    def place(point: Tensor) -> Tensor:
        # Rounding must not keep a point on the border from being exactly there.
        return torch.where(point >= end, upper, torch.addcmul(lower, point, unit))

    def evaluate(point: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = objective(place(point))
        return value.nan_to_num(nan=-torch.inf).unsqueeze(-1), gradient.nan_to_num(0.0) * unit

    with torch.inference_mode():  # cheaper than `no_grad`, which shows on small problems
        point = (x - lower) / unit
        value, gradient = evaluate(point)  # *n 1, *n P
        inverse = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).expand(*x.shape, -1)
        is_scaled = torch.zeros_like(value, dtype=torch.bool)
        step = _free(gradient, point, box)
        step = step * (radius / _largest(step))
        for iteration in range(1, iterations):
            trial = _inside(point + step, box)
            trial_value, trial_gradient = evaluate(trial)
            move, gain = trial - point, trial_value - value
            slope = _dot(gradient, move)
            success = trial_value >= torch.add(value, slope, alpha=_ARMIJO)

            change = gradient - trial_gradient
            inverse, is_scaled = _update(inverse, is_scaled, move, change, success)
            point = torch.where(success, trial, point)
            gradient = torch.where(success, trial_gradient, gradient)
            value = torch.where(success, trial_value, value)
            if iteration == iterations - 1:
                break
            free = _free(gradient, point, box)
            if tolerance is not None and bool(free.abs().amax() <= tolerance):
                break
            # A failed step ends at the vertex of the parabola through what was seen.
            factor = (0.5 * slope / (slope - gain)).nan_to_num(_SHRINK[0]).clamp(*_SHRINK)
            next_step = _direction(inverse, free, point, box)
            next_step = next_step * (10 * radius / _largest(next_step)).clamp_max(1.0)
            step = torch.where(success, next_step, step * factor)
    # Copies, which outside of inference mode are ordinary tensors.
    return place(point).clone(), value.squeeze(-1).clone()


def _direction(inverse: Tensor, free_gradient: Tensor, point: Tensor, box: Box) -> Tensor:
    """The quasi-Newton step in the coordinates that the box leaves free."""
    step = (inverse * free_gradient.unsqueeze(-2)).sum(-1).masked_fill(free_gradient == 0, 0.0)
    # Clipping at the border bends the step, perhaps so far that it no longer leads up. Then the
    # gradient, given the step's length, does.
    move = _inside(point + step, box) - point
    steepness = _length(free_gradient)
    uphill = _dot(move, free_gradient) > 1e-3 * _length(move) * steepness
    plain = free_gradient * (_length(step) / steepness.clamp_min(_TINY))
    return torch.where(uphill, step, plain)


def _update(
    inverse: Tensor, is_scaled: Tensor, move: Tensor, change: Tensor, success: Tensor
) -> tuple[Tensor, Tensor]:
    """The BFGS update of the inverse, skipped where the function did not bend downwards.

    H + s u' + u s' with u = ((1 + c' H c / s' c) s / 2 - H c) / s' c, where s is the move, c the
    change of the gradient, and H starts as the identity times the first curvature seen.
    """
    # What the gradient did in coordinates that were held says nothing about the free ones.
    change = change.masked_fill(move == 0, 0.0)
    bend, length = _dot(move, change), _length(change)
    applies = success & (bend > 1e-12 * _length(move) * length)
    rate = torch.where(applies, 1 / bend, 0.0)
    scale = torch.where(applies & ~is_scaled, bend / length.square(), 1.0)
    inverse = inverse * scale.unsqueeze(-1)
    image = (inverse * change.unsqueeze(-2)).sum(-1)
    half = torch.addcmul(-image, move, 0.5 + 0.5 * rate * _dot(change, image)) * rate
    outer = move.unsqueeze(-1) * half.unsqueeze(-2)
    return inverse + outer + outer.mT, is_scaled | applies


def _free(gradient: Tensor, point: Tensor, box: Box) -> Tensor:
    """The gradient without the coordinates that sit on the border and want to leave."""
    is_held = _inside(point + gradient.sign(), box) == point
    return gradient.masked_fill(is_held, 0.0)


def _inside(point: Tensor, box: Box) -> Tensor:
    return torch.clamp(point, *box)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1, keepdim=True)


def _length(vector: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vector, dim=-1, keepdim=True)


def _largest(vector: Tensor) -> Tensor:
    return vector.abs().amax(-1, keepdim=True).clamp_min(_TINY)
