"""Checkpoints: all that a training run needs to go on as if it had never stopped.

The last two are kept, each with a digest of its content. If the newest one is missing or damaged,
the run goes on from the one before it, and ends with the same bits.
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
    """A checkpoint cannot be used, and the one before it may be."""


_PROGRESS = {
    "iteration": whole(0, 2**53 - 1),
    "seconds": number(low=0),
    "best_score": optional(number()),
    "best_iteration": whole(0, 2**53 - 1),
}
"""What each field of a run's progress must be."""


@dataclass
class Progress:
    """How far a run has come."""

    iteration: int = 0
    """Iterations done."""
    seconds: float = 0.0
    """Wall-clock time spent, over all sessions."""
    best_score: float | None = None
    """Best score of the validations so far."""
    best_iteration: int = 0
    """Iterations done when that score was reached."""

    @classmethod
    def read(cls, record: object) -> "Progress":
        """The progress that a checkpoint describes."""
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
    """Write everything into one file, which appears whole or not at all; keep the one before."""
    tensors = _tensors(networks, optimizer, best)
    owned = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    metadata = {
        "config": json.dumps(config.record()),
        "data": json.dumps(_data(family)),
        "progress": json.dumps(vars(progress)),
    }
    metadata[_DIGEST] = _digest(metadata, owned)
    # A damaged one must not take the place of one that can be read.
    keeping = {NEWEST: BEFORE} if _is_intact(folder / NEWEST) else {}
    write_all(folder, {NEWEST: save_bytes(to_bytes(owned, metadata))}, keeping=keeping)


def load_checkpoint(
    folder: Path,
    config: TrainConfig,
    family: TaskFamily,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
) -> tuple[Progress, dict[str, Tensor]]:
    """Restore networks and optimizer in place; give the progress and the best weights so far.

    Raises:
        DataError: If no checkpoint can be used, or it is of another configuration or other data.
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
                "The checkpoint `%s` cannot be used (%s). Training goes on from the one before, "
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
    """Put the content of one file in place."""
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
    """The content of a file, if it is what was written and has the expected tensors."""
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
    # A checkpoint of an earlier version has no digest, and one before that no data.
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
        # A checkpoint of an earlier version does not say what its data were.
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
            f"`{shown(folder)}` holds a run on other data: the fingerprint of `{config.family}` "
            f"was {_digests(before)}, now it is {_digests(now)}. Restore the files, or use "
            "another `--out`."
        )


def _tensors(
    networks: nn.ModuleDict, optimizer: torch.optim.Optimizer, best: dict[str, Tensor]
) -> dict[str, Tensor]:
    """All tensors of a checkpoint by name."""
    tensors = {f"networks.{name}": value for name, value in networks.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{index}.{name}": value for name, value in state.items()}
    return tensors


def _digest(metadata: dict[str, str], tensors: dict[str, Tensor]) -> str:
    return text_digest(json.dumps(metadata, sort_keys=True) + tensor_digest(tensors))


def _data(family: TaskFamily) -> dict[str, dict[str, object]]:
    """The fingerprints of the measured data that are learned from and validated on."""
    known = family.provenance
    if known is None:
        return {}
    return {"sources": known.sources.record(), "validation": known.validation.record()}


def _digests(data: dict[str, dict[str, object]]) -> str:
    return "/".join(str(one["sha256"])[:12] for one in data.values())


def _strip(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: v for name, v in tensors.items() if name.startswith(prefix)}
