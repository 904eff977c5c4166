"""Five standard test functions in 2 to 6 dimensions that no acquisition function was trained on.

They are defined on their usual boxes, which are scaled to the unit cube; values are standardized,
and their sign is flipped for maximization. Their maxima are global on the whole space, so tasks
can be translations of them. Without translation, the optimum of Ackley's function would be the
midpoint of the cube, where methods like to start. Branin is in `synthetic`.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from metabo.shapes import Float
from metabo.tasks.synthetic import Surface

SHIFT = (0.0, 0.3)
"""Range of the magnitudes of translations."""


def six_hump_camel(u: Float[Tensor, "*n 2"]) -> Float[Tensor, "*n"]:
    """Six-hump camel function on [-3, 3] x [-2, 2]."""
    x1, x2 = 6 * u[..., 0] - 3, 4 * u[..., 1] - 2
    first = (4 - 2.1 * x1.square() + x1.pow(4) / 3) * x1.square()
    return first + x1 * x2 + (4 * x2.square() - 4) * x2.square()


def rosenbrock(u: Float[Tensor, "*n D"]) -> Float[Tensor, "*n"]:
    """Rosenbrock's function on [-5, 10]^D."""
    x = 15 * u - 5
    curve = x[..., 1:] - x[..., :-1].square()
    return (100 * curve.square() + (x[..., :-1] - 1).square()).sum(-1)


def ackley(u: Float[Tensor, "*n D"]) -> Float[Tensor, "*n"]:
    """Ackley's function on [-32.768, 32.768]^D."""
    x = 32.768 * (2 * u - 1)
    # The derivative of the root is infinite at 0, and infinity times 0 would be NaN.
    length = x.square().mean(-1).clamp_min(1e-30).sqrt()
    waves = (2 * math.pi * x).cos().mean(-1)
    return 20 * (1 - (-0.2 * length).exp()) + math.e - waves.exp()


def levy(u: Float[Tensor, "*n D"]) -> Float[Tensor, "*n"]:
    """Levy's function on [-10, 10]^D."""
    w = 1 + (20 * u - 11) / 4
    first = (math.pi * w[..., 0]).sin().square()
    ahead, last = w[..., :-1], w[..., -1]
    middle = (ahead - 1).square() * (1 + 10 * (math.pi * ahead + 1).sin().square())
    end = (last - 1).square() * (1 + (2 * math.pi * last).sin().square())
    return first + middle.sum(-1) + end


_ALPHA = (1.0, 1.2, 3.0, 3.2)
_A = (
    (10.0, 3.0, 17.0, 3.5, 1.7, 8.0),
    (0.05, 10.0, 17.0, 0.1, 8.0, 14.0),
    (3.0, 3.5, 1.7, 10.0, 17.0, 8.0),
    (17.0, 8.0, 0.05, 10.0, 0.1, 14.0),
)
_P = (
    (0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886),
    (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
    (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650),
    (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381),
)


def hartmann_6(u: Float[Tensor, "*n 6"]) -> Float[Tensor, "*n"]:
    """Hartmann's six-dimensional function."""
    total = torch.zeros_like(u[..., 0])
    for alpha, a, p in zip(_ALPHA, _A, _P, strict=True):
        square = torch.zeros_like(total)
        for d in range(6):
            square = square + a[d] * (u[..., d] - p[d]).square()
        total = total - alpha * (-square).exp()
    return total


def _surface(
    name: str,
    raw: Callable[[Tensor], Tensor],
    argmin: tuple[float, ...],
    minimum: float,
    *,
    mean: float,
    deviation: float,
) -> Surface:
    """Return a function standardized by its moments over the cube, with its sign flipped."""

    def function(u: Tensor) -> Tensor:
        return (mean - raw(u)) / deviation

    return Surface(name, function, argmin, (mean - minimum) / deviation)


STANDARD: dict[str, Surface] = {
    surface.name: surface
    for surface in (
        _surface(
            "six-hump-camel",
            six_hump_camel,
            (0.514973668850053, 0.3218358992448151),
            -1.0316284534898774,
            mean=20.16,
            deviation=26.38,
        ),
        _surface("rosenbrock-3", rosenbrock, (0.4,) * 3, 0.0, mean=2.55e5, deviation=3.08e5),
        _surface("ackley-4", ackley, (0.5,) * 4, 0.0, mean=20.87, deviation=1.04),
        _surface("levy-4", levy, (0.55,) * 4, 0.0, mean=42.54, deviation=27.89),
        _surface(
            "hartmann-6",
            hartmann_6,
            (
                0.20168951100649743,
                0.15001069182337518,
                0.4768739742219156,
                0.27533243049406547,
                0.3116516166001457,
                0.6573005340656078,
            ),
            -3.3223680114155156,
            mean=-0.259,
            deviation=0.385,
        ),
    )
}
