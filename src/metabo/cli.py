"""The command line: `metabo list`, `metabo train`, `metabo evaluate`, `metabo report`."""

import sys
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.progress import TaskID
from rich.text import Text

from metabo.errors import MetaBOError
from metabo.experiments import again, evaluate
from metabo.experiments.catalogue import (
    EXPERIMENTS,
    Experiment,
    ScaleName,
    experiment,
    scale,
)
from metabo.experiments.display import empty_table, progress_bars, run_with_bars, summary
from metabo.experiments.listing import tables
from metabo.experiments.report import sheets
from metabo.experiments.runner import missing, stored
from metabo.options import parse
from metabo.policies import SearchName
from metabo.pretrained import load, read_card
from metabo.store import is_writable, require_writable, save_json, write_all
from metabo.tasks import family
from metabo.training import Event, TensorBoard, read_settings, train

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learned acquisition functions for Bayesian optimization of related problems.",
)
console = Console()
RESULTS = Path("results")


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
    """Show families, methods, searches, presets, artifacts and experiments, with options."""
    for table in tables():
        console.print(table)
    _say("Every field of TrainConfig can be set: `metabo train FAMILY --set NAME=VALUE`.")


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
    changes: dict[str, Any] = {"device": device, "seed": seed}
    given = {"sources": sources, "iterations": iterations}
    changes |= {name: value for name, value in given.items() if value is not None}
    changes |= read_settings(settings or [])
    board = TensorBoard(folder / "tensorboard") if tensorboard else None
    progress = progress_bars("reward {task.fields[reward]:.3f}  validation {task.fields[best]}")
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
    table = empty_table(
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
    tasks: Annotated[
        int | None, typer.Option(help="Test tasks to draw.", show_default="100, or all")
    ] = None,
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
    if artifact is not None and "metabo" in names:
        _warn_of_another_family(artifact, family_)
    progress, bars = progress_bars(), dict[str, TaskID]()

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
    console.print(summary(evaluation))
    console.out(f"Wrote {folder / 'results.json'} and {folder / 'regret.png'}", highlight=False)


def _warn_of_another_family(artifact: str, name: str) -> None:
    trained = str(load(artifact).card.get("family", name))
    if parse(trained)[0] != parse(name)[0]:
        warning = Text("Warning: ", "bold yellow").append(
            f"The artifact `{artifact}` was trained on family `{trained}`, not on `{name}`.",
            "not bold default",
        )
        Console(stderr=True).print(warning, soft_wrap=True)


@app.command("report")
def report_(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[EXPERIMENT ...]", help="Such as figure-2.", show_default="all"),
    ] = None,
    scale_: Annotated[str, typer.Option("--scale", help="smoke or full.")] = "full",
    rerun: Annotated[bool, typer.Option("--rerun", help="Run what is missing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Run everything again; once stopped, it goes on.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = RESULTS,
) -> None:
    """Show stored results of experiments beside the paper's numbers; --rerun makes them."""
    chosen, size = [experiment(name) for name in names or EXPERIMENTS], scale(scale_)
    units = {one.name: list(one.units(size)) for one in chosen}
    if rerun or force:
        require_writable(out, ())
    if force:
        again.begin(chain(*units.values()), out)
    failed = 0
    for one in chosen:
        if force:
            failed += run_with_bars(again.outdated(units[one.name], out), out)
        elif rerun and (left := missing(units[one.name], out)):
            failed += run_with_bars(left, out)
        elif rerun:
            command = _command(one, size, out, "force")
            _say(f"{one.name}: nothing is missing in {out}. Run all of it again with {command}.")
        _show(one, size, out, draw=rerun or force)
    if force:
        again.end(chain(*units.values()), out)
    raise typer.Exit(1 if failed else 0)


def _show(one: Experiment, size: ScaleName, out: Path, *, draw: bool) -> None:
    """Print an experiment's tables; draw its picture if told to, or where it is missing."""
    from metabo.experiments.figures import plot_experiment  # matplotlib is slow to import

    units = list(one.units(size))
    records = {(u.family, u.method): stored(u, out) for u in units}
    results = {key: record for key, record in records.items() if record is not None}
    if len(results) < len(units):
        left = len(units) - len(results)
        _say(
            f"{one.name}: {left} of {len(units)} results are missing in {out}. Run them with "
            f"{_command(one, size, out, 'rerun')}."
        )
    if not results:
        return
    for sheet in sheets(one, size, results):
        table = empty_table(sheet.title, *sheet.columns)
        for row in sheet.rows:
            table.add_row(*map(Text, row))
        console.print(table)
    picture = out / one.name / size / f"{one.name}.png"
    if draw or (not picture.exists() and is_writable(picture.parent)):
        write_all(picture.parent, {picture.name: partial(plot_experiment, one, results)})
        _say(f"Wrote {picture}")


def _command(one: Experiment, size: ScaleName, out: Path, option: str) -> str:
    where = "" if out == RESULTS else f" --out {quote(str(out))}"
    return f"`metabo report {one.name} --scale {size}{where} --{option}`"


def _say(text: str) -> None:
    console.out(text, highlight=False)


if __name__ == "__main__":
    main()
