"""`metabo init`, `ask`, `tell`, `forget` and `extend`: a run kept in a journal, by hand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from metabo.choices import CandidatesName, Direction, PriorName
from metabo.cli.parameters import Journal, Search
from metabo.errors import DataError, MetaBOError, OptionError, OutputError, shown
from metabo.inputs import kind_of, read_json
from metabo.rules import MAX_BUDGET

if TYPE_CHECKING:
    from metabo.optimizer import Run
    from metabo.space import Space


def init_(
    journal: Journal,
    artifact: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Learned acquisition function; it brings its own space.",
            show_default="the general artifact",
        ),
    ] = None,
    af: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Classical acquisition function, such as ei, instead of an artifact.",
        ),
    ] = None,
    space: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="JSON file that describes the parameters; the guide to ask and tell shows one.",
            show_default="the artifact's",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_BUDGET,
            help="Number of evaluations in total.",
            show_default="the artifact's",
        ),
    ] = None,
    direction: Annotated[
        Direction | None,
        typer.Option(
            help="Whether to look for the smallest or the largest value.",
            show_default="the table's, or minimize",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the proposals.")] = 0,
    prior: Annotated[
        PriorName | None,
        typer.Option(
            help="GP prior: the artifact's, or one fitted during the run.",
            show_default="the artifact's, if there is one",
        ),
    ] = None,
    search: Search = "gradient",
    candidates: Annotated[
        CandidatesName | None,
        typer.Option(
            help="What to propose: configurations of the artifact's table, or any point of the "
            "space.",
            show_default="table, if there is one",
        ),
    ] = None,
) -> None:
    """Start a run and its journal; continue with `metabo ask` and `metabo tell`."""
    from metabo.cli.console import say
    from metabo.optimizer import Optimizer, RunSettings

    if artifact is not None and af is not None:
        raise OptionError(f"Give `--artifact` or `--af`, but not both `{artifact}` and `{af}`.")
    kind = kind_of(journal, "journal")
    if kind == "folder":
        raise OptionError(f"`{shown(journal)}` is a folder. Give the name of a file.")
    if kind != "missing" and not (kind == "file" and not journal.stat().st_size):
        raise OptionError(f"`{shown(journal)}` already exists. Choose another name.")
    settings = RunSettings(
        budget=budget,
        af=artifact or af,
        direction=direction,
        seed=seed,
        prior=prior,
        search=search,
        candidates=candidates,
    )
    where = None if space is None else _read_space(space)
    with Optimizer(where, settings=settings, journal=journal) as optimizer:
        names = ", ".join(optimizer.space.parameters)
        say(f"Wrote {journal}: {names}; {left(optimizer.budget)}.")
        say(f"GP prior: {optimizer.prior_source}.")
        if optimizer.configurations is not None:
            n = len(optimizer.configurations.rows)
            say(f"Proposes among the table's {n} configurations, unless `--candidates space`.")
        say(f"What to evaluate first: `metabo ask {quote(str(journal))}`")


def ask_(
    journal: Journal,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE...]", help="Point to give up, with --drop."),
    ] = None,
    n: Annotated[
        int,
        typer.Option(
            "-n", min=1, max=MAX_BUDGET, help="Number of points to evaluate side by side."
        ),
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each point as a line of JSON.")
    ] = False,
    is_again: Annotated[
        bool, typer.Option("--again", help="Show the points under way instead of new ones.")
    ] = False,
    is_drop: Annotated[
        bool, typer.Option("--drop", help="Give up a point that is under way.")
    ] = False,
    is_all: Annotated[
        bool, typer.Option("--all", help="Give up all points under way, with --drop.")
    ] = False,
    artifact: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the artifact is now, if its file has moved."),
    ] = None,
) -> None:
    """Propose what to evaluate next.

    A point counts as under way until its result is told or it is given up.
    """
    from metabo.cli.assignments import written
    from metabo.cli.console import say
    from metabo.optimizer import Optimizer, Run

    if (is_again and is_drop) or (is_all and not is_drop) or (words and (is_all or not is_drop)):
        raise OptionError(
            "`--again` and `--drop` cannot be combined, and a point or `--all` needs `--drop`."
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
    journal: Journal,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            show_default=False,
            help="Parameters of the point and its value, such as x1=0.3 x2=0.5 value=1.7.",
        ),
    ],
    value: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="The value, where a parameter is itself called `value`.",
        ),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Record that the evaluation gave no value.")
    ] = False,
) -> None:
    """Record the result of an evaluation, whether or not it was proposed.

    The result is on the disk when the command ends.
    """
    from metabo.cli.assignments import VALUE, read_number, read_words, written
    from metabo.cli.console import say
    from metabo.optimizer import Run

    run = Run.open(journal)  # no model and no artifact: nothing that could fail before it is kept
    params, given = read_words(words, run.state.space)
    number = given if value is None else read_number(value)
    if failed == (number is not None) or (value is not None and given is not None):
        raise OptionError(f"Give exactly one of `{VALUE}=...`, `--value` and `--failed`.")
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
    journal: Journal,
    number: Annotated[
        int,
        typer.Argument(
            metavar="N", show_default=False, help="Number of the result in `metabo show`."
        ),
    ],
) -> None:
    """Take back a wrong result.

    Its line stays in the journal, but no longer counts.
    """
    from metabo.cli.assignments import VALUE, written
    from metabo.cli.console import say
    from metabo.optimizer import Run

    run = Run.open(journal)
    one = run.forget(number)
    value = "failed" if one.value is None else f"{VALUE}={one.value!r}"
    say(f"Forgot number {number}: {written(one.params, run.state.space)} {value}")
    say(f"{_left(run)}.")


def extend_(
    journal: Journal,
    budget: Annotated[
        int,
        typer.Option(
            min=1,
            max=MAX_BUDGET,
            show_default=False,
            help="New number of evaluations in total, larger than before.",
        ),
    ],
) -> None:
    """Give a run a larger budget, even when the present one is spent."""
    from metabo.cli.console import say
    from metabo.optimizer import Run

    run = Run.open(journal)
    run.extend(budget)
    say(f"{_left(run)}.")


def left(budget: int, told: int = 0, under_way: int = 0) -> str:
    """How many evaluations of a budget are left, in words."""
    rest = f"{max(0, budget - told)} of {budget} evaluations left"
    return f"{rest}, {under_way} of them under way" if under_way else rest


def _left(run: "Run") -> str:
    return left(run.state.budget, len(run.state.history), len(run.state.pending))


@contextmanager
def _named(journal: Path) -> Iterator[None]:
    """Put the journal's own name into the remedy of an error."""
    try:
        yield
    except MetaBOError as error:
        error.in_shell = error.in_shell.replace("RUN.jsonl", quote(shown(journal)))
        raise


def _drop(run: "Run", journal: Path, words: list[str], *, is_all: bool) -> None:
    from metabo.cli.assignments import VALUE, read_words, written
    from metabo.cli.console import say

    pending = [line.evaluation.params for line in run.state.pending]
    if not pending:
        raise OptionError(f"Nothing is under way in `{shown(journal)}`.")
    if words:
        params, value = read_words(words, run.state.space)
        if value is not None:
            raise OptionError(f"`--drop` takes a point without a value. Leave out `{VALUE}=...`.")
        given_up = [run.state.space.clean(params)]
    elif is_all or len(pending) == 1:
        given_up = pending
    else:
        raise OptionError(
            f"{len(pending)} points are under way. Name the one to give up as `--again` shows it, "
            "or give up all with `--drop --all`."
        )
    for one in given_up:
        run.release(one)
        say(f"Gave up {written(one, run.state.space)}")
    say(f"{_left(run)}.")


def _read_space(path: Path) -> "Space":
    from metabo.space.schema import from_json

    record = read_json(path, "`--space` file")
    try:
        return from_json(record)
    except MetaBOError as error:
        raise DataError(f"The `--space` file `{shown(path)}` cannot be used: {error}") from None
