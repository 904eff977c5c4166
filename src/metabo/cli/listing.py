"""`metabo list`."""

from metabo.cli.console import console, say
from metabo.cli.inventory import tables


def list_() -> None:
    """Show families, methods, searches, presets, artifacts and experiments, with options."""
    for table in tables():
        console.print(table)
    say("Every field of TrainConfig can be set: `metabo train FAMILY --set NAME=VALUE`.")
