"""`metabo explain`."""

import re
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from metabo.cli.console import say
from metabo.cli.tables import print_table
from metabo.errors import OptionError, shown
from metabo.evaluation.table import Table, names, numbers
from metabo.explain import Explanation, explain, explain_run
from metabo.policies import SearchName
from metabo.space import Value
from metabo.store import require_writable, write_all

_MOST_STEPS = 10_000


def explain_(
    artifact: Annotated[
        str, typer.Argument(metavar="ARTIFACT", help="Name or file of a learned AF.")
    ],
    run: Annotated[
        Path | None,
        typer.Option(metavar="RUN.jsonl", help="Show it on the run in this journal instead."),
    ] = None,
    family: Annotated[
        str | None, typer.Option(help="Tasks to show it on.", show_default="its own family")
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(help="Test tasks to draw.", show_default="3")
    ] = None,
    task_file: Annotated[
        Path | None, typer.Option(help="JSON list of task parameters, instead of drawn tasks.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of tasks and episodes.", show_default="0")
    ] = None,
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
    from metabo.explain.curves import pictures  # matplotlib is slow to import

    folder = out or Path("runs") / f"explain-{Path(artifact).stem}"
    require_writable(folder, ("plane.png",))
    numbers = None if steps is None else _numbers(steps)
    places = None if at is None else [_place(text) for text in at]
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
            search=cast(SearchName, search),
        )
    else:
        _require_alone(family=family, tasks=tasks, task_file=task_file, seed=seed, budget=budget)
        explanation = explain_run(
            artifact, run, steps=numbers, at=places, search=cast(SearchName, search)
        )
    drawn = pictures(explanation)
    write_all(folder, drawn)
    _print(explanation)
    say(f"Wrote {', '.join(drawn)} in {folder}")


def _require_alone(**options: object) -> None:
    """A run brings its own tasks, seed and budget."""
    for name, given in options.items():
        if given is not None:
            option = name.replace("_", "-")
            raise OptionError(f"Give either `--run` or `--{option}`: a run has its own.")


def _numbers(text: str) -> list[int] | Literal["all"]:
    """Whole numbers from a text like `1-4,10`; `all` stays."""
    if text.strip() == "all":
        return "all"
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", part)
        if found is not None:
            numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
        if found is None or len(numbers) > _MOST_STEPS:
            raise OptionError(
                f"Steps are written like `1-4,10` or `all`, but got `{shown(text)}`. "
                f"Give {_MOST_STEPS} at most."
            )
    return numbers


def _place(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"A place is written as its coordinates, like `0.5,0.5`, but got `{shown(text)}`."
        ) from None


def _print(explanation: Explanation) -> None:
    """A table for each episode: the decisions, and how unlike EI's they are."""
    for episode in explanation.episodes:
        rows = []
        for step in episode.steps:
            query = explanation.space.decode(step.query).values()
            value = "failed" if step.told is None else _short(step.told)
            rank = f"{step.ei_rank} of {step.ei_candidates}"
            cells = [*map(_short, query), _short(step.mean), _short(step.std), value, rank]
            rows.append((str(step.number), *cells))
        heads = (*explanation.space.parameters, "mean", "deviation", "value", "rank under EI")
        title = f"{explanation.headline}, {episode.title}"
        print_table(Table.of(title, [*names("step"), *numbers(heads)], rows))


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
