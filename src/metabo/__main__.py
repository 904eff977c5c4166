"""The command `metabo`, also to be run as `python -m metabo`."""

import sys


def main() -> None:
    """Run the command line, which Ctrl-C ends quietly even while it is being imported."""
    try:
        from metabo.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
