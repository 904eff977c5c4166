"""Checkpoints: all that a training run needs to go on as if it had never stopped."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from metabo.errors import DataError
from metabo.store import save_bytes, write_all
from metabo.tasks import TaskFamily
from metabo.tasks.tabular import TabularFamily
from metabo.training.config import TrainConfig


@dataclass
class Progress:
    """How far a run has come."""

    iteration: int = 0
    """Iterations done."""
    seconds: float = 0.0
    """Wall-clock time spent, over all sessions."""
    best_score: float | None = None
    """Of the validations so far."""
    best_iteration: int = 0


def save_checkpoint(
    path: Path,
    config: TrainConfig,
    family: TaskFamily,
    progress: Progress,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
    best: dict[str, Tensor],
) -> None:
    """Write everything into one file, which appears whole or not at all."""
    tensors = {f"networks.{name}": value for name, value in networks.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": value for name, value in state.items()}
    metadata = {
        "config": json.dumps(config.record()),
        "data": json.dumps(_data(family)),
        "progress": json.dumps(vars(progress)),
    }
    owned = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    write_all(path.parent, {path.name: save_bytes(to_bytes(owned, metadata))})


def require_same(config: TrainConfig, stored: dict[str, object], folder: Path) -> None:
    """Raise unless the run in a folder has this configuration."""
    difference = config.first_difference(stored)
    if difference:
        raise DataError(
            f"`{folder}` holds a run with another configuration: {difference}. "
            "Use the same options, the preset included, or another `--out`."
        )


def load_checkpoint(
    path: Path,
    config: TrainConfig,
    family: TaskFamily,
    networks: nn.ModuleDict,
    optimizer: torch.optim.Optimizer,
) -> tuple[Progress, dict[str, Tensor]]:
    """Restore networks and optimizer in place; give the progress and the best weights so far."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DataError(
            f"The checkpoint `{path}` cannot be read: {error}. Train without `--resume`."
        ) from None
    if not metadata or not {"config", "progress"} <= metadata.keys():
        raise DataError(
            f"`{path}` is not a checkpoint of metabo. Remove it, or use another `--out`."
        )
    require_same(config, json.loads(metadata["config"]), path.parent)
    # A checkpoint of an earlier version does not say; there is nothing to compare then.
    before, now = json.loads(metadata.get("data", "{}")), _data(family)
    if before and before != now:
        raise DataError(
            f"`{path.parent}` holds a run on other data: the fingerprint of `{config.family}` was "
            f"{_digests(before)}, now it is {_digests(now)}. Restore the files, or use another "
            "`--out`."
        )
    networks.load_state_dict(_strip(tensors, "networks."))
    state = optimizer.state_dict()
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _strip(tensors, "adam.").items():
        number, field = name.split(".", 1)
        moments.setdefault(int(number), {})[field] = value
    optimizer.load_state_dict({**state, "state": moments})
    return Progress(**json.loads(metadata["progress"])), _strip(tensors, "best.")


def _data(family: TaskFamily) -> dict[str, dict[str, object]]:
    """The fingerprints of what is learned from and validated on, where that is measured data."""
    if not isinstance(family, TabularFamily):
        return {}
    return {
        "sources": family.fingerprint(),
        "validation": family.fingerprint(family.validation_names),
    }


def _digests(data: dict[str, dict[str, object]]) -> str:
    return "/".join(str(one["sha256"])[:12] for one in data.values())


def _strip(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: v for name, v in tensors.items() if name.startswith(prefix)}
