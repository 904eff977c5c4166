"""Families made from a Python function, for a user's own problems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from metabo.domain import sobol
from metabo.errors import DataError, OptionError, ShapeError, brief, shown
from metabo.gp import Prior, fit
from metabo.options import Range
from metabo.rules import BUDGET, whole
from metabo.shapes import Float, Int
from metabo.space import MOST_COORDINATES, Space
from metabo.tasks.family import ParametricFamily
from metabo.tasks.parameters import ParameterBox, TaskParameter

Function = Callable[[Tensor, Mapping[str, Tensor]], Tensor]
"""Function f(x, p) with values `E N` at points `x`, `E N D`; task e has parameters
`p[name][e]`."""

_SPREAD, _SHRINK, _ROUNDS = 0.1, 0.3, 12
"""Half-width of the clouds in which maxima are searched, its factor per round, and the rounds."""


def function_family(
    name: str,
    function: Function,
    *,
    dim: int,
    parameters: Mapping[str, Range],
    prior: Prior | None = None,
    budget: int = 30,
    optimum: Callable[[Mapping[str, Tensor]], Tensor] | None = None,
) -> ParametricFamily:
    """Make a family of tasks x -> function(x, p) on the unit cube, with p uniform in a box.

    Args:
        name: Name of the family, under which it can be registered.
        function: Objective to maximize, finite, with values of about unit scale. For training on a
            GPU it must not read values of tensors (`.item()`, `if` on a tensor).
        dim: Number of dimensions of x.
        parameters: Range of each parameter in which tasks differ, by name.
        prior: GP hyperparameters; fitted to eight of the source tasks if None.
        budget: Number of evaluations in an episode.
        optimum: Function that returns the largest value of each task, `E`. If None, the optimum is
            searched at 10,000 points per task, which can miss a peak narrower than about 0.01.

    Returns:
        The family, for `train`, `evaluate` and `register`.

    Raises:
        OptionError: If a parameter has no range, or the dimension or the budget is not valid.
        ShapeError: If the function does not return one value per point.
        DataError: If the function is not finite on the whole cube.

    Examples:
        >>> import metabo
        >>> from metabo.gp import default_prior
        >>> def bowl(x, p):
        ...     return -(x - p["place"][:, None, None]).square().sum(-1)
        >>> bowls = metabo.function_family(
        ...     "bowls", bowl, dim=1, parameters={"place": (0.2, 0.8)}, prior=default_prior(1)
        ... )
        >>> outcome = metabo.evaluate(bowls, methods=["random"], tasks=3, budget=2)
        >>> outcome.family, outcome.tasks
        ('bowls', 3)
    """
    if not parameters:
        raise OptionError(
            f"Family `{name}` needs at least one parameter in which its tasks differ."
        )
    for key, ends in parameters.items():
        if not isinstance(ends, tuple | list) or len(ends) != 2:
            raise OptionError(
                "`parameters` must give a range (low, high) for each name, but "
                f"`{shown(key)}` has {brief(ends)}."
            )
    box = ParameterBox(tuple(TaskParameter(key, *parameters[key]) for key in parameters))
    BUDGET.require("budget", budget)
    whole(1, MOST_COORDINATES).require("dim", dim)

    def make(drawn: Mapping[str, Tensor]) -> FunctionTasks:
        n = len(next(iter(drawn.values())))
        best = maxima(function, drawn, dim) if optimum is None else optimum(drawn)
        if best.shape != (n,) or not bool(best.isfinite().all()):
            raise ShapeError(
                f"`optimum` must return a finite value for each of {n} tasks, shape ({n},), but "
                f"returned shape {tuple(best.shape)}."
            )
        return FunctionTasks(function, tuple(drawn), tuple(drawn.values()), best.double())

    if prior is None:
        prior = _fitted(function, box.sobol(8), dim)
    return ParametricFamily(name, Space.cube(dim), prior, budget, box, make)


@dataclass(frozen=True)
class FunctionTasks:
    """A function with E sets of parameters."""

    function: Function
    """The objective, f(x, p)."""
    names: tuple[str, ...]
    """Names of the parameters."""
    values: tuple[Tensor, ...]
    """Values of each parameter, `E` numbers each."""
    optimum: Float[Tensor, " E"]
    """Largest value of each task."""

    def __call__(self, x: Float[Tensor, "E N D"], /) -> Float[Tensor, "E N"]:
        """Evaluate each task at its own points."""
        return evaluated(self.function, x, dict(zip(self.names, self.values, strict=True)))

    def take(self, index: Int[Tensor, " n"]) -> "FunctionTasks":
        """Return the tasks with these indices."""
        values = tuple(value[index] for value in self.values)
        return FunctionTasks(self.function, self.names, values, self.optimum[index])

    def to(self, device: torch.device | str) -> "FunctionTasks":
        """Return the same tasks on another device."""
        values = tuple(value.to(device) for value in self.values)
        return FunctionTasks(self.function, self.names, values, self.optimum.to(device))


def evaluated(function: Function, x: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
    """Call the function and check the shape of its values: broadcasting mistakes are easy."""
    value = function(x, parameters)
    if not isinstance(value, Tensor):
        raise ShapeError(
            f"The function must return a tensor, but returned {type(value).__name__}."
        )
    if value.shape != x.shape[:2]:
        raise ShapeError(
            f"The function must return one value per point, shape {tuple(x.shape[:2])} (E N) for "
            f"points of shape {tuple(x.shape)}, but returned {tuple(value.shape)}. Parameters "
            "have shape E: write `p[name][:, None]`."
        )
    return value.double()


def maxima(
    function: Function, parameters: Mapping[str, Tensor], dim: int, n: int = 4096, k: int = 4
) -> Float[Tensor, " E"]:
    """Return the largest values on a Sobol grid and in shrinking clouds around its best points.

    No gradients are used, so the function may be a simulation; if it is costly, give its optimum
    instead.
    """
    episodes = len(next(iter(parameters.values())))
    x = sobol(n, dim).expand(episodes, -1, -1)
    value = evaluated(function, x, parameters)
    if not bool(torch.isfinite(value).all()):
        raise DataError("The function must be finite on the whole unit cube, but is not.")
    cloud = 2 * sobol(n // 32, dim) - 1
    for number in range(_ROUNDS):
        top = value.topk(k, -1)
        centres = x.gather(1, top.indices[..., None].expand(-1, -1, dim))  # E k D
        spread = _SPREAD * _SHRINK**number
        around = (centres[:, :, None] + spread * cloud).clamp(0, 1).flatten(1, 2)
        x = torch.cat([centres, around], 1)
        value = torch.cat([top.values, evaluated(function, around, parameters)], 1)
    return value.amax(-1)


def _fitted(function: Function, parameters: Mapping[str, Tensor], dim: int) -> Prior:
    """Return the geometric mean of the maximum-likelihood priors of some tasks."""
    episodes = len(next(iter(parameters.values())))
    x = sobol(min(100, 40 * dim), dim).expand(episodes, -1, -1)
    each = fit(x, evaluated(function, x, parameters), mean="observed")

    def middle(values: Tensor) -> Tensor:
        return values.log().mean(0, keepdim=True).exp()

    return Prior(
        middle(each.lengthscale),
        middle(each.signal_variance),
        middle(each.noise_variance),
        mean="observed",
    )
