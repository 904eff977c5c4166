"""Several training runs at a time, each in its own folder; interrupted runs are resumed."""

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

import torch

from metabo.errors import MetaBOError
from metabo.training import Event, train
from metabo.training.folder import has_run
from metabo.training.log import read_log

Run = tuple[str, Mapping[str, object]]
"""A family, and the settings of the training on it."""


@dataclass(frozen=True)
class TrainingRuns:
    """Training runs in the subfolders of a folder."""

    out: Path
    """Folder that holds the folders of the runs."""
    jobs: int
    """Number of runs at a time, each on one core."""
    iterations: Mapping[str, int]
    """Number of iterations of each planned run, as far as it is known in advance."""
    on_progress: Callable[[int, int], None] | None = None
    """Called with the number of iterations done and the total number."""

    def train(self, runs: Mapping[str, Run]) -> None:
        """Train all runs that are not finished, and resume interrupted ones.

        Raises:
            MetaBOError: If a process was killed or could not start.
        """
        left = {name: run for name, run in runs.items() if not self._is_finished(name)}
        if self.jobs > 1 and left:
            self._train_side_by_side(left)
        else:
            for name, run in left.items():
                _train(run, self.out / name, lambda _: self._tell())
        self._tell()

    def _train_side_by_side(self, runs: Mapping[str, Run]) -> None:
        # Spawned, because a forked process could inherit locks of torch's threads.
        with ProcessPoolExecutor(
            self.jobs, mp_context=get_context("spawn"), initializer=_begin_worker
        ) as pool:
            waiting: set[Future[Path]] = {
                pool.submit(_train, run, self.out / name) for name, run in runs.items()
            }
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=1.0)
                    for future in done:
                        future.result()
                    self._tell()
            except BrokenProcessPool:
                raise MetaBOError(
                    "A training process was killed or did not start. If it was killed, run the "
                    "same again: finished training is kept. In a script, put the call under "
                    '`if __name__ == "__main__":`, or give `jobs=1`.'
                ) from None
            except BaseException:
                # Otherwise leaving the pool would wait for all submitted runs.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _tell(self) -> None:
        if self.on_progress is not None:
            done = {name: self._n_done(name) for name in self.iterations}
            self.on_progress(sum(done.values()), sum(self._end(n, done[n]) for n in done))

    def _is_finished(self, name: str) -> bool:
        return (self.out / name / "af.safetensors").exists()

    def _n_done(self, name: str) -> int:
        logs = list((self.out / name).glob("member-*/log.jsonl"))  # a team has several
        logs = logs or [self.out / name / "log.jsonl"]
        return sum(log.read_bytes().count(b"\n") for log in logs if log.is_file())

    def _end(self, name: str, n_done: int) -> int:
        """Return the iterations of a run: as configured, or fewer if it has stopped."""
        path = self.out / name / "config.json"
        if self._is_finished(name):
            return n_done
        try:
            config = json.loads(path.read_text())
            end = min(config["iterations"], config["stop_at"] or config["iterations"])
            return int(end * config.get("members", 1))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # Not written yet, or damaged, which must not stop the training.
            return self.iterations[name]


def scores(log: Path) -> list[tuple[int, float]]:
    """Read the validations of a run: the iteration and the score of each."""
    lines = read_log(log, is_strict=True)
    return [(line["iteration"], line["score"]) for line in lines if line["score"] is not None]  # type: ignore[misc]


def _train(run: Run, out: Path, on_event: Callable[[Event], None] | None = None) -> Path:
    family, settings = run
    return train(family, out=out, resume=has_run(out), on_event=on_event, **settings)  # type: ignore[arg-type]


def _begin_worker() -> None:
    torch.set_num_threads(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the parent is killed: a resumed run would write to the same files."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
