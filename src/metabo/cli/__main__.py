"""`python -m metabo.cli` runs the command line."""

from metabo.cli.app import main

if __name__ == "__main__":
    main()
