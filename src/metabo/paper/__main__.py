"""`python -m metabo.paper EXPERIMENT ...`: run missing results with the core package alone."""

import argparse
import sys
from pathlib import Path

from metabo.errors import MetaBOError
from metabo.paper import RESULTS, STUDY_RUNS
from metabo.paper.catalogue import EXPERIMENTS, experiment, scale
from metabo.paper.kinds.sources import command
from metabo.paper.results import missing
from metabo.paper.runner import run


def main() -> None:
    """Run the missing units and print a line for each; exit with 1 if some cannot run."""
    parser = argparse.ArgumentParser(prog="python -m metabo.paper", description=__doc__)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", default=list(EXPERIMENTS))
    parser.add_argument("--scale", default="full")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--methods", help="Methods to run, separated by commas; all if left out.")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--artifacts", type=Path, default=STUDY_RUNS)
    parser.add_argument(
        "--commands",
        action="store_true",
        help="Print the commands that train the AFs of studies, and run nothing.",
    )
    given = parser.parse_args()
    try:
        size = scale(given.scale)
        units = [u for name in given.experiments for u in experiment(name).units(size)]
    except MetaBOError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    if given.methods:
        units = [unit for unit in units if unit.method in given.methods.split(",")]
    if given.commands:
        for unit in units:
            if unit.sources:
                print(command(unit, given.artifacts, given.device))
        return
    failed = 0
    for unit in missing(units, given.out):
        reasons = list(run([unit], given.out, device=given.device, artifacts=given.artifacts))
        failed += len(reasons)
        print(unit.path, *(f"cannot run: {reason}" for _, reason in reasons), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
