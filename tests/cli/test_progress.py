import io

import pytest
from rich.console import Console

from metabo.cli.progress import EVERY, LinesOrBars


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def piped():
    """Progress into a file, whose clock the test turns, and what was printed so far."""
    clock, file = Clock(), io.StringIO()
    progress = LinesOrBars("reward {task.fields[reward]:.3f}", Console(file=file), clock=clock)
    return progress, clock, lambda: file.getvalue().splitlines()


def test_a_pipe_gets_a_line_now_and_then_and_one_at_the_end(piped):
    progress, clock, lines = piped
    progress.start()
    task = progress.add_task("branin", total=100, reward=0.0)
    for done in range(1, 101):
        clock.now += EVERY / 10
        progress.update(task, completed=done, reward=done / 10)
    progress.update(task, completed=100)
    assert len(lines()) == 10
    assert lines()[0].startswith("branin 10/100 reward 1.000 0:00:0")
    assert lines()[-1].startswith("branin 100/100 reward 10.000 0:00:")
    assert not any("━" in line for line in lines())


def test_a_short_task_says_that_it_is_done(piped):
    progress, _, lines = piped
    for name in ("ei", "random"):
        task = progress.add_task(name, total=3, reward=0.0)
        for done in (1, 2, 3):
            progress.update(task, completed=done)
    progress.stop()
    assert [line.split()[:2] for line in lines() if line] == [["ei", "3/3"], ["random", "3/3"]]


@pytest.mark.parametrize("width", [80, 200])
def test_a_narrow_terminal_shows_whole_numbers(width):
    console = Console(file=io.StringIO(), force_terminal=True, width=width)
    progress = LinesOrBars("reward {task.fields[r]:.3f}  validation -3.214", console)
    task = progress.add_task("branin, 850 steps/s", total=500, r=-2.718)
    progress.update(task, completed=123)
    with console.capture() as captured:
        console.print(progress.get_renderable())
    for words in ("branin, 850 steps/s", "123/500", "-2.718", "-3.214", "0:00:00", "-:--:--"):
        assert words in captured.get()
    assert captured.get().count("\n") == 1
