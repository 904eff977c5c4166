"""Time one `ask` at 30 observations in 4 dimensions on one core, beside BoTorch and Optuna.

Prints one JSON line per case: median and 99th percentile of the seconds of one proposal, each from
a history of its own, with and without fitting of hyperparameters: ours with a network of the
paper's size (its weights do not matter here) and with EI, BoTorch's LogEI with
`optimize_acqf(num_restarts=10, raw_samples=512)` on a `SingleTaskGP`, and Optuna's `GPSampler`,
which always fits. Without fitting, each has hyperparameters fitted before the clock starts.

    python benchmarks/ask_latency.py [--smoke] [--repeats 100]
"""

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from metabo import Float, Optimizer, Space
from metabo.acquisition import Architecture, NeuralAF
from metabo.optimizer.surrogate import Fitted
from metabo.seeding import generator
from metabo.version import commit

DIM, OBSERVATIONS = 4, 30
SPACE = Space({f"x{i + 1}": Float(0.0, 1.0) for i in range(DIM)})
Proposer = Callable[[Tensor, Tensor], Callable[[], object]]
"""From a history to the call that is timed."""


def histories(n: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Sobol points and points closing in on a minimum, with the values of a wavy bowl."""
    random = generator(0, "ask latency")
    for _ in range(n):
        centre = torch.rand(DIM, generator=random, dtype=torch.float64)
        wide = torch.rand(OBSERVATIONS // 2, DIM, generator=random, dtype=torch.float64)
        noise = torch.randn(OBSERVATIONS // 2, DIM, generator=random, dtype=torch.float64)
        x = torch.cat([wide, (centre + 0.1 * noise).clamp(0, 1)])
        offset = x - centre
        yield x, offset.square().sum(-1) + 0.1 * (8 * offset).cos().sum(-1)


def told(x: Tensor, y: Tensor, **settings: object) -> Optimizer:
    """An optimizer that knows the history, its last value since a moment ago."""
    optimizer = Optimizer(SPACE, budget=2 * OBSERVATIONS, **settings)  # type: ignore[arg-type]
    for number, (point, value) in enumerate(zip(x, y.tolist(), strict=True), 1):
        optimizer.tell(SPACE.decode(point), value)
        if number == len(x) - 1:
            _ = optimizer.state  # as if asked then
    return optimizer


def ours(af: str | NeuralAF, *, is_fitted: bool) -> Proposer:
    """`Optimizer.ask`."""

    def prepare(x: Tensor, y: Tensor) -> Callable[[], object]:
        values = [-value for value in y.tolist()]
        prior, seen = Fitted(DIM).model(x, values)
        if is_fitted:
            return told(x, y, af=af, prior="fitted").ask
        return told(x, -torch.tensor(seen), af=af, prior=prior).ask

    return prepare


def botorch(*, is_fitted: bool) -> Proposer:
    """LogEI maximized by `optimize_acqf`, on a `SingleTaskGP`."""
    from botorch.acquisition.analytic import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim.optimize import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    bounds = torch.stack([torch.zeros(DIM), torch.ones(DIM)]).double()

    def prepare(x: Tensor, y: Tensor) -> Callable[[], object]:
        values = -y[:, None]
        values = (values - values.mean()) / values.std()

        def fitted() -> SingleTaskGP:
            model = SingleTaskGP(x, values)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            return model

        known = None if is_fitted else fitted().state_dict()

        def propose() -> object:
            if known is None:
                model = fitted()
            else:
                model = SingleTaskGP(x, values)
                model.load_state_dict(known)
            af = LogExpectedImprovement(model.eval(), best_f=values.max())
            return optimize_acqf(af, bounds, q=1, num_restarts=10, raw_samples=512)

        return propose

    return prepare


def optuna() -> Proposer:
    """`study.ask` with the `GPSampler` and its default settings."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    side: optuna.distributions.BaseDistribution = optuna.distributions.FloatDistribution(0, 1)
    space = dict.fromkeys(SPACE.parameters, side)

    def prepare(x: Tensor, y: Tensor) -> Callable[[], object]:
        study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=0))
        for point, value in zip(x, y.tolist(), strict=True):
            params = SPACE.decode(point)
            trial = optuna.trial.create_trial(params=params, distributions=space, value=value)
            study.add_trial(trial)
        return lambda: study.ask(space)

    return prepare


def cases() -> Iterator[tuple[str, bool, Callable[[], Proposer]]]:
    """Name, whether hyperparameters are fitted, and the proposer."""
    network = NeuralAF(Architecture(DIM), generator(0, "weights")).double().requires_grad_(False)
    for is_fitted in (False, True):
        neural = partial(ours, network, is_fitted=is_fitted)
        yield "metabo, neural 4 x 200", is_fitted, neural
        yield "metabo, ei", is_fitted, partial(ours, "ei", is_fitted=is_fitted)
        yield "botorch, logei", is_fitted, partial(botorch, is_fitted=is_fitted)
    yield "optuna, gpsampler", True, optuna


def main() -> None:
    """Time all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="one proposal each")
    parser.add_argument("--repeats", type=int, default=100)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    repeats = 1 if options.smoke else options.repeats
    for name, is_fitted, make in cases():
        line = {
            "name": "ask_latency",
            "case": name,
            "fitting": is_fitted,
            "D": DIM,
            "t": OBSERVATIONS,
            "threads": 1,
            "device": "cpu",
            "commit": commit(),
        }
        try:
            proposer = make()
        except ImportError as error:
            print(json.dumps(line | {"skipped": str(error)}), flush=True)
            continue
        seconds = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the others, about scaling and experimental parts
            for number, (x, y) in enumerate(histories(repeats + 2)):
                propose = proposer(x, y)
                start = time.perf_counter()
                propose()
                if number >= 2:  # the first ones warm up
                    seconds.append(time.perf_counter() - start)
        median, high = np.quantile(seconds, [0.5, 0.99])
        found = {"repeats": repeats, "median": round(median, 5), "p99": round(high, 5)}
        assert math.isfinite(median)
        print(json.dumps(line | found), flush=True)


if __name__ == "__main__":
    main()
