"""metabo as the generation strategy of Ax's `Client`, two trials at a time.

python examples/ax_client.py
"""

import logging

import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.utils.common.logger import set_ax_logger_levels

import metabo
from metabo.integrations.ax import generation_strategy


def main() -> None:
    """Ten trials of a function of the family the artifact was trained for."""
    set_ax_logger_levels(logging.WARNING)
    task = metabo.family("branin").read([{"translation": [-0.03, 0.02], "scale": 1.0}])
    client = Client()
    client.configure_experiment(
        parameters=[
            RangeParameterConfig(name=name, parameter_type="float", bounds=(0, 1))
            for name in ("x1", "x2")
        ]
    )
    client.configure_optimization(objective="value")
    client.set_generation_strategy(generation_strategy("branin", budget=10))
    for _ in range(5):
        for index, params in client.get_next_trials(max_trials=2).items():
            x = torch.tensor([[[params["x1"], params["x2"]]]], dtype=torch.float64)
            value = task(x).item()
            client.complete_trial(index, {"value": value})
            print(f"{index + 1:2d}  {params}  ->  {value:.6f}")
    print(f"best: {client.get_best_parameterization()}")


if __name__ == "__main__":
    main()
