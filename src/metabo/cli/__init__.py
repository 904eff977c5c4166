"""The command line, one file per command."""

from metabo.cli.app import app, main

__all__ = ["app", "main"]
