"""`metabo train`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from metabo.choices import PresetName
from metabo.cli.parameters import Device, Family, Settings, folder_of


def train_(
    family_: Family,
    preset: Annotated[
        PresetName | None,
        typer.Option(help="Named training settings.", show_default="chosen by the family"),
    ] = None,
    sources: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of fixed tasks to learn from.",
            show_default="a new task in every episode",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Iterations, each of them rollouts and an update; with 0 only the prior is "
            "learned.",
            show_default="the preset's",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Wall-clock limit in seconds.", show_default="none"),
    ] = None,
    device: Device = "cpu",
    seed: Annotated[int, typer.Option(help="Random seed for weights, tasks and episodes.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Output folder of the run.", show_default="train-FAMILY in runs"
        ),
    ] = None,
    folds: Annotated[
        str | None,
        typer.Option(
            metavar="N|leave-one-out",
            help="Choose when to stop by cross-validation over a table's data sets, with this "
            "many folds.",
            show_default="no cross-validation",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue the run in the output folder.")] = False,
    settings: Settings = None,
    tensorboard: Annotated[bool, typer.Option(help="Also write a log for TensorBoard.")] = False,
) -> None:
    """Train an acquisition function on a family of tasks.

    Writes af.safetensors, log.jsonl and curve.png to the output folder.
    """
    from rich.progress import TaskID

    from metabo.cli.console import say
    from metabo.cli.crossvalidating import read_folds, show, with_bars
    from metabo.cli.progress import progress_bars
    from metabo.evaluation.crossvalidate import METHODS
    from metabo.evaluation.plots import plot_training
    from metabo.pretrained import read_card
    from metabo.store import require_writable, write_all
    from metabo.tasks import family
    from metabo.training import Event, TensorBoard, read_settings
    from metabo.training import preset as preset_of
    from metabo.training.api import run_training
    from metabo.training.folder import has_run
    from metabo.training.interrupt import farewell

    setting = family(family_)
    folder = out or folder_of(family_, "train-")
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
    card = read_card(path)
    written = [str(path)]
    if (folder / "log.jsonl").stat().st_size:
        write_all(folder, {"curve.png": lambda p: plot_training(folder / "log.jsonl", p)})
        written.append(str(folder / "curve.png"))
    _print_card(family_, card)
    say(f"Wrote {' and '.join(written)}")


def _print_card(name: str, card: dict[str, Any]) -> None:
    """Print the regret of an artifact on its validation tasks, beside EI and random search."""
    from metabo.cli.console import say
    from metabo.cli.tables import print_table
    from metabo.evaluation.numbers import scientific
    from metabo.evaluation.table import Table, at_steps, names

    medians = card["validation"]["median_regret"]
    budget = card["budget"][1]
    marks = [t for t in (1, 2, 3, 5, 10, 20, 30) if t < budget] + [budget]
    is_known = card["validation"].get("learned_from", False)
    title = (
        f"{name}: median simple regret on {card['validation']['tasks']} "
        f"{'tasks that it learned from' if is_known else 'validation tasks'}"
    )
    score = card["validation"].get("score")
    if score and card["architecture"]["horizon"] == 0:
        say(
            "The network is left out, because on validation tasks it is not better than what its "
            f"score started from: rewards {score['network']:.2f} and {score['residual']:.2f}."
        )
    rows = [
        (method, *(scientific(curve[t - 1]) for t in marks)) for method, curve in medians.items()
    ]
    print_table(Table.of(title, [*names("method"), *at_steps(marks)], rows))
