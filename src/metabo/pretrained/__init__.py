"""Trained acquisition functions: files with weights and a card that describes them."""

from metabo.pretrained.artifact import (
    FOLDER,
    TrainedAF,
    artifacts,
    first_sha256,
    load,
    locate,
    read_card,
    save,
)
from metabo.pretrained.weights import MAX_WEIGHT

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
