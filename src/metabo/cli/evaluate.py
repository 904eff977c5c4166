"""`metabo evaluate`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import TaskID
from rich.text import Text

from metabo.cli.console import console, say
from metabo.cli.display import means, progress_bars, summary
from metabo.evaluation import evaluate
from metabo.evaluation.setting import Hyperparameters
from metabo.evaluation.table_summary import table_record
from metabo.options import parse
from metabo.policies import SearchName
from metabo.pretrained import TrainedAF, load
from metabo.store import require_writable, write_all
from metabo.tasks import Provenance, family


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
    hyperparameters: Annotated[
        str, typer.Option(help="Of the GP: known, or fitted during the run.")
    ] = "known",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results.json and regret.png.", show_default="runs/FAMILY"),
    ] = None,
) -> None:
    """Run methods on the same unseen tasks; print a table, write results.json and regret.png."""
    from metabo.evaluation.plots import plot_regret, plot_tables  # matplotlib is slow to import

    names = [name.strip() for name in methods.split(",") if name.strip()]
    folder = out or Path("runs") / family_.replace(":", "-").replace("/", "-")
    setting = family(family_)
    require_writable(folder, ("results.json", "regret.png"))
    af = load(artifact) if artifact is not None and "metabo" in names else None
    if af is not None and artifact is not None:
        _warn_of_another_family(artifact, af, family_)
        if setting.provenance is not None:
            _warn_of_known_data(artifact, af, setting.provenance)
    progress, bars = progress_bars(), dict[str, TaskID]()

    def on_progress(name: str, step: int, total: int) -> None:
        progress.start()
        if name not in bars:
            bars[name] = progress.add_task(name, total=total)
        progress.update(bars[name], completed=step)

    try:
        evaluation = evaluate(
            setting,
            label=family_,
            methods=names,
            tasks=tasks,
            seed=seed,
            budget=budget,
            task_file=task_file,
            artifact=artifact if af is None else af,
            search=cast(SearchName, search),
            hyperparameters=cast(Hyperparameters, hyperparameters),
            device=device,
            on_progress=on_progress,
        )
    finally:
        if bars:
            progress.stop()
    picture: Callable[[Path], object] = partial(plot_regret, evaluation)
    if evaluation.summary == "mean":
        title = f"{family_}: mean simple regret on {evaluation.tasks} data sets"
        results = evaluation.methods.items()
        records = {name: table_record(result.regret[None]) for name, result in results}
        picture = partial(plot_tables, records, title)
    write_all(folder, {"results.json": evaluation.save, "regret.png": picture})
    if evaluation.summary == "mean":
        console.print(means(title, records, evaluation.budget, width=console.width))
    console.print(summary(evaluation))
    say(f"Wrote {folder / 'results.json'} and {folder / 'regret.png'}")


def _warn_of_another_family(artifact: str, af: TrainedAF, name: str) -> None:
    trained = str(af.card.get("family", name))
    if af.architecture.is_for_any_dimension:  # it is meant for others
        return
    if parse(trained)[0] != parse(name)[0]:
        _warn(f"The artifact `{artifact}` was trained on family `{trained}`, not on `{name}`.")


def _warn_of_known_data(artifact: str, af: TrainedAF, tried: Provenance) -> None:
    """Warn if the AF is tested on data it was learned from, where doing well says nothing."""
    data = af.card.get("data")
    learned = data.get("datasets", []) if isinstance(data, dict) else []
    known = [name for name in tried.test if name in learned]
    if known:
        _warn(
            f"The artifact `{artifact}` was learned from {len(known)} of the "
            f"{len(tried.test)} data sets kept for testing, `{known[0]}` among them."
        )


def _warn(text: str) -> None:
    warning = Text("Warning: ", "bold yellow").append(text, "not bold default")
    Console(stderr=True).print(warning, soft_wrap=True)
