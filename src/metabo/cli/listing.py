"""`metabo list`."""


def list_() -> None:
    """List the families, methods, searches, presets, artifacts and experiments, with options."""
    from metabo.cli.console import say
    from metabo.cli.inventory import tables
    from metabo.cli.tables import print_table

    for table in tables():
        print_table(table)
    say("Every field of TrainConfig can be set: `metabo train FAMILY --set NAME=VALUE`.")
