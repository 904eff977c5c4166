"""`metabo evaluate`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metabo.choices import Hyperparameters
from metabo.cli.parameters import Device, Family, Search, TaskFile, folder_of, names_in
from metabo.rules import MAX_BUDGET

if TYPE_CHECKING:
    from metabo.pretrained import TrainedAF
    from metabo.tasks import Provenance


def evaluate_(
    family_: Family,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Methods to compare, separated by commas; `metabo list` shows all.",
        ),
    ] = "ei,random",
    tasks: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of test tasks.",
            show_default="100, or all that the family has",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for tasks and episodes.")] = 0,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_BUDGET,
            help="Number of evaluations per task.",
            show_default="the family's",
        ),
    ] = None,
    task_file: TaskFile = None,
    artifact: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Artifact that the method `metabo` uses.",
            show_default="the family's own",
        ),
    ] = None,
    search: Search = "gradient",
    hyperparameters: Annotated[
        Hyperparameters,
        typer.Option(help="Hyperparameters of the GP: known in advance or fitted during the run."),
    ] = "known",
    device: Device = "cpu",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for results.json and regret.png.",
            show_default="runs/FAMILY",
        ),
    ] = None,
) -> None:
    """Compare methods on tasks that none of them has seen.

    Prints a table, and writes results.json and regret.png to the output folder.
    """
    from rich.progress import TaskID

    from metabo.cli.console import say
    from metabo.cli.progress import progress_bars
    from metabo.cli.tables import print_table
    from metabo.evaluation import evaluate
    from metabo.evaluation.plots import plot_regret, plot_tables
    from metabo.evaluation.summary import summary
    from metabo.evaluation.table_summary import marks, mean_table, table_record
    from metabo.pretrained import load
    from metabo.store import require_writable, write_all
    from metabo.tasks import family

    names = names_in(methods)
    folder = out or folder_of(family_)
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
            search=search,
            hyperparameters=hyperparameters,
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
        print_table(mean_table(title, records, marks(evaluation.budget)))
    print_table(summary(evaluation))
    say(f"Wrote {folder / 'results.json'} and {folder / 'regret.png'}")


def _warn_of_another_family(artifact: str, af: "TrainedAF", name: str) -> None:
    from metabo.options import parse

    trained = str(af.card.get("family", name))
    if af.architecture.is_for_any_dimension:  # trained for use on other families
        return
    if parse(trained)[0] != parse(name)[0]:
        _warn(f"The artifact `{artifact}` was trained on family `{trained}`, not on `{name}`.")


def _warn_of_known_data(artifact: str, af: "TrainedAF", tried: "Provenance") -> None:
    """Warn if the AF is tested on data that it was learned from, which shows nothing."""
    data = af.card.get("data")
    learned = data.get("datasets", []) if isinstance(data, dict) else []
    known = [name for name in tried.test if name in learned]
    if known:
        _warn(
            f"The artifact `{artifact}` was learned from {len(known)} of the "
            f"{len(tried.test)} data sets kept for testing, `{known[0]}` among them."
        )


def _warn(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    warning = Text("Warning: ", "bold yellow").append(text, "not bold default")
    Console(stderr=True).print(warning, soft_wrap=True)
