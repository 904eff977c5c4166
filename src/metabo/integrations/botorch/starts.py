"""Starting points for `optimize_acqf`: late in a run an AF is a spike next to an observation.

BoTorch's Sobol samples miss it. With `options={"sample_around_best": True}` they usually do not,
but that needs at least one observation and untransformed inputs.
"""

import torch
from botorch.exceptions import UnsupportedError
from torch import Tensor

from metabo.integrations.botorch.acquisition import NeuralAcquisition
from metabo.policies import Scatter
from metabo.policies.searchers.candidates import best, within
from metabo.policies.searchers.scatter import stretched_sobol
from metabo.shapes import Float
from metabo.state import History


@torch.no_grad()
def scattered_starts(
    acq_function: NeuralAcquisition,
    bounds: Float[Tensor, "2 D"],
    q: int,
    num_restarts: int,
    raw_samples: int = 512,
    fixed_features: dict[int, float] | None = None,
    options: dict[str, object] | None = None,
    inequality_constraints: object = None,
    equality_constraints: object = None,
) -> Float[Tensor, "n 1 D"]:
    """Return the best points of a grid and of clouds around the best observations.

    Pass it to `optimize_acqf` as `ic_generator`.

    Args:
        acq_function: Acquisition function; the clouds surround its best observations.
        bounds: Bounds of the search, within those of the acquisition function.
        q: Number of points to propose, always 1.
        num_restarts: Number of starts, about a third of them from the grid.
        raw_samples: Number of points of the grid; each cloud has half as many.
        fixed_features: Values of coordinates that do not vary, by index.
        options: Ignored; the starts are deterministic.
        inequality_constraints: Not supported.
        equality_constraints: Not supported.

    Raises:
        UnsupportedError: If there are constraints.

    Examples:
        >>> from metabo.acquisition import EI
        >>> from metabo.gp import Prior
        >>> from metabo.integrations.botorch import prior_model
        >>> prior = Prior.of([0.3], signal_variance=1.0, noise_variance=1e-6)
        >>> train_X = torch.tensor([[0.5]], dtype=torch.float64)
        >>> model = prior_model(prior, train_X, torch.ones_like(train_X))
        >>> bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
        >>> scattered_starts(NeuralAcquisition(model, EI(), budget=9), bounds, 1, 6).shape
        torch.Size([6, 1, 1])
    """
    if inequality_constraints or equality_constraints:
        raise UnsupportedError(
            "`scattered_starts` does not support constraints. Leave out `ic_generator`."
        )
    dim = bounds.shape[-1]
    low, high = acq_function.bounds.to(bounds)

    def scored(cube: Tensor) -> tuple[Tensor, Tensor]:  # N D -> native points, 1 N
        x = torch.minimum(torch.maximum(low + cube * (high - low), bounds[0]), bounds[1])
        for number, value in (fixed_features or {}).items():
            x[:, number] = value
        return x, acq_function(x.unsqueeze(-2)).unsqueeze(0)

    scatter = Scatter(n_global=raw_samples, n_cloud=max(1, raw_samples // 2))
    history = History(acq_function.observed_x.to(bounds), acq_function.observed_y.to(bounds))
    clouds = scatter.around(history).unflatten(1, (-1, scatter.n_cloud))[0]  # K n D
    n_global = num_restarts if not len(clouds) else max(1, num_restarts // 3)
    grid = stretched_sobol(raw_samples, dim, bounds.device)
    x, score = scored(grid.to(bounds))
    starts = [x[best(score, n_global, within(grid[None], raw_samples ** (-1 / dim)))[0]]]
    each = -(-(num_restarts - n_global) // max(1, len(clouds)))
    for cloud in clouds if each else ():
        x, score = scored(cloud)
        starts.append(x[best(score, each)[0]])
    return torch.cat(starts)[:num_restarts].unsqueeze(-2)
