"""Trained acquisition functions: files with weights and a card that describes them."""

from metabo.pretrained.artifact import (
    FOLDER,
    MAX_WEIGHT,
    TrainedAF,
    artifacts,
    first_sha256,
    load,
    locate,
    read_card,
    save,
)

__all__ = [
    "FOLDER",
    "MAX_WEIGHT",
    "TrainedAF",
    "artifacts",
    "first_sha256",
    "load",
    "locate",
    "read_card",
    "save",
]
