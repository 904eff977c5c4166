"""Checks of a training run's folder: whether it contains a run, and whether it may be used."""

import logging
import os
from dataclasses import fields
from pathlib import Path

from metabo.errors import DataError, shown
from metabo.inputs import read_json
from metabo.rules import ANYTHING, require_fields
from metabo.training.config import TrainConfig

CONFIG = "config.json"
_log = logging.getLogger(__name__)
NEWEST, BEFORE = "checkpoint.safetensors", "checkpoint-before.safetensors"


def has_checkpoint(folder: Path) -> bool:
    """Tell whether the folder contains a checkpoint, usable or not."""
    return any(os.path.lexists(folder / name) for name in (NEWEST, BEFORE))


def has_run(folder: Path) -> bool:
    """Tell whether the folder contains a run to resume, of one network or several."""
    return has_checkpoint(folder) or any(
        os.path.lexists(folder / name) for name in (CONFIG, "member-0")
    )


def require_free(folder: Path, config: TrainConfig, *, is_resumed: bool) -> None:
    """Raise `DataError` if a new run of one network would overwrite something in the folder.

    A run that was killed before its first checkpoint starts from the beginning.
    """
    if os.path.lexists(folder / "member-0") and is_resumed:
        raise DataError(
            f"`{shown(folder)}` contains a run of several `members`. Pass the same `members`, or "
            "choose another `--out`."
        )
    if has_checkpoint(folder) or os.path.lexists(folder / "member-0"):
        raise already_there(folder)
    if is_resumed and not has_run(folder):
        raise DataError(f"There is no training run in `{shown(folder)}` to resume.")
    if not os.path.lexists(folder / CONFIG):
        return
    stored = _configuration(folder / CONFIG)
    if is_resumed:
        require_same(config, stored, folder)
        _log.warning(
            "There is no checkpoint in `%s`: training starts from the beginning.", shown(folder)
        )


def already_there(folder: Path) -> DataError:
    """Return the error for a folder that already contains a run."""
    return DataError(
        f"`{shown(folder)}` already contains a training run. Pass `resume=True` to continue it, "
        "or another `out`.",
        shell=f"`{shown(folder)}` already contains a training run. Pass `--resume` to continue "
        "it, or choose another `--out`.",
    )


def require_same(config: TrainConfig, stored: dict[str, object], folder: Path) -> None:
    """Raise `DataError` unless the run in a folder has this configuration."""
    difference = config.first_difference(stored)
    if difference:
        raise DataError(
            f"`{shown(folder)}` contains a run with another configuration: {difference}. "
            "Use the same options, the preset included, or another `--out`."
        )


def _configuration(path: Path) -> dict[str, object]:
    rules = dict.fromkeys((field.name for field in fields(TrainConfig)), ANYTHING)
    try:
        stored = read_json(path, "configuration")
        return require_fields(stored, rules, "it", required=("family",), remedy="")
    except DataError:
        raise DataError(
            f"`{shown(path)}` is not the configuration of a training run. Choose another `--out`."
        ) from None
