"""`python -m metabo`: the command `metabo`."""

from metabo.cli import main

main()
