"""Training in one call."""

from collections.abc import Callable
from pathlib import Path

from metabo.training.config import TrainConfig
from metabo.training.ensemble import train_members
from metabo.training.log import Event
from metabo.training.presets import preset as preset_of
from metabo.training.presets import usual_preset
from metabo.training.trainer import Trainer


def train(
    family: str,
    *,
    out: str | Path,
    preset: str | None = None,
    seconds: float | None = None,
    resume: bool = False,
    record: bool = True,
    on_event: Callable[[Event], None] | None = None,
    **changes: object,
) -> Path:
    """Meta-train an acquisition function for a family; give the path of its artifact.

    Args:
        family: The tasks to learn from, such as `branin`.
        out: Folder for the artifact, the log and the checkpoints.
        preset: `default`, `paper`, `fast`, `table` or `general`; if None, `table` for tables of
            results and else `default`.
        seconds: Stop after so much time; the run can be resumed.
        resume: Go on with the run in the folder.
        record: Whether to record CUDA graphs on a GPU; tasks that look at values cannot be.
        on_event: Called after each iteration.
        changes: Settings that differ from the preset's, such as `sources=50`, `seed=1` or
            `iterations=500` (the fields of `TrainConfig`).
    """
    config = preset_of(preset or usual_preset(family), family, **changes)
    return run_training(
        config, Path(out), resume=resume, record=record, seconds=seconds, on_event=on_event
    )


def run_training(
    config: TrainConfig,
    out: Path,
    *,
    resume: bool = False,
    record: bool = True,
    seconds: float | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> Path:
    """Train one network, or several and their mean."""
    if config.members > 1:
        return train_members(
            config, out, resume=resume, record=record, seconds=seconds, on_event=on_event
        )
    return Trainer(config, out, resume=resume, record=record).run(
        seconds=seconds, on_event=on_event
    )
