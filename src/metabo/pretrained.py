"""Artifacts: a trained acquisition function in one self-describing file.

`NAME.safetensors` holds the weights, and in its header one JSON card under the key `metabo`: what
the network looks like, what it was trained on and how well it did. Nothing is ever unpickled.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from metabo.acquisition import Architecture, NeuralAF
from metabo.errors import DataError, unknown
from metabo.gp import Prior
from metabo.schema import from_json
from metabo.space import Space, Value
from metabo.store import save_bytes, write_all

FORMAT = 1
FOLDER = Path(__file__).parent / "artifacts"


class TrainedAF(NeuralAF):
    """A neural AF as loaded from a file, with its card."""

    card: dict[str, object]
    path: Path
    sha256: str
    """Of the file, in hexadecimal."""

    @property
    def space(self) -> Space:
        """What it was trained on; `x1` to `xD` in the unit cube where the card does not say."""
        described = self.card.get("space")
        return Space.cube(self.architecture.dim) if described is None else from_json(described)

    @property
    def configurations(self) -> tuple[dict[str, Value], ...] | None:
        """Those of the table it was trained on, by name; None where the card has none."""
        rows = self.card.get("configurations")
        if rows is None:
            return None
        space = self.space
        try:
            named = [dict(zip(space.parameters, row, strict=True)) for row in rows]  # type: ignore[attr-defined]
            return tuple(space.clean(one) for one in named)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"The card of `{self.path}` has configurations that are none of its space: "
                f"{error} Get the file again."
            ) from None

    @property
    def prior(self) -> Prior:
        """The GP prior it was trained with."""
        described = self.card.get("prior")
        if not isinstance(described, Mapping):
            raise DataError(f"The card of `{self.path}` has no GP prior. Give one as `prior`.")
        return Prior.read(described)

    @property
    def budget(self) -> int:
        """The longest runs it was trained on."""
        described = self.card.get("budget")
        if not (isinstance(described, list) and described and isinstance(described[-1], int)):
            raise DataError(f"The card of `{self.path}` has no budget. Give one as `budget`.")
        return described[-1]


def artifacts() -> dict[str, Path]:
    """The artifacts that come with the package, by name."""
    paths = FOLDER.glob("*.safetensors")
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def save(af: NeuralAF, card: Mapping[str, object], path: Path) -> None:
    """Write an artifact; the architecture is added to the card."""
    a = af.architecture
    described = {
        "format": FORMAT,
        "architecture": {
            "dim": a.dim,
            "features": list(a.features),
            "hidden": list(a.hidden),
            "activation": a.activation,
            "normalize": a.normalize,
            "init": a.init,
            "feature_scale": a.feature_scale,
            "residual": a.residual,
            "residual_weight": a.residual_weight,
        },
        **card,
    }
    weights = {name: value.detach().cpu().contiguous() for name, value in af.state_dict().items()}
    metadata = {"metabo": json.dumps(described, allow_nan=False)}
    write_all(path.parent, {path.name: save_bytes(to_bytes(weights, metadata))})


def load(name_or_path: str | Path) -> TrainedAF:
    """The acquisition function of this name, or in this file, ready for use on the CPU.

    Weights are stored in float32 and used in float64: the networks are small, scores then do not
    depend on the size of the batch, and ascent on them converges to the last digits.
    """
    path = locate(name_or_path)
    card, weights = _read(path)
    version = card.get("format")
    if version != FORMAT:
        is_newer = isinstance(version, int) and version > FORMAT
        advice = "Install a newer metabo." if is_newer else "Train it again."
        raise DataError(
            f"`{path}` has artifact format {version}, but this version of metabo reads {FORMAT}. "
            f"{advice}"
        )
    try:
        shape = dict(card["architecture"])  # type: ignore[call-overload]
        shape |= {key: tuple(shape[key]) for key in ("features", "hidden")}
        af = TrainedAF(Architecture(**shape))
        af.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise DataError(
            f"`{path}` is not a usable artifact: its card and weights do not fit ({error}). "
            "Get the file again."
        ) from None
    af.card, af.path = card, path
    af.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    af.requires_grad_(False)
    return af.double().eval()


def read_card(path: Path) -> dict[str, object]:
    """The card of an artifact."""
    return _read(path)[0]


def locate(name_or_path: str | Path) -> Path:
    """The file of an artifact given by its name or path."""
    name, known = str(name_or_path), artifacts()
    if name in known:
        return known[name]
    path = Path(name)
    if path.is_dir():
        raise DataError(f"`{path}` is a folder. Give the file in it, such as `af.safetensors`.")
    if path.suffix != ".safetensors" and not path.exists():
        raise unknown("artifact", name, known)
    if not path.exists():
        raise DataError(
            f"There is no file `{path}`. Give one that `metabo train` wrote, or a name that "
            "`metabo list` shows."
        )
    return path


def _read(path: Path) -> tuple[dict[str, object], dict[str, torch.Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DataError(
            f"The artifact `{path}` cannot be read: {error}. Get the file again."
        ) from None
    card = _parsed(metadata.get("metabo", ""))
    if card is None and "progress" in metadata:
        raise DataError(
            f"`{path}` is a checkpoint of training. Give the `af.safetensors` beside it."
        )
    if card is None:
        raise DataError(
            f"`{path}` has no metabo card: it was not written by metabo. Give a file that "
            "`metabo train` wrote."
        )
    return card, weights


def _parsed(text: str) -> dict[str, object] | None:
    try:
        card = json.loads(text)
    except ValueError:
        return None
    return card if isinstance(card, dict) else None
