"""The command line: `metabo list`, `metabo train`, `metabo evaluate`."""

import math
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from metabo.errors import MetaBOError
from metabo.experiments import METHODS, Evaluation, evaluate
from metabo.experiments.store import require_writable, save_json, write_all
from metabo.metrics import quantiles
from metabo.options import declared_options
from metabo.policies import SEARCHES, SearchName
from metabo.pretrained import artifacts, read_card
from metabo.tasks import FAMILIES, family
from metabo.training import Event, TensorBoard, read_settings, train

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learned acquisition functions for Bayesian optimization of related problems.",
)
console = Console()


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except MetaBOError as error:
        Console(stderr=True).print(
            Text("Error: ", "bold red").append(str(error), "not bold default"), soft_wrap=True
        )
        sys.exit(2)


@app.command("list")
def list_() -> None:
    """Show families, methods, searches and artifacts, with their options."""
    families = _table("Families (name:option=value)", "name", "D", "budget", "options")
    for name, builder in FAMILIES.items():
        setting = family(name)
        families.add_row(name, str(setting.domain.dim), str(setting.budget), _options(builder))
    methods = _table("Methods (name:option=value)", "name", "what it does", "options")
    for name, build in METHODS.items():
        summary = (build.__doc__ or "").splitlines()[0]
        methods.add_row(name, summary, _options(build))
    searches = _table("Searches", "name", "how acquisition functions are maximized")
    for name, summary in SEARCHES.items():
        searches.add_row(name, summary)
    for table in (families, methods, searches, _artifacts()):
        console.print(table)


def _artifacts() -> Table:
    table = _table(
        "Artifacts", "name", "D", "sources", "seconds", "validation regret", "EI's", "random's"
    )
    for name, path in artifacts().items():
        card: dict[str, Any] = read_card(path)
        training, medians = card["training"], card["validation"]["median_regret"]
        table.add_row(
            name,
            str(card["domain"]["dim"]),
            str(card["sources"] or "all"),
            f"{training['seconds']:.0f}",
            *(f"{medians[m][-1]:.1e}" for m in ("metabo", "ei", "random")),
        )
    return table


@app.command("train")
def train_(
    family_: Annotated[str, typer.Argument(metavar="FAMILY", help="Such as branin.")],
    preset: Annotated[str, typer.Option(help="default, paper or fast.")] = "default",
    sources: Annotated[
        int | None, typer.Option(help="Learn from so many fixed tasks.", show_default="all")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Rollouts and updates.", show_default="the preset's")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after so much time.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Of weights, tasks and episodes.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run.", show_default="runs/train-FAMILY"),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in the folder.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A field of TrainConfig; repeatable."),
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Also log for TensorBoard.")] = False,
) -> None:
    """Meta-train an acquisition function; write af.safetensors, log.jsonl and curve.png."""
    from metabo.experiments.plots import plot_training  # matplotlib is slow to import

    family(family_)
    folder = out or Path("runs") / f"train-{family_.replace(':', '-').replace('/', '-')}"
    require_writable(folder, ("af.safetensors", "log.jsonl", "config.json", "curve.png"))
    changes: dict[str, object] = {"device": device, "seed": seed}
    given = {"sources": sources, "iterations": iterations}
    changes |= {name: value for name, value in given.items() if value is not None}
    changes |= read_settings(settings or [])
    board = TensorBoard(folder / "tensorboard") if tensorboard else None
    progress = _progress("reward {task.fields[reward]:.3f}  validation {task.fields[best]}")
    bars: list[TaskID] = []

    def on_event(event: Event) -> None:
        progress.start()
        if not bars:
            bars.append(
                progress.add_task(family_, total=event.iterations, reward=event.reward, best="-")
            )
        if event.best_score is not None:
            progress.update(bars[0], best=f"{event.best_score:.3f}")
        rate = f"{family_}, {event.steps_per_second:.0f} steps/s"
        progress.update(bars[0], completed=event.iteration, description=rate, reward=event.reward)
        if board is not None:
            board.add(event)

    try:
        path = train(
            family_,
            out=folder,
            preset=preset,
            seconds=seconds,
            resume=resume,
            on_event=on_event,
            **changes,
        )
    finally:
        if bars:
            progress.stop()
    write_all(folder, {"curve.png": lambda p: plot_training(folder / "log.jsonl", p)})
    _print_card(family_, read_card(path))
    console.out(f"Wrote {path} and {folder / 'curve.png'}", highlight=False)


def _print_card(name: str, card: dict[str, Any]) -> None:
    """What an artifact reached on its validation tasks, beside EI and random search."""
    medians = card["validation"]["median_regret"]
    budget = card["budget"][1]
    marks = [t for t in (1, 2, 3, 5, 10, 20, 30) if t < budget] + [budget]
    table = _table(
        f"{name}: median simple regret on {card['validation']['tasks']} validation tasks",
        "method",
        *(f"t={t}" for t in marks),
    )
    for method, curve in medians.items():
        table.add_row(method, *(f"{curve[t - 1]:.1e}" for t in marks))
    console.print(table)


@app.command("evaluate")
def evaluate_(
    family_: Annotated[
        str, typer.Argument(metavar="FAMILY", help="Such as branin; see `metabo list`.")
    ],
    methods: Annotated[
        str, typer.Option(help="Methods to compare, separated by commas.")
    ] = "ei,random",
    tasks: Annotated[int, typer.Option(help="Test tasks to draw.")] = 100,
    seed: Annotated[int, typer.Option(help="Of tasks and episodes.")] = 0,
    budget: Annotated[
        int | None, typer.Option(help="Evaluations per task.", show_default="the family's")
    ] = None,
    task_file: Annotated[
        Path | None, typer.Option(help="JSON list of task parameters, instead of drawn tasks.")
    ] = None,
    artifact: Annotated[
        str | None,
        typer.Option(help="Name or file for the method metabo.", show_default="the family's own"),
    ] = None,
    search: Annotated[str, typer.Option(help="gradient, grid or sobol.")] = "gradient",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results.json and regret.png.", show_default="runs/FAMILY"),
    ] = None,
) -> None:
    """Run methods on the same unseen tasks; print a table, write results.json and regret.png."""
    from metabo.experiments.plots import plot_regret  # matplotlib is slow to import

    names = [name.strip() for name in methods.split(",") if name.strip()]
    folder = out or Path("runs") / family_.replace(":", "-").replace("/", "-")
    family(family_)
    require_writable(folder, ("results.json", "regret.png"))
    progress, bars = _progress(), dict[str, TaskID]()

    def on_progress(name: str, step: int, total: int) -> None:
        progress.start()
        if name not in bars:
            bars[name] = progress.add_task(name, total=total)
        progress.update(bars[name], completed=step)

    try:
        evaluation = evaluate(
            family_,
            methods=names,
            tasks=tasks,
            seed=seed,
            budget=budget,
            task_file=task_file,
            artifact=artifact,
            search=cast(SearchName, search),
            device=device,
            on_progress=on_progress,
        )
    finally:
        if bars:
            progress.stop()
    write_all(
        folder,
        {
            "results.json": save_json(evaluation.record()),
            "regret.png": lambda path: plot_regret(evaluation, path),
        },
    )
    console.print(_summary(evaluation))
    console.out(f"Wrote {folder / 'results.json'} and {folder / 'regret.png'}", highlight=False)


def _summary(evaluation: Evaluation) -> Table:
    """Median regret of each method at a few steps, its curve in small, and its time."""
    marks = [t for t in (1, 5, 10, 20, 30, 50, 100) if t < evaluation.budget] + [evaluation.budget]
    curves = {
        name: quantiles(r.regret, [0.5])[0].tolist() for name, r in evaluation.methods.items()
    }
    logs = [math.log10(max(v, 1e-16)) for curve in curves.values() for v in curve]
    table = _table(
        f"{evaluation.family}: median simple regret, {evaluation.tasks} tasks",
        "method",
        *(f"t={t}" for t in marks),
        "log(regret)",
        "s/run",
    )
    for name, curve in curves.items():
        numbers = [f"{curve[t - 1]:.1e}" for t in marks]
        seconds = f"{evaluation.methods[name].seconds_per_episode:.4f}"
        table.add_row(Text(name), *numbers, _spark(curve, min(logs), max(logs)), seconds)
    return table


def _spark(curve: list[float], low: float, high: float) -> str:
    """A curve as a row of blocks on a logarithmic scale, at most ten of them."""
    blocks = "▁▂▃▄▅▆▇█"
    stride = max(1, math.ceil(len(curve) / 10))
    heights = [(math.log10(max(v, 1e-16)) - low) / max(high - low, 1e-9) for v in curve[::stride]]
    return "".join(blocks[min(7, int(8 * h))] for h in heights)


def _progress(text: str = "steps") -> Progress:
    return Progress(
        TextColumn("{task.description:>12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(text),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=Text(title, "bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    return table


def _options(builder: object) -> str:
    declared = declared_options(builder)  # type: ignore[arg-type]
    return " ".join(f"{name}={_shown(p.default)}" for name, p in declared.items()) or "-"


def _shown(value: object) -> str:
    return f"{value[0]:g}..{value[1]:g}" if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    main()
