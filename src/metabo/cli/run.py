"""`metabo init`, `ask`, `tell`, `forget` and `extend`: a run kept in a journal, by hand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from shlex import quote
from typing import Annotated, cast

import typer

from metabo.cli.assignments import VALUE, read_number, read_words, written
from metabo.cli.console import say
from metabo.errors import DataError, MetaBOError, OptionError, OutputError, shown
from metabo.inputs import kind_of, read_json
from metabo.optimizer import Optimizer, Run, RunOptions, RunSettings
from metabo.space import Space
from metabo.space.schema import from_json

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
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
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
    given = dict(locals())  # an option of this command is a field of `RunSettings`
    if artifact is not None and af is not None:
        raise OptionError(f"Give `--artifact` or `--af`, but not both `{artifact}` and `{af}`.")
    kind = kind_of(journal, "journal")
    if kind == "folder":
        raise OptionError(f"`{shown(journal)}` is a folder. Give the name of a file.")
    if kind != "missing" and not (kind == "file" and not journal.stat().st_size):
        raise OptionError(f"`{shown(journal)}` already exists. Choose another name.")
    where = None if space is None else _read_space(space)
    options = {one.name: given[one.name] for one in fields(RunSettings) if one.name in given}
    settings = RunSettings(**cast(RunOptions, options | {"af": artifact or af}))
    with Optimizer(where, settings=settings, journal=journal) as optimizer:
        names = ", ".join(optimizer.space.parameters)
        say(f"Wrote {journal}: {names}; {left(optimizer.budget)}.")
        say(f"GP prior: {optimizer.prior_source}.")
        if optimizer.configurations is not None:
            n = len(optimizer.configurations.rows)
            say(f"Proposes among the table's {n} configurations, unless `--candidates space`.")
        say(f"What to evaluate first: `metabo ask {quote(str(journal))}`")


def ask_(
    journal: RunFile,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE...]", help="With --drop: which point to give up."),
    ] = None,
    n: Annotated[int, typer.Option("-n", help="How many to evaluate side by side.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one line each.")] = False,
    is_again: Annotated[
        bool, typer.Option("--again", help="Show what is under way instead of asking for more.")
    ] = False,
    is_drop: Annotated[
        bool, typer.Option("--drop", help="Give up a point that is under way.")
    ] = False,
    is_all: Annotated[bool, typer.Option("--all", help="With --drop: all of them.")] = False,
    artifact: Annotated[
        Path | None, typer.Option(help="Where the artifact is now, if its file has moved.")
    ] = None,
) -> None:
    """Say what to evaluate next. It counts as under way until it is told or given up."""
    if (is_again and is_drop) or (is_all and not is_drop) or (words and (is_all or not is_drop)):
        raise OptionError(
            "Give `--again`, or `--drop` with the point to give up or `--all`, or neither."
        )
    if is_drop:
        return _drop(Run.open(journal), journal, words or [], is_all=is_all)
    if is_again:
        run = Run.open(journal)
        space, given = run.state.space, [line.evaluation.params for line in run.state.pending]
        if not given:
            typer.echo("Nothing is under way.", err=True)
    else:
        with _named(journal), Optimizer.open(journal, af=artifact) as optimizer:
            # A journal of format 1 cannot remember what it gave out.
            proposals = optimizer.propose(n, reserve=optimizer.can_reserve)
            space, given = optimizer.space, [one.params for one in proposals]
    for params in given:
        say(json.dumps(params) if as_json else written(params, space))
    return None


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
    run = Run.open(journal)  # no model and no artifact: nothing that could fail before it is kept
    params, given = read_words(words, run.state.space)
    number = given if value is None else read_number(value)
    if failed == (number is not None) or (value is not None and given is not None):
        raise OptionError(
            f"Give one value, as `{VALUE}=...` or with `--value`, or else `--failed`."
        )
    one = run.tell(params, number)
    result = "--failed" if one.value is None else f"{VALUE}={one.value!r}"
    try:
        say(f"Recorded as number {one.number}: {written(one.params, run.state.space)} {result}")
        say(f"{_left(run)}.")
    except OSError as error:
        raise OutputError(
            f"Recorded as number {one.number}, but that cannot be printed: "
            f"{error.strerror or error}. Do not tell it again."
        ) from None


def forget_(
    journal: RunFile,
    number: Annotated[int, typer.Argument(metavar="N", help="As `metabo show` numbers them.")],
) -> None:
    """Take a wrong result back. Its line stays in the journal, but no longer counts."""
    run = Run.open(journal)
    one = run.forget(number)
    value = "failed" if one.value is None else f"{VALUE}={one.value!r}"
    say(f"Forgot number {number}: {written(one.params, run.state.space)} {value}")
    say(f"{_left(run)}.")


def extend_(
    journal: RunFile,
    budget: Annotated[int, typer.Option(help="Evaluations in all, more than before.")],
) -> None:
    """Let a run go on to a larger budget, also when the present one is spent."""
    run = Run.open(journal)
    run.extend(budget)
    say(f"{_left(run)}.")


def left(budget: int, told: int = 0, under_way: int = 0) -> str:
    """How many evaluations of a budget are left, in words."""
    rest = f"{max(0, budget - told)} of {budget} evaluations left"
    return f"{rest}, {under_way} of them under way" if under_way else rest


def _left(run: Run) -> str:
    return left(run.state.budget, len(run.state.history), len(run.state.pending))


@contextmanager
def _named(journal: Path) -> Iterator[None]:
    """Put the journal's own name into the remedy of an error."""
    try:
        yield
    except MetaBOError as error:
        error.in_shell = error.in_shell.replace("RUN.jsonl", quote(shown(journal)))
        raise


def _drop(run: Run, journal: Path, words: list[str], *, is_all: bool) -> None:
    pending = [line.evaluation.params for line in run.state.pending]
    if not pending:
        raise OptionError(f"Nothing is under way in `{shown(journal)}`.")
    if words:
        params, value = read_words(words, run.state.space)
        if value is not None:
            raise OptionError(f"A point to give up has no value. Leave out `{VALUE}=...`.")
        given_up = [run.state.space.clean(params)]
    elif is_all or len(pending) == 1:
        given_up = pending
    else:
        raise OptionError(
            f"{len(pending)} points are under way. Say which to give up, as `--again` shows them, "
            "or give up all with `--drop --all`."
        )
    for one in given_up:
        run.release(one)
        say(f"Gave up {written(one, run.state.space)}")
    say(f"{_left(run)}.")


def _read_space(path: Path) -> Space:
    record = read_json(path, "`--space` file")
    try:
        return from_json(record)
    except MetaBOError as error:
        raise DataError(f"The `--space` file `{shown(path)}` cannot be used: {error}") from None
