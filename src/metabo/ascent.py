"""Projected BFGS in lockstep: maximize many small smooth functions at once inside a box.

Each row of a batch is a separate problem, with its own dense estimate of the inverse Hessian. One
iteration evaluates all rows once, value and gradient together; a row whose trial point fails
Armijo's rule shortens its step and tries again in the next iteration, while the others move on. No
row waits for another, and the cost is known in advance: `iterations` evaluations per row.

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
"""Function that returns the value and the gradient of every row of points `*n P`."""

Box = tuple[Tensor, Tensor]
"""Lower and upper corner of the feasible region."""

_ARMIJO = 1e-4
"""Share of the predicted gain that a step must achieve."""
_SHRINK = (0.1, 0.5)
"""Smallest and largest factor by which a failed step is shortened."""
_TINY = 1e-300
"""Smallest divisor, which keeps a division by the length of a zero vector finite."""


def differentiated(function: Callable[[Tensor], Tensor]) -> Objective:
    """Turn a function of rows into an objective by autograd, which works in inference mode too."""

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
    """Maximize each row of `objective` from the start `x`, inside a box.

    Args:
        objective: Scores every row; row i of the result may depend on row i of the argument only.
        x: Starting points inside the box.
        lower: Lower corner of the box.
        upper: Upper corner of the box.
        unit: Natural length of each coordinate: the problem is solved in these units, in which
            steps and curvatures of different coordinates are comparable.
        iterations: Evaluations of each row, at least 1.
        radius: Length of the first step, and a tenth of the longest later one, in `unit`s (largest
            coordinate).
        tolerance: Slope per `unit` below which a row has converged; when all rows have, the search
            ends early. None to use all iterations, as a captured graph must.

    Returns:
        The points reached, never worse than the starts, and their values.

    Examples:
        >>> def objective(x):  # maximum 0 at 0.3
        ...     return -(x - 0.3).square().sum(-1), -2 * (x - 0.3)
        >>> start, one = torch.tensor([[0.9]], dtype=torch.float64), torch.ones(1).double()
        >>> x, value = ascend(
        ...     objective, start, lower=0 * one, upper=one, unit=one, iterations=9, radius=0.1
        ... )
        >>> x.round(decimals=6).tolist()
        [[0.3]]
    """
    end = (upper - lower) / unit
    box = torch.zeros_like(end), end

    def place(point: Tensor) -> Tensor:
        # Despite rounding, a point on the border must be exactly there.
        return torch.where(point >= end, upper, torch.addcmul(lower, point, unit))

    def evaluate(point: Tensor) -> tuple[Tensor, Tensor]:
        value, gradient = objective(place(point))
        return value.nan_to_num(nan=-torch.inf).unsqueeze(-1), gradient.nan_to_num(0.0) * unit

    with torch.inference_mode():  # noticeably cheaper than `no_grad` on small problems
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
            # Shorten a failed step to the vertex of the parabola through the values seen.
            factor = (0.5 * slope / (slope - gain)).nan_to_num(_SHRINK[0]).clamp(*_SHRINK)
            next_step = _direction(inverse, free, point, box)
            next_step = next_step * (10 * radius / _largest(next_step)).clamp_max(1.0)
            step = torch.where(success, next_step, step * factor)
    # Copies made outside of inference mode are ordinary tensors.
    return place(point).clone(), value.squeeze(-1).clone()


def _direction(inverse: Tensor, free_gradient: Tensor, point: Tensor, box: Box) -> Tensor:
    """Return the quasi-Newton step in the coordinates that the box leaves free."""
    step = (inverse * free_gradient.unsqueeze(-2)).sum(-1).masked_fill(free_gradient == 0, 0.0)
    # Clipping at the border bends the step and may turn it downhill. In that case the gradient,
    # scaled to the step's length, replaces it.
    move = _inside(point + step, box) - point
    steepness = _length(free_gradient)
    uphill = _dot(move, free_gradient) > 1e-3 * _length(move) * steepness
    plain = free_gradient * (_length(step) / steepness.clamp_min(_TINY))
    return torch.where(uphill, step, plain)


def _update(
    inverse: Tensor, is_scaled: Tensor, move: Tensor, change: Tensor, success: Tensor
) -> tuple[Tensor, Tensor]:
    """Apply the BFGS update to the inverse, except where the function did not bend downwards.

    H + s u' + u s' with u = ((1 + c' H c / s' c) s / 2 - H c) / s' c, where s is the move, c the
    change of the gradient, and H starts as the identity times the first curvature seen.
    """
    # Changes of the gradient in fixed coordinates say nothing about the free ones.
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
    """Set the gradient to zero in coordinates that are on the border and point outwards."""
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
