"""Checkpoints: everything that a training run needs to continue as if it had never stopped.

The last two are kept, each with a digest of its content. If the newest one is missing or damaged,
the run continues from the one before it, with the same result to the last bit.
"""

import json
import logging
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from metabo.digest import tensor_digest, text_digest
from metabo.errors import DataError, shown
from metabo.inputs import parse_json, require_file
from metabo.rules import number, optional, require_fields, whole
from metabo.store import save_bytes, write_all
from metabo.tasks import TaskFamily
from metabo.training.config import TrainConfig
from metabo.training.folder import BEFORE, NEWEST, require_same

_DIGEST = "digest"
_log = logging.getLogger(__name__)


class _DamageError(DataError):
    """A checkpoint cannot be used, but the one before it may be usable."""


_PROGRESS = {
    "iteration": whole(0, 2**53 - 1),
    "seconds": number(low=0),
    "best_score": optional(number()),
    "best_iteration": whole(0, 2**53 - 1),
}
"""Rules for the fields of a run's progress."""


@dataclass
class Progress:
    """Progress of a training run."""

    iteration: int = 0
    """Number of completed iterations."""
    seconds: float = 0.0
    """Wall-clock time spent so far, in seconds, over all sessions."""
    best_score: float | None = None
    """Best validation score so far; None before the first validation."""
    best_iteration: int = 0
    """Number of completed iterations when the best score was reached."""

    @classmethod
    def read(cls, record: object) -> "Progress":
        """Restore the progress from a checkpoint's record."""
        names = [field.name for field in fields(cls)]
        found: dict[str, Any] = require_fields(
            record, _PROGRESS, "its progress", required=names, remedy="", error=_DamageError
        )
        if found["best_iteration"] > found["iteration"]:
            raise _DamageError("its progress has a best iteration that is yet to come")
        return cls(**found)


def save_checkpoint(
    folder: Path,
    config: TrainConfig,
    family: TaskFamily,
    progress: Progress,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
    best: dict[str, Tensor],
) -> None:
    """Write a checkpoint to one file, atomically, and keep the previous one."""
    tensors = _tensors(networks, optimizer, best)
    owned = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    metadata = {
        "config": json.dumps(config.record()),
        "data": json.dumps(_data(family)),
        "progress": json.dumps(vars(progress)),
    }
    metadata[_DIGEST] = _digest(metadata, owned)
    # A damaged checkpoint must not replace a readable one.
    keeping = {NEWEST: BEFORE} if _is_intact(folder / NEWEST) else {}
    write_all(folder, {NEWEST: save_bytes(to_bytes(owned, metadata))}, keeping=keeping)


def load_checkpoint(
    folder: Path,
    config: TrainConfig,
    family: TaskFamily,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
) -> tuple[Progress, dict[str, Tensor]]:
    """Restore networks and optimizer in place.

    Returns:
        The progress of the run, and the best weights so far.

    Raises:
        DataError: If no checkpoint can be used, or it has another configuration or other data.
    """
    problems = []
    for name in (NEWEST, BEFORE):
        try:
            progress, tensors = _restored(folder / name, config, family, networks, optimizer)
        except _DamageError as error:
            problems.append(str(error).rstrip("."))
            continue
        if problems:
            _log.warning(
                "The checkpoint `%s` cannot be used (%s). Training continues from the one before, "
                "after iteration %d.",
                shown(folder / NEWEST),
                problems[0],
                progress.iteration,
            )
        return progress, _strip(tensors, "best.")
    newest, before = problems
    raise DataError(
        f"No checkpoint in `{shown(folder)}` can be used (`{NEWEST}`: {newest}; `{BEFORE}`: "
        f"{before}). Restore one from a backup, or train again with another "
        "`--out` and without `--resume`."
    )


def _restored(
    path: Path,
    config: TrainConfig,
    family: TaskFamily,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
) -> tuple[Progress, dict[str, Tensor]]:
    """Restore networks and optimizer from one file."""
    best = networks["af"].state_dict()
    metadata, tensors = _read(path, _tensors(networks, optimizer, best))
    stored = _parsed(metadata, "config")
    if not isinstance(stored, dict):
        raise _DamageError("its configuration must be an object")
    require_same(config, stored, path.parent)
    _require_same_data(_parsed(metadata, "data"), config, family, path.parent)
    progress = Progress.read(_parsed(metadata, "progress"))
    networks.load_state_dict(_strip(tensors, "networks."))
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _strip(tensors, "adam.").items():
        index, field = name.split(".", 1)
        moments.setdefault(int(index), {})[field] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
    return progress, tensors


def _read(
    path: Path, expected: dict[str, Tensor] | None = None
) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Return the metadata and tensors of a file, if it is intact and as expected."""
    if not os.path.lexists(path):
        raise _DamageError("no such file")
    try:
        require_file(path, "checkpoint")
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            shapes = {name: tuple(one.get_shape()) for name, one in slices.items()}
            _require_fields(metadata)
            if expected is not None:
                _require_shapes(shapes, expected)
            tensors = {name: file.get_tensor(name) for name in shapes}
    except _DamageError:
        raise
    except (DataError, OSError, SafetensorError, RuntimeError, ValueError) as error:
        raise _DamageError(shown(str(error))) from None
    digest = metadata.pop(_DIGEST, None)
    if digest is not None and digest != _digest(metadata, tensors):
        raise _DamageError("its content is not what was written")
    wrong = {n for n, e in (expected or {}).items() if tensors[n].dtype != e.dtype}
    if wrong:
        raise _DamageError(f"its tensor `{min(wrong)}` is of another type")
    return metadata, tensors


def _require_fields(metadata: dict[str, str]) -> None:
    # Checkpoints of earlier versions have no digest, and still earlier ones no data.
    if not {"config", "progress"} <= metadata.keys() <= {"config", "progress", "data", _DIGEST}:
        raise _DamageError("it is not a checkpoint of metabo")


def _require_shapes(shapes: dict[str, tuple[int, ...]], expected: dict[str, Tensor]) -> None:
    wanted = {name: tuple(value.shape) for name, value in expected.items()}
    wrong = sorted(n for n in wanted.keys() | shapes.keys() if wanted.get(n) != shapes.get(n))
    if wrong:
        name = wrong[0]
        raise _DamageError(
            f"its tensor `{shown(name)}` should have shape {wanted.get(name)}, but has "
            f"{shapes.get(name)}"
        )


def _is_intact(path: Path) -> bool:
    try:
        _read(path)
    except _DamageError:
        return False
    return True


def _parsed(metadata: dict[str, str], name: str) -> object:
    try:
        # A checkpoint of an earlier version does not describe its data.
        return parse_json(metadata.get(name, "{}"), f"its {name}")
    except DataError as error:
        raise _DamageError(shown(str(error))) from None


def _require_same_data(
    before: object, config: TrainConfig, family: TaskFamily, folder: Path
) -> None:
    is_right = isinstance(before, dict) and all(
        isinstance(one, dict) and "sha256" in one for one in before.values()
    )
    if not isinstance(before, dict) or not is_right:
        raise _DamageError("its data must be fingerprints by name")
    now = _data(family)
    if before and before != now:
        raise DataError(
            f"`{shown(folder)}` contains a run on other data: the fingerprint of "
            f"`{config.family}` was {_digests(before)}, now it is {_digests(now)}. "
            "Restore the files, or use another `--out`."
        )


def _tensors(
    networks: nn.ModuleDict, optimizer: torch.optim.Optimizer, best: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Return all tensors of a checkpoint by name."""
    tensors = {f"networks.{name}": value for name, value in networks.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in state.items()}
    return tensors


def _digest(metadata: dict[str, str], tensors: dict[str, Tensor]) -> str:
    return text_digest(json.dumps(metadata, sort_keys=True) + tensor_digest(tensors))


def _data(family: TaskFamily) -> dict[str, dict[str, object]]:
    """Return the fingerprints of the measured training and validation data."""
    known = family.provenance
    if known is None:
        return {}
    return {"sources": known.sources.record(), "validation": known.validation.record()}


def _digests(data: dict[str, dict[str, object]]) -> str:
    return "/".join(str(one["sha256"])[:12] for one in data.values())


def _strip(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: v for name, v in tensors.items() if name.startswith(prefix)}
