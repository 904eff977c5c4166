"""The number of source tasks: train on that many, then measure regret on unseen tasks.

Each training run has its own folder, such as `branin-sources-5`. A finished run is
used as it is; an interrupted one is resumed; a missing one is started.
"""

import hashlib
from pathlib import Path

from metabo.errors import DataError
from metabo.evaluation.numbers import fixed, significant
from metabo.evaluation.table import NOTHING, Row, Table, names, numbers
from metabo.options import parse
from metabo.paper.catalogue import ALL_SOURCES, Unit
from metabo.paper.job import Job
from metabo.paper.kinds.kind import Kind, Picture
from metabo.paper.medians import regret_record
from metabo.paper.results import Record, Stored
from metabo.paper.threshold import first_step, steps_cell
from metabo.pretrained import read_card
from metabo.training import TrainConfig, preset, read_settings
from metabo.training.api import run_training
from metabo.training.folder import has_run

ARTIFACT = "af.safetensors"


def run(job: Job) -> Record:
    """Regret of the AF that learned from M tasks, and how it was trained."""
    path = run_folder(job.unit, job.artifacts) / ARTIFACT
    if not path.exists():
        _train(job, path.parent)
    training = read_card(path)["training"]
    assert isinstance(training, dict)
    _require_alike(job.unit, training["config"], path)
    return {
        **regret_record(job.evaluated(artifact=str(path))),
        "artifact": hashlib.sha256(path.read_bytes()).hexdigest()[:16],
        "training": training,
    }


def tables(stored: Stored) -> list[Table]:
    """Steps to the threshold by the number of source tasks, and how the AF was trained."""
    size, experiment = stored.size, stored.experiment
    (family,) = experiment.families
    rows: list[Row] = []
    for number in size.sources:
        result = stored.result(family, f"metabo:sources={number}")
        if result is None:
            rows.append((number, *[NOTHING] * 4))
            continue
        training = result["training"]
        rows.append(
            (
                number,
                steps_cell(result, experiment.threshold, size.budget),
                significant(result["median"][-1]),
                str(tasks_seen(training, number)),
                fixed(training["seconds"], 0),
            )
        )
    title = (
        f"{family}: steps until the median regret over {size.tasks} tasks is at most "
        f"{experiment.threshold:g} (90 % interval), by the number M of source tasks"
    )
    heads = ("steps", f"regret at t={size.budget}", "tasks seen", "training (s)")
    return [Table.of(title, [*names("M"), *numbers(heads)], rows)]


def figure(stored: Stored) -> Picture:
    """Steps over the number of source tasks, and how many the full version saw."""
    from matplotlib.figure import Figure

    from metabo.evaluation.plots import entitle, styles

    figure = Figure(figsize=(6.4, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots()
    (family,) = stored.experiment.families
    colour, _, _ = styles(["metabo"])["metabo"]
    limit, budget = stored.experiment.threshold, stored.size.budget
    found = {m: stored.result(family, f"metabo:sources={m}") for m in stored.size.sources}
    steps = {m: first_step(result, limit) for m, result in found.items() if result is not None}
    fixed_numbers = sorted(int(m) for m in steps if m != ALL_SOURCES)
    heights = [steps[str(m)] for m in fixed_numbers]
    axes.plot(fixed_numbers, heights, color=colour, marker="o", label="M source tasks")
    every = found.get(ALL_SOURCES)
    if every is not None:
        seen = tasks_seen(every["training"], ALL_SOURCES)
        axes.axvline(max(seen, 1), color="grey", linestyle="--")
        label = f"a new task every episode; {seen:,} seen at convergence"
        axes.plot([max(seen, 1)], [steps[ALL_SOURCES]], "s", color=colour, label=label)
    axes.axhline(budget + 1, color="grey", linewidth=0.8)
    axes.text(1, budget + 1, " not reached", va="bottom", fontsize=8, color="grey")
    axes.set_xscale("log")
    axes.set_ylim(0)
    axes.set_xlabel("number of source tasks M")
    axes.set_ylabel(f"steps to median regret {limit:g}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(frameon=False)
    entitle(figure, stored.experiment.title)
    return figure


def tasks_seen(training: Record, number: str) -> int:
    """Number of different tasks met until the iteration whose weights were kept."""
    config = training["config"]
    seen = training["best_iteration"] * config["episodes"] // config.get("group", 1)
    return int(seen if number == ALL_SOURCES else min(seen, int(number)))


def run_folder(unit: Unit, artifacts: Path) -> Path:
    """Return the folder of a unit's training run."""
    scale = "" if unit.scale == "full" else f"{unit.scale}-"
    return artifacts / f"{scale}{parse(unit.family)[0]}-sources-{unit.sources}"


def configuration(unit: Unit, device: str) -> TrainConfig:
    """Return the training configuration of a unit's AF."""
    words = dict(word.split("=", 1) for word in unit.training)
    name = words.pop("preset", "default")
    changes = read_settings([f"{key}={value}" for key, value in words.items()])
    changes |= {"device": device, "seed": unit.seed}
    if unit.sources != ALL_SOURCES:
        changes["sources"] = int(unit.sources)
    return preset(name, _training_family(unit.family, device), **changes)


def command(unit: Unit, artifacts: Path, device: str) -> str:
    """Return the command that trains a unit's AF with the core package alone."""
    words = dict(word.split("=", 1) for word in unit.training)
    given = f"--preset {words.pop('preset', 'default')} --seed {unit.seed} --device {device}"
    if unit.sources != ALL_SOURCES:
        given += f" --sources {unit.sources}"
    settings = "".join(f" --set {key}={value}" for key, value in words.items())
    family = _training_family(unit.family, device)
    out = run_folder(unit, artifacts)
    return f"python -m metabo.training {family} {given}{settings} --out {out}"


def _require_alike(unit: Unit, trained: Record, path: Path) -> None:
    """Require that the AFs of a study differ in the number of source tasks alone."""
    wanted = configuration(unit, str(trained["device"]))
    difference = wanted.first_difference(trained)
    if difference is not None:
        raise DataError(
            f"`{path}` was not trained as the study asks: {difference}. Move it away, or train it "
            "as `python -m metabo.paper --commands` says."
        )


def _training_family(family: str, device: str) -> str:
    """Use compiled simulations on a GPU: CUDA graphs become small, and values hardly change."""
    is_simulated = parse(family)[0] in ("furuta", "furuta-reference")
    return f"{family}:fused=cuda" if is_simulated and device != "cpu" else family


def _train(job: Job, folder: Path) -> None:
    config = configuration(job.unit, job.device)
    run_training(
        config,
        folder,
        resume=has_run(folder),
        on_event=lambda event: job.on_step(event.iteration, event.iterations),
    )


KIND = Kind("sources", run, tables, figure)
