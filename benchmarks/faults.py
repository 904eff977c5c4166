"""Kill, crowd, damage and fuzz: nothing is lost, no fault is a traceback or a wrong value.

Prints one JSON line per case, with its number of failures, and exits with 1 if there is any.

| part      | what happens                                                                  |
| --------- | ----------------------------------------------------------------------------- |
| `kills`   | 10,000 SIGKILLs during tell, ask, init, checkpoint and resume                 |
| `crowd`   | 16 processes x 4 threads, and their forks, tell 10,000 values to one journal  |
| `files`   | 10,000 single faults in journals, artifacts, cards, checkpoints and tables    |
| `inputs`  | 100,000 random inputs: values, spaces, budgets, names                         |
| `figures` | every failure that was once seen, again                                       |

    python benchmarks/faults.py [--smoke] [--part PART ...] [--seed 0]
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator

from fault_cases.crowd import crowd
from fault_cases.figures import figures
from fault_cases.files import files
from fault_cases.kills import kills
from inputs_fuzz import run, summary

from metabo.version import commit

PARTS = ("kills", "crowd", "files", "inputs", "figures")


def cases(part: str, *, is_smoke: bool, seed: int) -> Iterator[dict[str, object]]:
    """The summaries of one part."""
    if part == "kills":
        yield from kills(10 if is_smoke else 10_000, seed)
    elif part == "crowd":
        yield from crowd(64 if is_smoke else 10_048)
    elif part == "files":
        yield from files(100 if is_smoke else 10_000, seed)
    elif part == "inputs":
        for kind, counts in summary(run(300 if is_smoke else 100_000, seed)).items():
            yield {"case": f"inputs: {kind}", **counts}
    else:
        yield from figures(is_smoke=is_smoke)


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="a few of each, to see that it runs")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures = 0
    for part in given.part or PARTS:
        began = time.perf_counter()
        for case in cases(part, is_smoke=given.smoke, seed=given.seed):
            took = round(time.perf_counter() - began, 1)
            line = {"name": "faults", "part": part, **case, "seconds": took, "commit": commit()}
            print(json.dumps(line), flush=True)
            failures += int(str(case["failures"]))
            began = time.perf_counter()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
