"""Give metabo random input, sensible and absurd: it is refused in a sentence, or the laws hold.

A case is a function of its seed and number: a parameter, a space, the words of a command, a name
with options, a list of tasks, a JSON file, a folder with a table, a path, or a run with asks and
tells. It ends with a `MetaBOError` (one line, shorter than 1,000 characters) or with a result that
satisfies the laws: encodings inside the cube, values inside the space, nothing lost on the way to
JSON or to the shell and back, no NaN, no repeated proposal in a discrete space, a history of what
was told. Any other exception, a warning, a broken law or more than 20 seconds is a failure.

Prints one JSON line per kind of case, and one for each failure, which `--only` repeats.

    python benchmarks/inputs_fuzz.py [--smoke] [--cases 100000] [--seed 0] [--only NUMBER]
"""

import argparse
import json
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import torch
from input_laws import CASES, BrokenLawError, check_message

from metabo.errors import MetaBOError
from metabo.version import commit

SECONDS = 20
"""After which a case without an answer is a failure."""


def run_case(case: int, seed: int, folder: Path) -> dict[str, object]:
    """One case: its kind, whether it was refused, and what went wrong if anything did."""
    r = Random(f"{seed}/{case}")
    kind = r.choices(list(CASES), [weight for weight, _ in CASES.values()])[0]
    line: dict[str, object] = {"case": case, "kind": kind, "refused": False, "failure": None}

    def late(*_: object) -> None:
        raise BrokenLawError(f"no answer in {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CASES[kind][1](r, folder)
    except MetaBOError as error:
        line["refused"] = True
        try:
            check_message(error)
        except BrokenLawError as problem:
            line["failure"] = str(problem)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        line["failure"] = f"{type(error).__name__} at {where}: {str(error)[:300]!r}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return line


def run(n: int, seed: int, first: int = 0) -> Iterator[dict[str, object]]:
    """The outcomes of `n` cases; files live in a folder that is removed in the end."""
    with tempfile.TemporaryDirectory() as folder:
        for case in range(first, first + n):
            yield run_case(case, seed, Path(folder))


def summary(outcomes: Iterable[dict[str, object]]) -> dict[str, dict[str, int]]:
    """Cases, refusals and failures of each kind."""
    counts = {kind: {"n": 0, "refused": 0, "failures": 0} for kind in CASES}
    for one in outcomes:
        count = counts[str(one["kind"])]
        count["n"] += 1
        count["refused"] += bool(one["refused"])
        count["failures"] += one["failure"] is not None
    return counts


def main() -> None:
    """Run the cases and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="500 cases")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="number of the one case to repeat")
    options = parser.parse_args()
    torch.set_num_threads(1)
    n = 1 if options.only is not None else 500 if options.smoke else options.cases
    head = {"name": "inputs_fuzz", "seed": options.seed, "commit": commit()}
    start, outcomes = time.perf_counter(), []
    for one in run(n, options.seed, options.only or 0):
        outcomes.append(one)
        if one["failure"] is not None:
            print(json.dumps(head | one), flush=True)
    seconds = round(time.perf_counter() - start, 1)
    counts = summary(outcomes)
    for kind, count in counts.items():
        print(json.dumps(head | {"case kind": kind, **count}))
    total = {key: sum(count[key] for count in counts.values()) for key in counts["run"]}
    print(json.dumps(head | {"case kind": "all", **total, "seconds": seconds}))


if __name__ == "__main__":
    main()
