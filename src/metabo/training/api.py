"""Training in one call."""

from collections.abc import Callable
from pathlib import Path

from metabo.rules import number
from metabo.tasks import TaskFamily, named
from metabo.training.config import TrainConfig
from metabo.training.ensemble import train_members
from metabo.training.log import Event
from metabo.training.presets import preset as preset_of
from metabo.training.trainer import Trainer


def train(
    family: str | TaskFamily,
    *,
    out: str | Path,
    preset: str | None = None,
    seconds: float | None = None,
    resume: bool = False,
    record: bool = True,
    on_event: Callable[[Event], None] | None = None,
    **changes: object,
) -> Path:
    """Meta-train an acquisition function for a family.

    Args:
        family: Family of tasks to learn from: its name, such as `branin`, or the family itself.
        out: Folder for the artifact, the log and the checkpoints.
        preset: `default`, `paper`, `fast`, `table` or `general`; the family's own if None.
        seconds: Wall-clock limit in seconds; the run can be resumed later.
        resume: Whether to continue the run in the folder.
        record: Whether to record CUDA graphs on a GPU. Turn it off for tasks that read values of
            tensors (`.item()`, `if` on a tensor), which cannot be recorded.
        on_event: Function that is called after each iteration.
        changes: Settings that differ from the preset's, such as `sources=50`, `seed=1` or
            `iterations=500` (the fields of `TrainConfig`).

    Returns:
        The path of the artifact, `af.safetensors` in the folder.

    Raises:
        OptionError: If the family, the preset or a setting is unknown or not valid.
        DataError: If the folder contains a run and `resume` is False, or a different run.
        TrainingError: If training diverges.
        TrainingInterrupted: After Ctrl-C, once the current iteration is finished and saved.

    Examples:
        >>> import tempfile
        >>> import metabo
        >>> small = {"hidden": (8,), "episodes": 3, "minibatches": 2, "validation_tasks": 1}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = metabo.train(
        ...         "rhino-1", out=folder, preset="fast", iterations=1, budget=2, **small
        ...     )
        ...     print(path.name, metabo.load(path).budget)
        af.safetensors 2
    """
    name, built = named(family)
    config = preset_of(preset or built.preset, name, **changes)
    return run_training(
        config,
        Path(out),
        family=built,
        resume=resume,
        record=record,
        seconds=seconds,
        on_event=on_event,
    )


def run_training(
    config: TrainConfig,
    out: Path,
    *,
    family: TaskFamily | None = None,
    resume: bool = False,
    record: bool = True,
    seconds: float | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Path:
    """Train one network, or several and their mean.

    Args:
        config: Settings of the run.
        out: Folder of the run.
        family: The family that `config` names, if it has been built already; built here if None.
        resume: Whether to continue the run in the folder.
        record: Whether to record CUDA graphs on a GPU.
        seconds: Wall-clock limit in seconds.
        on_event: Function that is called after each iteration.

    Returns:
        The path of the artifact.

    Raises:
        OptionError: If `seconds` is negative or not a finite number.
    """
    if seconds is not None:
        number(0).require("seconds", seconds)
    if config.members > 1 and config.iterations:
        return train_members(
            config,
            out,
            family=family,
            resume=resume,
            record=record,
            seconds=seconds,
            on_event=on_event,
        )
    trainer = Trainer(config, out, family=family, resume=resume, record=record)
    return trainer.run(seconds=seconds, on_event=on_event)
