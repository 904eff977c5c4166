"""`metabo explain`."""

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from metabo.cli.parameters import Search, TaskFile
from metabo.errors import OptionError, shown
from metabo.rules import MAX_BUDGET
from metabo.store import require_writable

_MOST_STEPS = 10_000


def explain_(
    artifact: Annotated[
        str,
        typer.Argument(
            metavar="ARTIFACT",
            show_default=False,
            help="Name or file of a learned acquisition function.",
        ),
    ],
    run: Annotated[
        Path | None,
        typer.Option(metavar="RUN.jsonl", help="Journal of a run to show instead of test tasks."),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY",
            help="Family whose test tasks are shown.",
            show_default="the artifact's",
        ),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(min=1, max=20, help="Number of test tasks.", show_default="3"),
    ] = None,
    task_file: TaskFile = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed for tasks and episodes.", show_default="0")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_BUDGET,
            help="Number of evaluations per task.",
            show_default="as trained",
        ),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="STEPS",
            help="Steps to draw, such as 1-4,10, or all.",
            show_default="the first four and the last",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X1,X2,...",
            help="Point of the unit cube at which to draw the plane of mean and deviation, such "
            "as 0.5,0.5. Repeatable.",
            show_default="the midpoint and the best point",
        ),
    ] = None,
    search: Search = "gradient",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Output folder for the pictures.",
            show_default="runs/explain-ARTIFACT",
        ),
    ] = None,
) -> None:
    """Draw what a learned acquisition function believes and wants, beside EI.

    Draws and prints its decisions step by step, on test tasks or on a run of your own.
    """
    numbers = None if steps is None else _numbers(steps)
    places = None if at is None else [_place(text) for text in at]
    if run is not None:
        _require_alone(family=family, tasks=tasks, task_file=task_file, seed=seed, budget=budget)
    folder = out or Path("runs") / f"explain-{Path(artifact).stem}"
    require_writable(folder, ("plane.png",))
    from metabo.cli.explaining import draw_and_print
    from metabo.explain import explain, explain_run

    if run is None:
        explanation = explain(
            artifact,
            family=family,
            tasks=3 if tasks is None else tasks,
            seed=seed or 0,
            budget=budget,
            task_file=task_file,
            steps=numbers,
            at=places,
            search=search,
        )
    else:
        explanation = explain_run(artifact, run, steps=numbers, at=places, search=search)
    draw_and_print(explanation, folder)


def _require_alone(**options: object) -> None:
    """Refuse options that a run determines itself."""
    for name, given in options.items():
        if given is not None:
            option = name.replace("_", "-")
            raise OptionError(f"`--{option}` cannot be combined with `--run`: a run has its own.")


def _numbers(text: str) -> list[int] | Literal["all"]:
    """Read whole numbers from a text like `1-4,10`; `all` stays as it is."""
    if text.strip() == "all":
        return "all"
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", part)
        if found is not None:
            numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
        if found is None or len(numbers) > _MOST_STEPS:
            raise OptionError(
                f"`--steps` must be like `1-4,10` or `all`, at most {_MOST_STEPS} steps, but got "
                f"`{shown(text)}`."
            )
    return numbers


def _place(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"`--at` must be coordinates like `0.5,0.5`, but got `{shown(text)}`."
        ) from None
