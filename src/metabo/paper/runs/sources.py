"""The number of source tasks: train with so many, then look at unseen tasks.

Training runs are kept in a folder, each in its own: `branin-sources-5`. A finished one is taken
as it is; else it is begun, or goes on where it stopped.
"""

import hashlib
from pathlib import Path

from metabo.errors import DataError
from metabo.options import parse
from metabo.paper.catalogue import ALL_SOURCES, Unit
from metabo.paper.runs.job import Job, Record, regret_record
from metabo.pretrained import read_card
from metabo.training import TrainConfig, preset, read_settings
from metabo.training.api import run_training
from metabo.training.folder import has_run

ARTIFACT = "af.safetensors"


def sources(job: Job) -> Record:
    """Regret of the AF that learned from M tasks, and how it came about."""
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


def run_folder(unit: Unit, artifacts: Path) -> Path:
    """Where the training run of a unit is kept."""
    scale = "" if unit.scale == "full" else f"{unit.scale}-"
    return artifacts / f"{scale}{parse(unit.family)[0]}-sources-{unit.sources}"


def configuration(unit: Unit, device: str) -> TrainConfig:
    """How a unit's AF is trained."""
    words = dict(word.split("=", 1) for word in unit.training)
    name = words.pop("preset", "default")
    changes = read_settings([f"{key}={value}" for key, value in words.items()])
    changes |= {"device": device, "seed": unit.seed}
    if unit.sources != ALL_SOURCES:
        changes["sources"] = int(unit.sources)
    return preset(name, _training_family(unit.family, device), **changes)


def command(unit: Unit, artifacts: Path, device: str) -> str:
    """The command that trains a unit's AF, for machines that have the core alone."""
    words = dict(word.split("=", 1) for word in unit.training)
    given = f"--preset {words.pop('preset', 'default')} --seed {unit.seed} --device {device}"
    if unit.sources != ALL_SOURCES:
        given += f" --sources {unit.sources}"
    settings = "".join(f" --set {key}={value}" for key, value in words.items())
    family = _training_family(unit.family, device)
    out = run_folder(unit, artifacts)
    return f"python -m metabo.training {family} {given}{settings} --out {out}"


def _require_alike(unit: Unit, trained: Record, path: Path) -> None:
    """The AFs of a study differ in the number of source tasks, and in nothing else."""
    wanted = configuration(unit, str(trained["device"]))
    difference = wanted.first_difference(trained)
    if difference is not None:
        raise DataError(
            f"`{path}` was not trained as the study asks: {difference}. Move it away, or train it "
            "as `python -m metabo.paper --commands` says."
        )


def _training_family(family: str, device: str) -> str:
    """Compiled simulations make recorded graphs small, and change no value that matters."""
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
