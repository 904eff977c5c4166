"""The work of `metabo init`, `ask`, `tell`, `forget` and `extend`."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Unpack

import typer

from metabo.cli.assignments import VALUE, read_number, read_words, written
from metabo.cli.console import say
from metabo.errors import DataError, MetaBOError, OptionError, OutputError, shown
from metabo.inputs import read_json
from metabo.optimizer import Optimizer, Run, RunOptions
from metabo.space import Space
from metabo.space.schema import from_json


def start(journal: Path, space: Path | None, **options: Unpack[RunOptions]) -> None:
    """Start a run, and say how to continue it."""
    where = None if space is None else _read_space(space)
    with Optimizer(where, journal=journal, **options) as optimizer:
        names = ", ".join(optimizer.space.parameters)
        say(f"Wrote {journal}: {names}; {left(optimizer.budget)}.")
        say(f"GP prior: {optimizer.prior_source}.")
        if optimizer.configurations is not None:
            n = len(optimizer.configurations.rows)
            say(f"Proposes among the table's {n} configurations, unless `--candidates space`.")
        say(f"What to evaluate first: `metabo ask {quote(str(journal))}`")


def propose(
    journal: Path, n: int, artifact: Path | None, *, as_json: bool, is_explained: bool
) -> None:
    """Print new points, and on request why they were chosen."""
    with _named(journal), Optimizer.open(journal, af=artifact) as optimizer:
        # A journal of format 1 cannot record reserved points.
        proposals = optimizer.propose(n, reserve=optimizer.can_reserve)
    for one in proposals:
        say(json.dumps(one.params) if as_json else written(one.params, optimizer.space))
        if is_explained:
            typer.echo(str(one.why), err=True)


def show_pending(journal: Path, *, as_json: bool) -> None:
    """Print the points under way."""
    state = Run.open(journal).state
    if not state.pending:
        typer.echo("Nothing is under way.", err=True)
    for line in state.pending:
        params = line.evaluation.params
        say(json.dumps(params) if as_json else written(params, state.space))


def drop(journal: Path, words: Sequence[str], *, is_all: bool) -> None:
    """Give up the point that the words name, the only one, or all."""
    run = Run.open(journal)
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


def tell(journal: Path, words: Sequence[str], value: str | None, *, is_failure: bool) -> None:
    """Record a result."""
    # No model or artifact is loaded: nothing can fail before the result is kept.
    run = Run.open(journal)
    params, given = read_words(words, run.state.space)
    number = given if value is None else read_number(value)
    if is_failure == (number is not None) or (value is not None and given is not None):
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


def forget(journal: Path, number: int) -> None:
    """Withdraw a result."""
    run = Run.open(journal)
    one = run.forget(number)
    value = "failed" if one.value is None else f"{VALUE}={one.value!r}"
    say(f"Forgot number {number}: {written(one.params, run.state.space)} {value}")
    say(f"{_left(run)}.")


def extend(journal: Path, budget: int) -> None:
    """Give a run a larger budget."""
    run = Run.open(journal)
    run.extend(budget)
    say(f"{_left(run)}.")


def left(budget: int, told: int = 0, under_way: int = 0) -> str:
    """Say how many evaluations of a budget are left.

    Examples:
        >>> left(30, told=10, under_way=2)
        '20 of 30 evaluations left, 2 of them under way'
    """
    rest = f"{max(0, budget - told)} of {budget} evaluations left"
    return f"{rest}, {under_way} of them under way" if under_way else rest


def _left(run: Run) -> str:
    return left(run.state.budget, len(run.state.history), len(run.state.pending))


@contextmanager
def _named(journal: Path) -> Iterator[None]:
    """Put the journal's name into the remedy of an error."""
    try:
        yield
    except MetaBOError as error:
        error.in_shell = error.in_shell.replace("RUN.jsonl", quote(shown(journal)))
        raise


def _read_space(path: Path) -> Space:
    record = read_json(path, "`--space` file")
    try:
        return from_json(record)
    except MetaBOError as error:
        raise DataError(f"The `--space` file `{shown(path)}` cannot be used: {error}") from None
