"""`metabo explain`."""

import re
from pathlib import Path
from typing import Annotated, Literal, cast

import typer
from rich.text import Text

from metabo.cli.console import console, say
from metabo.errors import OptionError
from metabo.experiments import Explanation, explain
from metabo.experiments.display import empty_table
from metabo.policies import SearchName
from metabo.store import require_writable, write_all


def explain_(
    artifact: Annotated[
        str, typer.Argument(metavar="ARTIFACT", help="Name or file of a learned AF.")
    ],
    family: Annotated[
        str | None, typer.Option(help="Tasks to show it on.", show_default="its own family")
    ] = None,
    tasks: Annotated[int, typer.Option(help="Test tasks to draw.")] = 3,
    task_file: Annotated[
        Path | None, typer.Option(help="JSON list of task parameters, instead of drawn tasks.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of tasks and episodes.")] = 0,
    budget: Annotated[
        int | None, typer.Option(help="Evaluations per task.", show_default="as trained")
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            help="Steps to look at, such as 1-4,10, or all.", show_default="first four, last"
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            help="Place of a mean-deviation plane, such as 0.5,0.5; repeatable.",
            show_default="midpoint, best point",
        ),
    ] = None,
    search: Annotated[str, typer.Option(help="gradient, grid or sobol.")] = "gradient",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the pictures.", show_default="runs/explain-ARTIFACT"),
    ] = None,
) -> None:
    """Draw what a learned AF believes and wants, step by step, beside EI; print its decisions."""
    from metabo.experiments.strategy_plots import pictures  # matplotlib is slow to import

    folder = out or Path("runs") / f"explain-{Path(artifact).stem}"
    require_writable(folder, ("plane.png",))
    explanation = explain(
        artifact,
        family=family,
        tasks=tasks,
        seed=seed,
        budget=budget,
        task_file=task_file,
        steps=None if steps is None else _numbers(steps),
        at=None if at is None else [_place(text) for text in at],
        search=cast(SearchName, search),
    )
    drawn = pictures(explanation)
    write_all(folder, drawn)
    _print(explanation)
    say(f"Wrote {', '.join(drawn)} in {folder}")


def _numbers(text: str) -> list[int] | Literal["all"]:
    """Whole numbers from a text like `1-4,10`; `all` stays."""
    if text.strip() == "all":
        return "all"
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        if found is None:
            raise OptionError(f"Steps are written like `1-4,10` or `all`, but got `{text}`.")
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers


def _place(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"A place is written as its coordinates, like `0.5,0.5`, but got `{text}`."
        ) from None


def _print(explanation: Explanation) -> None:
    """A table for each episode: the decisions, and how unlike EI's they are."""
    for episode in explanation.episodes:
        table = empty_table(
            f"{explanation.headline}, {episode.title}",
            "step",
            *explanation.axes,
            "mean",
            "deviation",
            "value",
            "rank under EI",
        )
        for step in episode.steps:
            rank = f"{step.ei_rank} of {step.ei_candidates}"
            numbers = [*step.query.tolist(), step.mean, step.std, step.value]
            cells = [f"{number:.4g}" for number in numbers]
            table.add_row(str(step.number), *cells, Text(rank))
        console.print(table)
