"""Every failure that was once seen, tried again."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from fault_cases import journal_figures as journals
from fault_cases import other_figures as others
from fault_cases.refusal import Outcome


def figures(*, is_smoke: bool) -> Iterator[dict[str, object]]:
    """One line for each case."""
    for name, (then, check) in CASES.items():
        if is_smoke and name in SLOW:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tries, failures = check(Path(folder))
        yield {"case": name, "then": then, "tries": tries, "failures": failures}


CASES: dict[str, tuple[str, Callable[[Path], Outcome]]] = {
    "threads tell one Optimizer": ("12 of 12 runs lost values", journals.threads),
    "parent and fork tell one Optimizer": ("values lost", journals.fork),
    "a file that is no journal, or a link to one": ("wiped", journals.wiped),
    "ask at D = 3, t = 3,000": ("8 GB were not enough", others.long(3, 3000, 2.0, 3.0)),
    "ask at D = 3, t = 9,999": ("one allocation of 25.6 GB", others.long(3, 9999, 2.0, 3.0)),
    "ask at D = 100, t = 100": ("15.6 s, 2.2 GB", others.long(100, 100, 1.0, 3.0)),
    "metabo tell with little memory": ("traceback, value lost", journals.tell_under_pressure),
    "8 processes x 50 tells": ("343 of 400 refused", journals.simultaneous),
    "dropped, doubled, swapped lines": ("60 of 60 unnoticed", journals.lines),
    "flips in a journal": ("8 of 200 changed a value", journals.flips),
    "weights of NaN, inf, 1e38": ("9 of 9 used", others.weights),
    "flips in an artifact's weights": ("250 of 250 accepted", others.artifact_flips),
    "cards that are huge, deep or absurd": ("128 s and 3 GB; tracebacks", others.cards),
    "special files and absurd numbers": ("hangs and tracebacks", others.inputs),
    "grown factor at near-duplicates": ("off by up to 28 signal deviations", others.factor),
}
SLOW = ("ask at D = 3, t = 3,000", "ask at D = 3, t = 9,999", "ask at D = 100, t = 100")
