"""Data of source tasks, from which a transfer method starts on a new task.

M fixed tasks of a family are evaluated at the same N points. The results are cached on disk, in
`$METABO_CACHE` or else in the user's cache folder, under a hash of everything they depend on.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from metabo.ascent import ascend, differentiated
from metabo.domain import Domain, Finite, sobol
from metabo.errors import OptionError, OutputError
from metabo.gp import Prior, SourcePosteriors, fit
from metabo.inputs import require_file
from metabo.rules import whole
from metabo.seeding import generator
from metabo.shapes import Float
from metabo.store import save_bytes, write_all
from metabo.tasks import TaskFamily
from metabo.version import __version__

MAX_POINTS = 5000
"""Largest number of points per source in the unit cube: a factorization costs N^3."""


@dataclass(frozen=True, eq=False)
class SourceData:
    """Values of M source tasks at N points, and the GP prior for them."""

    prior: Prior
    """GP prior: one row for all sources, or one per source if it was fitted."""
    x: Float[Tensor, "N D"]
    """Points at which all sources were evaluated."""
    y: Float[Tensor, "M N"]
    """Values of each source at these points."""

    @property
    def models(self) -> SourcePosteriors:
        """GP posteriors of the sources."""
        return SourcePosteriors.of(self.prior, self.x[None], self.y)

    @property
    def best(self) -> Float[Tensor, "M D"]:
        """Best evaluated point of each source; several sources may have the same one."""
        return self.x[self.y.argmax(-1)]

    def predicted_best(self, n_climbs: int = 5, iterations: int = 20) -> Float[Tensor, "M D"]:
        """Return where each source's posterior mean is largest, by ascent from its best points."""
        models = self.models
        starts = self.x[self.y.topk(min(n_climbs, len(self.x)), -1).indices]  # M K D

        def own_mean(x: Tensor) -> Tensor:  # M K D -> M K
            means = models.mean(x.flatten(0, 1)).unflatten(1, x.shape[:2])  # M M K
            return means.diagonal().mT

        corner = torch.zeros_like(self.x[0])
        reached, value = ascend(
            differentiated(own_mean),
            starts,
            lower=corner,
            upper=corner + 1,
            unit=self.prior.lengthscale[:, None, :],
            iterations=iterations,
            radius=0.1,
        )
        index = value.argmax(-1)[:, None, None].expand(-1, 1, self.x.shape[-1])
        return reached.gather(1, index)[:, 0]


def source_data(
    family: TaskFamily,
    n_sources: int,
    n_points: int | None = None,
    *,
    hyperparameters: Literal["target", "fitted"] = "target",
    cache: Path | None = None,
) -> SourceData:
    """Evaluate the first M source tasks of a family at N points, or read the cached values.

    Args:
        family: Family with the tasks, the noise they are observed with, and the target's prior.
        n_sources: Number of source tasks, M.
        n_points: Number of points, N: the first Sobol points of the cube, or evenly spaced rows of
            a finite domain. If None, 100 points, or the whole finite domain.
        hyperparameters: Hyperparameters of the GPs: the target's (`target`), or fitted to each
            source by maximum likelihood (`fitted`).
        cache: Folder for cached data; by default `$METABO_CACHE` or `~/.cache/metabo`.

    Returns:
        The points, the values and the GP prior.

    Raises:
        OptionError: If the family has fewer sources, or its domain fewer points.
    """
    x = _points(family, n_points)
    _require_sources(family, n_sources)
    tasks = family.sources(n_sources)
    # The values at a few points represent the tasks' code in the hash. The first point is left
    # out: it is the centre, where symmetric functions agree.
    few = x[1 :: max(1, len(x) // 8)] if len(x) > 1 else x
    probe = tasks(few.expand(n_sources, -1, -1))
    key = _digest(family, n_sources, len(x), hyperparameters, x, probe, __version__)
    path = (cache or _folder()) / f"sources-{key}.safetensors"
    known = _read(path, n_sources, x)
    if known is not None:
        return known
    y = tasks(x.expand(n_sources, -1, -1))
    if family.noise:
        draws = torch.randn(y.shape, generator=generator(0, "source noise"), dtype=y.dtype)
        y = y + family.noise * draws
    prior = family.prior
    if hyperparameters == "fitted":
        inputs = x.expand(n_sources, -1, -1)
        prior = fit(inputs, y, kernel=prior.kernel, mean=prior.mean, jitter=prior.jitter)
    data = SourceData(prior, x, y)
    _write(data, path)
    return data


def _points(family: TaskFamily, n: int | None) -> Tensor:
    domain: Domain = family.domain
    most = len(domain.points) if isinstance(domain, Finite) else MAX_POINTS
    if n is None:
        n = most if isinstance(domain, Finite) else 100
    where = f"`N`, the number of points per source task of family `{family.name}`,"
    whole(1, most).require_in(where, n, error=OptionError)
    if isinstance(domain, Finite):
        return domain.points[torch.arange(n) * len(domain.points) // n]
    return sobol(n, domain.dim)


def _require_sources(family: TaskFamily, n: int) -> None:
    if family.max_sources == 0:
        raise OptionError(
            f"This method needs source tasks, but family `{family.name}` has none. "
            "Choose a family that has them, or a method that needs none, such as `ei`."
        )
    where = f"`M`, the number of source tasks of family `{family.name}`,"
    whole(1, family.max_sources).require_in(where, n, error=OptionError)


def _folder() -> Path:
    given = os.environ.get("METABO_CACHE")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    if home:
        return Path(home) / "metabo"
    try:
        return Path.home() / ".cache" / "metabo"
    except RuntimeError:  # a user without a home folder
        return Path(tempfile.gettempdir()) / "metabo"


def _digest(*things: object) -> str:
    """Return a hash of settings and numbers."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _flat(things):
        digest.update(part)
    return digest.hexdigest()


def _flat(thing: object) -> Iterable[bytes]:
    if isinstance(thing, Tensor):
        yield thing.double().cpu().numpy().tobytes()
    elif is_dataclass(thing):
        yield type(thing).__name__.encode()
        for field in fields(thing):
            yield field.name.encode()
            yield from _flat(getattr(thing, field.name))
    elif isinstance(thing, tuple | list):
        for item in thing:
            yield from _flat(item)
    elif not callable(thing):
        yield f"{thing!r};".encode()


_RECORD = "record"
"""Key of the metadata: the rest of the prior, and a digest of the whole content."""
_TENSORS = ("x", "y", "lengthscale", "signal_variance", "noise_variance")


def _write(data: SourceData, path: Path) -> None:
    prior = data.prior
    rest = {"kernel": prior.kernel, "mean": prior.mean, "jitter": prior.jitter}
    values = (data.x, data.y, prior.lengthscale, prior.signal_variance, prior.noise_variance)
    tensors = {name: v.contiguous().clone() for name, v in zip(_TENSORS, values, strict=True)}
    text = json.dumps(rest)
    # One key only: the order of several is random, and equal data should make equal files.
    metadata = {_RECORD: json.dumps({"prior": text, "blake2b": _checked(tensors, text)})}
    content = to_bytes(tensors, metadata)
    with suppress(OutputError):  # without a cache, only time is lost
        write_all(path.parent, {path.name: save_bytes(content)})


def _checked(tensors: Mapping[str, Tensor], prior: str) -> str:
    """Return a digest of the whole content of a file."""
    parts = [(name, str(t.dtype), tuple(t.shape), t) for name, t in sorted(tensors.items())]
    return _digest(parts, prior)


def _read(path: Path, n_sources: int, x: Tensor) -> SourceData | None:
    """Return the data in a file; None if there is no such file, or if it is damaged."""
    try:
        require_file(path, "cache")
        with safe_open(path, framework="pt") as file:
            stored = {name: file.get_tensor(name) for name in _TENSORS}
            record = json.loads(file.metadata()[_RECORD])
        if record["blake2b"] != _checked(stored, record["prior"]):
            return None
        rest = json.loads(record["prior"])
        hyperparameters = (stored[name] for name in _TENSORS[2:])
        data = SourceData(Prior(*hyperparameters, **rest), stored["x"], stored["y"])
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RuntimeError):
        return None
    is_whole = data.y.shape == (n_sources, len(x)) and torch.equal(data.x, x)
    return data if is_whole and bool(torch.isfinite(data.y).all()) else None
