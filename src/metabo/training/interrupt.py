"""Ctrl-C in training: the first stops at a point that can be resumed, the second at once."""

import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import parent_process
from pathlib import Path
from types import FrameType

from metabo.errors import shown

_NOTICE = (
    b"\nInterrupted: finishing this iteration and saving it. Press Ctrl-C again to stop at once.\n"
)


class TrainingInterrupted(KeyboardInterrupt):
    """Training was interrupted after an iteration and can be resumed from there.

    Attributes:
        out: Folder of the run.
        iteration: Number of iterations done.
        iterations: Number of iterations of the whole run.
    """

    def __init__(self, out: Path, iteration: int, iterations: int) -> None:
        super().__init__(out, iteration, iterations)
        self.out, self.iteration, self.iterations = out, iteration, iterations

    def __str__(self) -> str:
        return (
            f"Interrupted after iteration {self.iteration} of {self.iterations}; everything is "
            f"saved in `{shown(self.out)}`. Continue with the same call and `resume=True`."
        )


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], bool]]:
    """Turn the first SIGINT into a flag, read by the yielded function; the second interrupts.

    This applies only in the main thread, which receives signals, and only in place of Python's
    default handler: a program that handles or ignores the signal keeps doing so.
    """
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    noticed = threading.Event()
    if not is_ours:
        yield noticed.is_set
        return

    def notice(number: int, frame: FrameType | None) -> None:
        if noticed.is_set():
            signal.default_int_handler(number, frame)
        noticed.set()
        if parent_process() is None:  # Ctrl-C reaches all processes, but only one should print
            with suppress(OSError):
                os.write(2, _NOTICE)  # `print` is not re-entrant

    signal.signal(signal.SIGINT, notice)
    try:
        yield noticed.is_set
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def farewell(
    interrupt: KeyboardInterrupt, program: str, words: Sequence[str], *, is_begun: bool
) -> str:
    """Return the message after Ctrl-C: what was saved, and the command that resumes the run.

    Args:
        interrupt: Exception that ended the training.
        program: Program that was called, such as `metabo`.
        words: Arguments of the program.
        is_begun: Whether there is a run to resume.
    """
    kept = [word for word in words if word not in ("--resume", "--no-resume")]
    command = shlex.join([*program.split(), *kept, *(["--resume"] if is_begun else [])])
    where = "Interrupted."
    if isinstance(interrupt, TrainingInterrupted):
        done = f"iteration {interrupt.iteration} of {interrupt.iterations}"
        where = f"Interrupted after {done}; everything is saved."
    elif is_begun:
        where = "Interrupted; the last checkpoint is kept."
    return f"{where} Continue with: {command}"
