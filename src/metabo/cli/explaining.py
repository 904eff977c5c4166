"""The output of `metabo explain`: pictures and tables."""

from pathlib import Path

from metabo.cli.console import say
from metabo.cli.tables import print_table
from metabo.evaluation.table import Table, names, numbers
from metabo.explain import Explanation
from metabo.explain.curves import pictures
from metabo.space import Value
from metabo.store import write_all


def draw_and_print(explanation: Explanation, folder: Path) -> None:
    """Write the pictures of an explanation to a folder, and print its tables."""
    drawn = pictures(explanation)
    write_all(folder, drawn)
    _print(explanation)
    say(f"Wrote {', '.join(drawn)} in {folder}")


def _print(explanation: Explanation) -> None:
    """Print a table for each episode: the decisions, and their ranks under EI."""
    for episode in explanation.episodes:
        rows = []
        for step in episode.steps:
            query = explanation.space.decode(step.query).values()
            value = "failed" if step.told is None else _short(step.told)
            rank = f"{step.ei_rank} of {step.ei_candidates}"
            cells = [*map(_short, query), _short(step.mean), _short(step.std), value, rank]
            rows.append((str(step.number), *cells))
        heads = (*explanation.space.parameters, "mean", "deviation", "value", "rank under EI")
        title = f"{explanation.headline}, {episode.title}"
        print_table(Table.of(title, [*names("step"), *numbers(heads)], rows))


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
