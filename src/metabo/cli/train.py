"""`metabo train`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import TaskID

from metabo.cli.console import console, say
from metabo.cli.crossvalidate import read_folds, show, with_bars
from metabo.cli.display import empty_table, progress_bars
from metabo.evaluation.crossvalidate import METHODS
from metabo.pretrained import read_card
from metabo.store import require_writable, write_all
from metabo.tasks import family
from metabo.training import Event, TensorBoard, read_settings
from metabo.training import preset as preset_of
from metabo.training.api import run_training
from metabo.training.folder import has_run
from metabo.training.interrupt import farewell


def train_(
    family_: Annotated[str, typer.Argument(metavar="FAMILY", help="Such as branin.")],
    preset: Annotated[
        str | None,
        typer.Option(help="default, paper, fast, table or general.", show_default="by the family"),
    ] = None,
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
    folds: Annotated[
        str | None,
        typer.Option(
            help="Find by cross-validation over a table's data sets when to stop; a number or "
            "leave-one-out."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in the folder.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A field of TrainConfig; repeatable."),
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Also log for TensorBoard.")] = False,
) -> None:
    """Meta-train an acquisition function; write af.safetensors, log.jsonl and curve.png."""
    from metabo.evaluation.plots import plot_training  # matplotlib is slow to import

    setting = family(family_)
    folder = out or Path("runs") / f"train-{family_.replace(':', '-').replace('/', '-')}"
    require_writable(folder, ("af.safetensors", "log.jsonl", "config.json", "curve.png"))
    changes: dict[str, Any] = {"device": device, "seed": seed}
    given = {"sources": sources, "iterations": iterations}
    changes |= {name: value for name, value in given.items() if value is not None}
    changes |= read_settings(settings or [])
    parts = None if folds is None else read_folds(folds)
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
        if parts is not None:
            chosen = {} if preset is None else {"preset": preset}
            outcome = with_bars(family_, folder / "folds", parts, list(METHODS), changes | chosen)
            show(outcome, folder / "folds")
            changes["stop_at"] = outcome.stop
        try:
            path = run_training(
                preset_of(preset or setting.preset, family_, **changes),
                folder,
                family=setting,
                seconds=seconds,
                resume=resume,
                on_event=on_event,
            )
        finally:
            if bars:
                progress.stop()
    except KeyboardInterrupt as interrupt:
        is_module = Path(sys.argv[0]).name == "__main__.py"
        program, words = "python -m metabo" if is_module else "metabo", sys.argv[1:]
        # Not wrapped, so that the command can be copied.
        print(farewell(interrupt, program, words, is_begun=has_run(folder)), file=sys.stderr)
        raise typer.Exit(130) from None
    write_all(folder, {"curve.png": lambda p: plot_training(folder / "log.jsonl", p)})
    _print_card(family_, read_card(path))
    say(f"Wrote {path} and {folder / 'curve.png'}")


def _print_card(name: str, card: dict[str, Any]) -> None:
    """What an artifact reached on its validation tasks, beside EI and random search."""
    medians = card["validation"]["median_regret"]
    budget = card["budget"][1]
    marks = [t for t in (1, 2, 3, 5, 10, 20, 30) if t < budget] + [budget]
    is_known = card["validation"].get("learned_from", False)
    table = empty_table(
        f"{name}: median simple regret on {card['validation']['tasks']} "
        f"{'tasks that it learned from' if is_known else 'validation tasks'}",
        "method",
        *(f"t={t}" for t in marks),
    )
    for method, curve in medians.items():
        table.add_row(method, *(f"{curve[t - 1]:.1e}" for t in marks))
    console.print(table)
