"""Digests that reveal whether data has changed since it was written."""

import hashlib
import json
from collections.abc import Mapping

import torch
from torch import Tensor


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def tensor_digest(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of tensors: their names in sorted order, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        kind = str(value.dtype).removeprefix("torch.")
        digest.update(json.dumps([name, kind, list(value.shape)]).encode() + b"\n")
        whole = value.detach().cpu().contiguous().reshape(-1)
        digest.update(whole.view(torch.uint8).numpy().data)
    return digest.hexdigest()
