"""`metabo show`."""

from pathlib import Path
from typing import Annotated

import typer

from metabo.cli.parameters import Journal


def show_(
    journal: Journal,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", help="Where to write the picture.", show_default="RUN.png"
        ),
    ] = None,
    is_repaired: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Copy the intact lines of a damaged journal to RUN-repaired.jsonl, and show that "
            "run.",
        ),
    ] = False,
) -> None:
    """Show a run: a table of its results, the best one and a picture."""
    from metabo.cli.showing import repaired, show

    show(repaired(journal) if is_repaired else journal, out)
