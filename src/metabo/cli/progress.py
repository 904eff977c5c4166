"""Progress on standard error: bars in a terminal, plain lines in a file or a pipe."""

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

EVERY = 5.0
"""Least number of seconds between two lines."""


class LinesOrBars(Progress):
    """Progress bars in a terminal, and a line every few seconds elsewhere."""

    def __init__(
        self, text: str, console: Console, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # In a narrow terminal only the bar shrinks; numbers stay whole.
        whole = Column(no_wrap=True)
        super().__init__(
            TextColumn("{task.description:>12}"),
            BarColumn(bar_width=None, table_column=Column(max_width=40)),
            MofNCompleteColumn(table_column=whole.copy()),
            TextColumn(text),
            TimeElapsedColumn(table_column=whole.copy()),
            TimeRemainingColumn(table_column=whole.copy()),
            console=console,
            disable=not console.is_terminal,
            get_time=clock,
        )
        self._spoken = clock()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Update a task as Rich does, and print a line if there is no bar."""
        was_finished = task_id in self._tasks and self._tasks[task_id].finished
        super().update(task_id, **changes)
        task, now = self._tasks[task_id], self.get_time()
        if self.disable and (now - self._spoken >= EVERY or (task.finished and not was_finished)):
            self._spoken = now
            columns = [c for c in self.columns if not isinstance(c, str | BarColumn)]
            words = " ".join(str(column(task)) for column in columns)
            self.console.out(" ".join(words.split()), highlight=False)


def progress_bars(text: str = "steps") -> Progress:
    """Return progress bars on standard error, with a text after each count."""
    return LinesOrBars(text, Console(stderr=True))
