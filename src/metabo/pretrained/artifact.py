"""Artifacts: a trained acquisition function in one self-describing file.

`NAME.safetensors` contains the weights, the learned part of the prior if there is one, and in its
header one JSON card under the key `metabo`: the architecture of the network, its training and its
results. The card has a digest of the weights, and the header a digest of the card, so that any
damage is detected. Nothing is ever unpickled; no network is built before its weights are found.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from metabo.acquisition import Architecture, NeuralAF
from metabo.digest import tensor_digest, text_digest
from metabo.errors import DataError, shown, unknown
from metabo.gp import LearnedPart, Prior
from metabo.inputs import kind_of, read_bytes, require_file, unreadable
from metabo.pretrained import learned_prior
from metabo.pretrained.card import (
    FORMAT,
    MAX_TEXT,
    Card,
    card_architecture,
    card_budget,
    card_configurations,
    card_learned_shapes,
    card_prior,
    card_space,
    parse_card,
    require_usable,
)
from metabo.pretrained.weights import require_fit, require_sane
from metabo.space import Space, Value
from metabo.store import save_bytes, write_all

FOLDER = Path(__file__).parents[1] / "artifacts"

_CARD, _CARD_DIGEST = "metabo", "metabo_sha256"
_MAX_HEADER = 3 * MAX_TEXT
"""Largest size of a header in bytes: characters of the card may be escaped in it."""
_log = logging.getLogger(__name__)


class TrainedAF(NeuralAF):
    """A neural AF that was loaded from a file, with its card."""

    learned_part: LearnedPart | None = None
    """Part of the prior that was learned from source tasks; None if there is none."""
    card: Card
    """Description of the AF and its training, as read from the file."""
    path: Path
    """File that the AF was loaded from."""
    sha256: str
    """SHA-256 digest of the file, in hexadecimal."""

    @property
    def first_sha256(self) -> str:
        """Digest of the first file with these weights: this file, or one that it replaces.

        Stored results refer to an artifact by this digest, so they stay valid when the file is
        rewritten.
        """
        return next(iter(_replaced(self.card)), self.sha256)

    def has_been(self, sha256: str) -> bool:
        """Tell whether a digest is that of this artifact's file, or of a file that it replaces.

        A file that was rewritten with the same weights replaces the earlier ones.
        """
        return sha256 == self.sha256 or sha256 in _replaced(self.card)

    @property
    def space(self) -> Space:
        """Space that the AF was trained on; the unit cube, `x1` to `xD`, if the card has none."""
        return card_space(self.card, self.path, self.architecture)

    @property
    def configurations(self) -> tuple[dict[str, Value], ...] | None:
        """Configurations of the table that the AF was trained on; None if the card has none."""
        return card_configurations(self.card, self.path, self.space)

    @property
    def prior(self) -> Prior:
        """GP prior that the AF was trained with, including its learned part."""
        prior = card_prior(self.card, self.path)
        if prior is None:
            raise DataError(f"The card of `{self.path}` has no GP prior. Give one as `prior`.")
        return replace(prior, learned=self.learned_part)

    @property
    def budget(self) -> int:
        """Largest budget that the AF was trained with."""
        budget = card_budget(self.card, self.path)
        if budget is None:
            raise DataError(f"The card of `{self.path}` has no budget. Give one as `budget`.")
        return budget


def artifacts() -> dict[str, Path]:
    """The artifacts that come with the package, by name."""
    paths = FOLDER.glob("*.safetensors")
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def save(
    af: NeuralAF, card: Mapping[str, object], path: Path, learned: LearnedPart | None = None
) -> None:
    """Write an artifact, with the architecture and a digest of the weights added to the card.

    If the card lists files that it replaces, the list is kept only if the weights are unchanged.

    Raises:
        DataError: If a weight is not finite or too large, so that the file could not be loaded.
    """
    a = af.architecture
    weights = {name: value.detach().cpu().contiguous() for name, value in af.state_dict().items()}
    require_sane(weights, path)
    if learned is not None:
        weights |= learned_prior.tensors_of(learned)
    digest = tensor_digest(weights)
    given = dict(card)
    given.pop(learned_prior.FIELD, None)
    if given.get("weights_sha256") != digest:
        given.pop("replaces", None)
    described = {
        **given,
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
            **({} if a.horizon is None else {"horizon": a.horizon}),
        },
        "weights_sha256": digest,
        **({} if learned is None else {learned_prior.FIELD: learned_prior.described(learned)}),
    }
    text = json.dumps(described, allow_nan=False)
    metadata = {_CARD: text, _CARD_DIGEST: text_digest(text)}
    write_all(path.parent, {path.name: save_bytes(to_bytes(weights, metadata))})


def load(name_or_path: str | Path) -> TrainedAF:
    """Load a trained acquisition function, ready for use on the CPU.

    Weights are stored in float32 and used in float64. The networks are small, and in float64
    scores do not depend on the size of the batch, and gradient ascent converges to the last
    digits.

    Args:
        name_or_path: Name of an artifact that comes with the package (`metabo list` shows them),
            or path of a file that `metabo.train` wrote.

    Returns:
        The acquisition function, with its card at `.card`.

    Raises:
        DataError: If the file cannot be read, is damaged, or is not an artifact.
        OptionError: If there is no artifact of this name.

    Examples:
        >>> import metabo
        >>> af = metabo.load("branin")
        >>> af.card["family"], af.budget
        ('branin', 30)
    """
    path = locate(name_or_path)
    card, architecture, weights = _read(path)
    af = TrainedAF(architecture)
    network, learned = learned_prior.split(weights)
    af.load_state_dict(network)
    af.card, af.path = card, path
    if learned:
        field = cast(Mapping[str, object], card[learned_prior.FIELD])
        af.learned_part = learned_prior.part_of(learned, field, path)
    af.sha256 = hashlib.sha256(read_bytes(path, "artifact")).hexdigest()
    af.requires_grad_(False)
    return af.double().eval()


def read_card(path: Path) -> Card:
    """Return the card of an artifact."""
    return _read(path)[0]


def first_sha256(path: Path) -> str:
    """Return `TrainedAF.first_sha256` for a file without loading its weights."""
    replaced = _replaced(read_card(path))
    return replaced[0] if replaced else hashlib.sha256(read_bytes(path, "artifact")).hexdigest()


def locate(name_or_path: str | Path) -> Path:
    """Return the path of an artifact that is given by name or path.

    Raises:
        DataError: If there is no such file.
        OptionError: If there is no artifact of this name.
    """
    name, known = str(name_or_path), artifacts()
    if name in known:
        return known[name]
    path = Path(name)
    kind = kind_of(path, "artifact")
    if kind == "folder":
        raise DataError(
            f"`{shown(path)}` is a folder. Give the file in it, such as `af.safetensors`."
        )
    if kind == "missing" and path.suffix != ".safetensors":
        raise unknown("artifact", name, known)
    if kind == "missing":
        raise DataError(
            f"There is no file `{shown(path)}`. Give one that `metabo train` wrote, or a name "
            "that `metabo list` shows."
        )
    require_file(path, "artifact")
    return path


def _read(path: Path) -> tuple[Card, Architecture, dict[str, Tensor]]:
    """Read an artifact; its tensors are read only after their shapes have been checked."""
    _require_short_header(path)
    try:
        with safe_open(path, framework="pt") as file:
            card = _card(file.metadata() or {}, path)
            architecture = card_architecture(card, path)
            require_usable(card, path, architecture)
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            shapes = {name: tuple(one.get_shape()) for name, one in slices.items()}
            types = {name: one.get_dtype() for name, one in slices.items()}
            expected = architecture.shapes() | card_learned_shapes(card, path, architecture)
            require_fit(shapes, types, expected, path)
            weights = {name: file.get_tensor(name) for name in shapes}
    except (OSError, SafetensorError, UnicodeError) as error:
        raise _damaged(path, error) from None
    digest = card.get("weights_sha256")
    if digest is not None and digest != tensor_digest(weights):
        raise _damaged(path, "its weights are not those that were written")
    require_sane(learned_prior.split(weights)[0], path)
    return card, architecture, weights


def _require_short_header(path: Path) -> None:
    require_file(path, "artifact")
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
    except OSError as error:
        raise unreadable(path, "artifact", error) from None
    if size > _MAX_HEADER:
        raise _damaged(path, f"its header says it has {size} bytes, more than {_MAX_HEADER}")


def _card(metadata: Mapping[str, str], path: Path) -> Card:
    """Return the card in a file's metadata after comparing it with its digest."""
    if _CARD not in metadata:
        if "progress" in metadata:
            raise DataError(
                f"`{shown(path)}` is a checkpoint of training. Give the `af.safetensors` beside "
                "it."
            )
        raise DataError(
            f"`{shown(path)}` has no metabo card: it was not written by metabo. Give a file that "
            "`metabo train` wrote."
        )
    text, digest = metadata[_CARD], metadata.get(_CARD_DIGEST)
    if digest is not None and (len(text) > MAX_TEXT or digest != text_digest(text)):
        raise _damaged(path, "its card is not the one that was written")
    card = parse_card(text, path)
    if (digest is None) != (card.get("weights_sha256") is None):
        raise _damaged(path, "one of its two digests is missing")
    if digest is None:
        _log.info(
            "The artifact `%s` has no digests, because an earlier version of metabo wrote it: "
            "damage to it cannot be detected.",
            shown(path),
        )
    return card


def _replaced(card: Card) -> list[str]:
    replaced = card.get("replaces")
    return list(replaced) if isinstance(replaced, list) else []


def _damaged(path: Path, problem: object) -> DataError:
    return DataError(
        f"The artifact `{shown(path)}` cannot be read: {shown(str(problem))}. Get the file again."
    )
