"""From simulation to reality: tune a pendulum's controller in a handful of trials.

A Furuta pendulum is balanced by V = -K x. Bad gains K let it fall, so trials are precious. An
acquisition function learned on a cheap simulation knows how such problems go; it then meets
machines with friction, delay and noise that the simulation does not have.

    python examples/furuta.py                      # needs `pip install metabo[furuta]` for part 3
    metabo train furuta --out runs/furuta          # learns one, if none comes with your version
    python examples/furuta.py --artifact runs/furuta/af.safetensors
"""

import argparse
from pathlib import Path

import torch
from matplotlib.figure import Figure

import metabo
from metabo.errors import OptionError
from metabo.pretrained import artifacts
from metabo.seeding import generator
from metabo.tasks.furuta import FurutaTasks
from metabo.tasks.furuta.mechanics import NOMINAL
from metabo.tasks.furuta.real import RealTasks

TASKS, BUDGET = 10, 15


def stabilized(name: str, methods: list[str], artifact: str | None) -> dict[str, list[float]]:
    """For each method: the share of tasks with a controller that held up, after each trial."""
    family = metabo.family(name)
    tasks = family.sample(TASKS, generator(0, "test tasks"))
    assert isinstance(tasks, FurutaTasks | RealTasks)
    run = metabo.evaluate(name, methods=methods, tasks=TASKS, budget=BUDGET, artifact=artifact)
    shares = {}
    for method, result in run.methods.items():
        _, time_up = tasks.trial(tasks.box.decode(result.queries))  # tasks x trials
        found = (time_up == 1).cummax(-1).values
        shares[method] = found.double().mean(0).tolist()
        at_5, at_10 = shares[method][4], shares[method][9]
        print(f"  {method:8s} stabilized after 5 trials: {at_5:.0%}, after 10: {at_10:.0%}")
    return shares


def main() -> None:
    """Tell the story."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--artifact", default="furuta")
    parser.add_argument("--out", type=Path, default=Path("runs/furuta-example.png"))
    given = parser.parse_args()

    # 1. The problem. With the physics known one could compute good gains; we pretend not to.
    tasks = metabo.family("furuta").read([NOMINAL])
    assert isinstance(tasks, FurutaTasks)
    print(f"LQR gains, V/rad and V s/rad: {[round(k, 2) for k in tasks.regulator[0].tolist()]}")
    unit = torch.rand(1, 2000, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    lucky = (tasks.trial(tasks.box.decode(unit))[1] == 1).double().mean().item()
    print(f"Random gains that hold the pendulum up for five seconds: {lucky:.1%}")

    # 2. Unseen pendula of the simulation: masses and lengths within 25 % of the nominal ones.
    is_learned = given.artifact in artifacts() or Path(given.artifact).exists()
    methods = ["metabo", "ei", "random"] if is_learned else ["ei", "random"]
    artifact = given.artifact if is_learned else None
    print("In simulation:")
    panels = {"simulation": stabilized("furuta", methods, artifact)}

    # 3. Machines that nothing was trained on.
    try:
        print("On the machines:")
        panels["machines"] = stabilized("furuta-real", methods, artifact)
    except OptionError as error:
        print(f"  left out: {error}")

    figure = Figure(figsize=(4 * len(panels), 3.2), layout="constrained")
    for axes, (title, shares) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        for method, curve in shares.items():
            axes.plot(range(1, BUDGET + 1), curve, label=method)
        axes.set(title=title, xlabel="trials", ylim=(-0.03, 1.03))
        axes.legend(frameon=False)
    figure.axes[0].set_ylabel("share of pendula stabilized")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(given.out, dpi=130)
    print(f"Wrote {given.out}")


if __name__ == "__main__":
    main()
