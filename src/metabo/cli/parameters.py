"""Arguments and options that several commands share.

Signatures import only light modules, so that help and usage errors do not wait for torch; a
command imports what it computes with when it runs.
"""

import re
from pathlib import Path
from typing import Annotated

import typer

from metabo.choices import SearchName
from metabo.errors import OptionError, shown


def folder_of(family: str, prefix: str = "") -> Path:
    """Return the default output folder of a command for a family, such as runs/train-branin."""
    return Path("runs") / f"{prefix}{family.replace(':', '-').replace('/', '-')}"


def names_in(text: str) -> list[str]:
    """Return the names that a text lists, separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _device(name: str) -> str:
    """Check the form of a device name; torch checks later whether the device exists."""
    if re.fullmatch(r"cpu|cuda(:[0-9]{1,3})?", name) is None:
        raise OptionError(
            f"`--device` must be `cpu`, `cuda` or `cuda:N`, such as `cuda:1`, but got "
            f"`{shown(name)}`."
        )
    return name


Family = Annotated[
    str,
    typer.Argument(
        metavar="FAMILY",
        show_default=False,
        help="Task family, such as branin, gp-matern52:dim=4 or table:FOLDER; `metabo list` "
        "shows all.",
    ),
]
Journal = Annotated[
    Path, typer.Argument(metavar="RUN.jsonl", show_default=False, help="Journal of the run.")
]
Search = Annotated[SearchName, typer.Option(help="How to maximize acquisition functions.")]
Device = Annotated[
    str,
    typer.Option(
        metavar="cpu|cuda|cuda:N",
        callback=_device,
        autocompletion=lambda: ["cpu", "cuda"],
        help="Device to compute on.",
    ),
]
TaskFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="JSON list of task parameters to use instead of drawn tasks."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Training setting, such as episodes=40: any field of TrainConfig. Repeatable.",
    ),
]
