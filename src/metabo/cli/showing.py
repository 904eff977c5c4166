"""The work of `metabo show`: a run as a table and a picture, and the repair of its journal."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from shlex import quote

from metabo.cli.assignments import VALUE, written
from metabo.cli.console import say
from metabo.cli.running import left
from metabo.cli.tables import print_table
from metabo.errors import MetaBOError, OptionError, shown
from metabo.evaluation.table import Table, numbers
from metabo.evaluation.table import names as name_columns
from metabo.explain.run_plot import is_ours, plot_run
from metabo.inputs import kind_of
from metabo.optimizer import Optimizer, Run, best_of, repair, running_best
from metabo.store import write_all


def show(journal: Path, out: Path | None) -> None:
    """Print the results of a run and the best one, and draw the picture."""
    picture = journal.with_suffix(".png") if out is None else out
    if picture.suffix != ".png" or picture.absolute() == journal.absolute():
        raise OptionError(
            f"A picture cannot be written to `{shown(picture)}`. Give a name with `--out` that "
            "ends in `.png` and is not the journal's."
        )
    if out is None and picture.is_file() and not is_ours(picture):
        raise OptionError(
            f"`{shown(picture)}` is not a picture that metabo drew. Give another name with "
            "`--out`."
        )
    run = Run.open(journal, is_read_only=True)
    state, direction = run.state, run.direction
    history, names = state.history, list(state.space.parameters)
    rows = []
    for one, best in zip(history, running_best(history, direction), strict=True):
        value = "failed" if one.value is None else f"{one.value:.6g}"
        so_far = "-" if best is None else f"{best:.6g}"
        rows.append((str(one.number), *_cells(one.params), value, so_far))
    for line in state.pending:
        rows.append(("-", *_cells(line.evaluation.params), "under way", "-"))
    columns = [*name_columns("#"), *numbers([*names, VALUE, "best"])]
    print_table(Table.of(f"{journal.name}: {direction}", columns, rows))
    best_one = best_of(history, direction)
    if best_one is not None:
        say(f"Best: {written(best_one.params, state.space)} {VALUE}={best_one.value!r}")
    say(f"{left(state.budget, len(history), len(state.pending))}; {_model(journal)}")
    write_all(
        picture.parent,
        {picture.name: lambda path: plot_run(history, direction, state.budget, path)},
    )
    say(f"Wrote {picture}")


def repaired(journal: Path) -> Path:
    """Copy the intact lines of a journal, print the others, and return the copy."""
    names = (f"{journal.stem}-repaired{'' if i == 1 else f'-{i}'}" for i in count(1))
    news = (journal.with_name(f"{name}{journal.suffix}") for name in names)
    new = next(path for path in news if kind_of(path, "journal") == "missing")
    done = repair(journal, new)
    n = len(done.run.history)
    say(f"Wrote {new} with {n} evaluation{'' if n == 1 else 's'}; {journal} is unchanged.")
    for number, text in done.left_out:
        say(f"Left out, line {number}: {text[:300]}")
    if done.missing:
        say(
            f"{done.missing} line{'' if done.missing == 1 else 's'} could not be recovered. Look "
            f"at what was left out: tell a value again with `metabo tell {quote(str(new))} ...`, "
            "and repeat a `forget` or an `extend`."
        )
    return new


def _model(journal: Path) -> str:
    """Describe the GP prior, or say why nothing can be proposed: the run is shown anyway."""
    try:
        return f"GP prior: {Optimizer.open(journal, read_only=True).prior_source}."
    except MetaBOError as error:
        return f"nothing can be asked: {error.in_shell}"


def _cells(params: Mapping[str, object]) -> list[str]:
    return [f"{v:.6g}" if isinstance(v, float) else str(v) for v in params.values()]
