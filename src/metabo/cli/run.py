"""`metabo init`, `ask`, `tell` and `show`: a run kept in a journal, by hand."""

import json
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Annotated, cast

import typer
from rich.text import Text

from metabo.cli.console import console, say
from metabo.cli.words import VALUE, read_number, read_words, written
from metabo.errors import DataError, MetaBOError, OptionError
from metabo.experiments.display import empty_table
from metabo.inputs import read_json, shown
from metabo.optimizer import CandidatesName, Direction, Optimizer, running_best
from metabo.optimizer.surrogate import PriorName
from metabo.policies import SearchName
from metabo.schema import from_json
from metabo.space import Space
from metabo.store import write_all

RunFile = Annotated[Path, typer.Argument(metavar="RUN.jsonl", help="The journal of the run.")]


def init_(
    journal: RunFile,
    artifact: Annotated[
        str | None, typer.Option(help="A learned AF by name or file; it brings its space.")
    ] = None,
    af: Annotated[
        str | None,
        typer.Option(help="Or a classical one, such as ei.", show_default="the general artifact"),
    ] = None,
    space: Annotated[
        Path | None, typer.Option(help="JSON file of the parameters; see the docs.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Evaluations in all.", show_default="the artifact's")
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(help="minimize or maximize.", show_default="the table's, or minimize"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    prior: Annotated[
        str | None,
        typer.Option(help="artifact or fitted.", show_default="the artifact's, if there is one"),
    ] = None,
    search: Annotated[str, typer.Option(help="gradient, grid or sobol.")] = "gradient",
    candidates: Annotated[
        str | None,
        typer.Option(
            help="What to propose among: table (the artifact's configurations) or space.",
            show_default="table, if there is one",
        ),
    ] = None,
) -> None:
    """Begin a run that is kept in a journal; then `metabo ask` and `metabo tell`."""
    if artifact is not None and af is not None:
        raise OptionError(f"Give `--artifact` or `--af`, but not both `{artifact}` and `{af}`.")
    if journal.exists():
        raise OptionError(f"There is a file `{journal}`. Choose another name, or remove it.")
    with Optimizer(
        None if space is None else _read_space(space),
        budget=budget,
        af=artifact or af,
        direction=cast(Direction | None, direction),
        seed=seed,
        prior=cast(PriorName | None, prior),
        search=cast(SearchName, search),
        candidates=cast(CandidatesName | None, candidates),
        journal=journal,
    ) as optimizer:
        say(f"Wrote {journal}: {', '.join(optimizer.space.parameters)}; {_left(optimizer)}.")
        say(f"GP prior: {optimizer.prior_source}.")
        if optimizer.configurations is not None:
            n = len(optimizer.configurations.rows)
            say(f"Proposes among the table's {n} configurations, unless `--candidates space`.")
        say(f"What to evaluate first: `metabo ask {quote(str(journal))}`")


def ask_(
    journal: RunFile,
    n: Annotated[int, typer.Option("-n", help="How many to evaluate side by side.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line each.")] = False,
) -> None:
    """Say what to evaluate next; asked again, the answer is the same until something is told."""
    optimizer = Optimizer.open(journal, read_only=True)
    for params in optimizer.ask_batch(n):
        say(json.dumps(params) if as_json else written(params, optimizer.space))


def tell_(
    journal: RunFile,
    words: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE...", help="Parameters, and value=...")
    ],
    value: Annotated[
        str | None, typer.Option(help="Instead of value=..., where a parameter has that name.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="There is no value.")] = False,
) -> None:
    """Add an evaluation, asked for or not; it is on the disk when the command ends."""
    with Optimizer.open(journal) as optimizer:
        params, given = read_words(words, optimizer.space)
        number = given if value is None else read_number(value)
        if failed == (number is not None) or (value is not None and given is not None):
            raise OptionError(
                f"Give one value, as `{VALUE}=...` or with `--value`, or else `--failed`."
            )
        # What was asked for in another process is known again when asked for in this one.
        with suppress(MetaBOError):
            optimizer.ask()
        if number is None:
            optimizer.tell_failure(params)
        else:
            optimizer.tell(params, number)
        say(f"Told; {_left(optimizer)}.")


def show_(
    journal: RunFile,
    out: Annotated[
        Path | None, typer.Option(help="The picture.", show_default="beside the journal")
    ] = None,
) -> None:
    """Show a run: a table of what was told, the best of it, and a picture."""
    from metabo.experiments.run_plot import plot_run  # matplotlib is slow to import

    picture = journal.with_suffix(".png") if out is None else out
    if picture.suffix != ".png" or picture.absolute() == journal.absolute():
        raise OptionError(
            f"The picture would be `{picture}`. Give a name that ends in `.png` with `--out`, "
            "another than the journal's."
        )
    optimizer = Optimizer.open(journal, read_only=True)
    names = list(optimizer.space.parameters)
    table = empty_table(f"{journal.name}: {optimizer.direction}", "#", *names, VALUE, "best")
    bests = running_best(optimizer.history, optimizer.direction)
    for number, (one, best) in enumerate(zip(optimizer.history, bests, strict=True), 1):
        cells = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in one.params.values()]
        value = "failed" if one.value is None else f"{one.value:.6g}"
        so_far = "-" if best is None else f"{best:.6g}"
        table.add_row(str(number), *map(Text, cells), value, so_far)
    console.print(table)
    if optimizer.best is not None:
        params = written(optimizer.best.params, optimizer.space)
        say(f"Best: {params} {VALUE}={optimizer.best.value!r}")
    say(f"{_left(optimizer)}; GP prior: {optimizer.prior_source}.")
    write_all(picture.parent, {picture.name: lambda path: plot_run(optimizer, path)})
    say(f"Wrote {picture}")


def _left(optimizer: Optimizer) -> str:
    return f"{optimizer.remaining} of {optimizer.budget} evaluations left"


def _read_space(path: Path) -> Space:
    record = read_json(path, "`--space` file")
    try:
        return from_json(record)
    except MetaBOError as error:
        raise DataError(f"The `--space` file `{shown(path)}` cannot be used: {error}") from None
