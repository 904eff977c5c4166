"""`metabo list`."""


def list_() -> None:
    """List the families, methods, searches, presets, artifacts and experiments, with options."""
    from metabo.cli.console import console, say
    from metabo.cli.inventory import tables

    for table in tables():
        console.print(table)
    say("Every field of TrainConfig can be set: `metabo train FAMILY --set NAME=VALUE`.")
