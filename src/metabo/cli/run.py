"""`metabo init`, `ask`, `tell`, `forget` and `extend`: a run that is kept in a journal."""

from pathlib import Path
from typing import Annotated

import typer

from metabo.choices import CandidatesName, Direction, PriorName
from metabo.cli.parameters import Journal, Search
from metabo.errors import OptionError, shown
from metabo.inputs import kind_of
from metabo.rules import MAX_BUDGET


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
    if artifact is not None and af is not None:
        raise OptionError(f"Give `--artifact` or `--af`, but not both `{artifact}` and `{af}`.")
    kind = kind_of(journal, "journal")
    if kind == "folder":
        raise OptionError(f"`{shown(journal)}` is a folder. Give the name of a file.")
    if kind != "missing" and not (kind == "file" and not journal.stat().st_size):
        raise OptionError(f"`{shown(journal)}` already exists. Choose another name.")
    from metabo.cli.running import start

    start(
        journal,
        space,
        budget=budget,
        af=artifact or af,
        direction=direction,
        seed=seed,
        prior=prior,
        search=search,
        candidates=candidates,
    )


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
    is_explained: Annotated[
        bool,
        typer.Option("--why", help="Also print, on standard error, why a point was chosen."),
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
    if (is_again and is_drop) or (is_all and not is_drop) or (words and (is_all or not is_drop)):
        raise OptionError(
            "`--again` and `--drop` cannot be combined, and a point or `--all` needs `--drop`."
        )
    if is_explained and (is_again or is_drop):
        raise OptionError("`--why` explains new points. Leave out `--again` and `--drop`.")
    from metabo.cli.running import drop, propose, show_pending

    if is_drop:
        drop(journal, words or [], is_all=is_all)
    elif is_again:
        show_pending(journal, as_json=as_json)
    else:
        propose(journal, n, artifact, as_json=as_json, is_explained=is_explained)


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
    from metabo.cli.running import tell

    tell(journal, words, value, is_failure=failed)


def forget_(
    journal: Journal,
    number: Annotated[
        int,
        typer.Argument(
            metavar="N", show_default=False, help="Number of the result in `metabo show`."
        ),
    ],
) -> None:
    """Withdraw a wrong result.

    Its line stays in the journal, but no longer counts.
    """
    from metabo.cli.running import forget

    forget(journal, number)


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
    from metabo.cli.running import extend

    extend(journal, budget)
