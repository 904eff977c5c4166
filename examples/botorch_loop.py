"""A learned acquisition function in a BoTorch loop: any model, `optimize_acqf`.

python examples/botorch_loop.py
"""

import torch
from botorch.optim import optimize_acqf

import metabo
from metabo.integrations.botorch import NeuralAcquisition, prior_model, scattered_starts

BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def main() -> None:
    """Ten evaluations of a function of the family the artifact was trained for."""
    task = metabo.family("branin").read([{"translation": [-0.03, 0.02], "scale": 1.0}])
    af = metabo.load("branin")
    x, y = torch.empty(0, 2, dtype=torch.float64), torch.empty(0, 1, dtype=torch.float64)
    for _ in range(10):
        # The model of its training; a fitted `SingleTaskGP(x, y)` fits in here as well.
        model = prior_model(af.prior, x, y)
        score = NeuralAcquisition(model, af, budget=30)
        query, _ = optimize_acqf(
            score,
            BOUNDS,
            q=1,
            num_restarts=4,
            raw_samples=128,
            ic_generator=scattered_starts,
            retry_on_optimization_warning=False,
        )
        x, y = torch.cat([x, query]), torch.cat([y, task(query[None])[0][:, None]])
        print(f"{len(x):2d}  {query[0].tolist()}  ->  {y[-1].item():.6f}")
    print(f"best: {y.max().item():.6f}, optimum: {task.optimum.item():.6f}")


if __name__ == "__main__":
    main()
