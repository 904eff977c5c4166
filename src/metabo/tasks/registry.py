"""Families by name, with their options.

The built-in families are fixed. A `Registry` contains the families that a user registers: there is
one for the process, and inside `with registered(...)` a temporary one for the block.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from metabo.errors import OptionError, brief, listed, shown, unknown
from metabo.gp import Prior, default_prior
from metabo.options import Range, build, parse
from metabo.tasks.base import TaskFamily
from metabo.tasks.family import ParametricFamily
from metabo.tasks.fourier import SpectralKernel
from metabo.tasks.furuta import furuta_family, furuta_real_family, furuta_reference_family
from metabo.tasks.furuta.fusion import Fused
from metabo.tasks.gp_samples import gp_sample_family
from metabo.tasks.rhino import rhino_1_family, rhino_2_family
from metabo.tasks.standard_functions import SHIFT, STANDARD
from metabo.tasks.synthetic import (
    BRANIN,
    GOLDSTEIN_PRICE,
    HARTMANN_3,
    Surface,
    translated_family,
)
from metabo.tasks.tabular import SHIPPED, tabular


def _translated(
    surface: Surface, prior: Prior, *, shift: Range = (0.0, 0.1), factor: Range = (0.9, 1.1)
) -> Callable[..., ParametricFamily]:
    def builder(
        *,
        translation: Range = shift,
        scale: Range = factor,
        sources: int | None = None,
        noise: float = 0.0,
    ) -> ParametricFamily:
        family = translated_family(surface, prior, translation=translation, scale=scale)
        return family.restricted(sources).observed_with(noise)

    return builder


def _standard(surface: Surface) -> Callable[..., ParametricFamily]:
    """Return the builder of a standard function, about which only its scale is known."""
    return _translated(surface, default_prior(surface.dim), shift=SHIFT, factor=(1.0, 1.0))


def _rhino_1(
    *, translation: Range = (0.0, 0.2), sources: int | None = None, noise: float = 0.0
) -> ParametricFamily:
    return rhino_1_family(translation).restricted(sources).observed_with(noise)


def _rhino_2(
    *, height: Range = (0.6, 0.9), sources: int | None = None, noise: float = 0.0
) -> ParametricFamily:
    return rhino_2_family(height).restricted(sources).observed_with(noise)


def _furuta(make: Callable[..., ParametricFamily]) -> Callable[..., ParametricFamily]:
    def builder(
        *,
        scale: Range = (0.75, 1.25),
        sources: int | None = None,
        noise: float = 0.0,
        fused: Fused = "cuda",
    ) -> ParametricFamily:
        return make(scale, fused=fused).restricted(sources).observed_with(noise)

    return builder


def _gp_samples(kernel: SpectralKernel) -> Callable[..., ParametricFamily]:
    def builder(
        *,
        dim: int = 3,
        lengthscale: Range = (0.05, 0.5),
        sources: int | None = None,
        noise: float = 0.0,
    ) -> ParametricFamily:
        family = gp_sample_family(kernel, dim=dim, lengthscale=lengthscale, noise=noise)
        return family.restricted(sources)

    return builder


Builder = Callable[..., TaskFamily]
"""Function whose keyword-only parameters are the options of a family."""

FAMILIES: Mapping[str, Builder] = MappingProxyType(
    {
        "branin": _translated(
            BRANIN, Prior.of([0.235, 0.578], signal_variance=2.0, noise_variance=8.9e-16)
        ),
        "goldstein-price": _translated(
            GOLDSTEIN_PRICE, Prior.of([0.130, 0.07], signal_variance=0.616, noise_variance=1e-6)
        ),
        "hartmann-3": _translated(
            HARTMANN_3,
            Prior.of([0.716, 0.298, 0.186], signal_variance=0.83, noise_variance=1.688e-11),
        ),
        "rhino-1": _rhino_1,
        "rhino-2": _rhino_2,
        "gp-rbf": _gp_samples("rbf"),
        "gp-matern52": _gp_samples("matern52"),
        **{name: _standard(surface) for name, surface in STANDARD.items()},
        "furuta-reference": _furuta(furuta_reference_family),
        "furuta": _furuta(furuta_family),
        "furuta-real": furuta_real_family,
        **{name: tabular(name, SHIPPED / name) for name in ("svm", "adaboost")},
    }
)
"""Builders of the built-in families by name."""


class Registry:
    """Families by name: the built-in ones and added ones."""

    def __init__(self, added: Mapping[str, Builder] | None = None) -> None:
        """Start with a copy of families that were added to another registry."""
        self._added = dict(added or {})

    @property
    def builders(self) -> Mapping[str, Builder]:
        """Builders of all families by name."""
        return MappingProxyType({**FAMILIES, **self._added})

    def copy(self) -> "Registry":
        """Return an independent registry with the same families."""
        return Registry(self._added)

    def add(self, family: ParametricFamily, *, replace: bool = False) -> None:
        """Add a family under its name, with the options `sources` and `noise`.

        Raises:
            OptionError: If the name is not valid, or already exists and `replace` is False.
        """
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", family.name):
            raise OptionError(
                "A family's name must consist of lower-case letters, digits, `-` and `_`, but got "
                f"`{shown(family.name)}`."
            )
        if family.name in self.builders and not replace:
            raise OptionError(
                f"A family `{family.name}` already exists. Choose another name, or pass "
                "`replace=True`."
            )

        def builder(*, sources: int | None = None, noise: float = 0.0) -> ParametricFamily:
            return family.restricted(sources).observed_with(noise)

        self._added[family.name] = builder


_OF_PROCESS = Registry()
"""Registry to which `register` adds families outside of `with` blocks; all threads share it."""
_OF_BLOCK: ContextVar[Registry | None] = ContextVar("registry", default=None)


def _current() -> Registry:
    return _OF_BLOCK.get() or _OF_PROCESS


@contextmanager
def registered(*families: ParametricFamily) -> Iterator[None]:
    """Register families for the duration of a `with` block.

    Families that `register` adds inside the block are removed at its end, too. Other threads do
    not see these families.

    Args:
        families: Families to register under their names.

    Raises:
        OptionError: If a family's name is not valid or already exists.

    Examples:
        >>> import metabo
        >>> def bowl(x, p):
        ...     return -(x - p["place"][:, None, None]).square().sum(-1)
        >>> from metabo.gp import default_prior
        >>> cups = metabo.function_family(
        ...     "cups", bowl, dim=1, parameters={"place": (0.2, 0.8)}, prior=default_prior(1)
        ... )
        >>> with metabo.tasks.registered(cups):
        ...     metabo.family("cups").budget
        30
    """
    registry = _current().copy()
    for one in families:
        registry.add(one)
    token = _OF_BLOCK.set(registry)
    try:
        yield
    finally:
        _OF_BLOCK.reset(token)


def register(family: ParametricFamily, *, replace: bool = False) -> None:
    """Register a family by its name, for training and evaluation in this process.

    Its name then takes the options `sources` and `noise`, as in `bowls:noise=0.1`. `train` and
    `evaluate` also accept a family object, which need not be registered. Inside
    `with metabo.tasks.registered(...)` the family is registered until the end of the block.

    Args:
        family: Family to register, such as one made by `function_family`.
        replace: Whether a registered family of this name may be replaced.

    Raises:
        OptionError: If the name is not valid, or already exists and `replace` is False.

    Examples:
        >>> import metabo
        >>> def bowl(x, p):
        ...     return -(x - p["place"][:, None, None]).square().sum(-1)
        >>> from metabo.gp import default_prior
        >>> bowls = metabo.function_family(
        ...     "bowls", bowl, dim=1, parameters={"place": (0.2, 0.8)}, prior=default_prior(1)
        ... )
        >>> metabo.register(bowls, replace=True)
        >>> metabo.family("bowls:noise=0.1").noise
        0.1
    """
    _current().add(family, replace=replace)


def family(name: str, **options: object) -> TaskFamily:
    """Build the family of this name, such as `branin` or `branin:sources=50`.

    A folder of result tables is the family `table:FOLDER`.

    Args:
        name: Name of a family, optionally followed by `:option=value`.
        options: Options as keywords; they override those in the name.

    Returns:
        The family, with its tasks, domain, prior and budget.

    Raises:
        OptionError: If the name or an option is unknown, or an option's value is not valid.
        DataError: If the files of a table cannot be used.

    Examples:
        >>> import metabo
        >>> branin = metabo.family("branin", sources=50)
        >>> branin.domain.dim, branin.budget, branin.max_sources
        (2, 30, 50)
    """
    base, written = parse(name)
    if base == "table":
        given = written | options
        if not given.get("path"):
            raise OptionError(
                "A table must be given with its folder, `table:FOLDER`, or `table:path=FOLDER` if "
                f"the folder's name has an equals sign, but got `{shown(name)}`."
            )
        return build("family `table`", tabular("table", str(given.pop("path"))), given)
    known = _current().builders
    if base not in known:
        raise unknown("family", base, known)
    return build(f"family `{base}`", known[base], written | options)


def named(family_: str | TaskFamily) -> tuple[str, TaskFamily]:
    """Return the name of a family and the family, given either of them.

    Raises:
        OptionError: If it is neither a known name nor a family.
    """
    if isinstance(family_, str):
        return family_, family(family_)
    if not isinstance(family_, TaskFamily):
        members = [name for name in vars(TaskFamily) if not name.startswith("_")]
        missing = [name for name in members if not hasattr(family_, name)]
        what = f", which has no {listed(missing)}" if len(missing) < len(members) else ""
        raise OptionError(
            "`family` must be a name, such as `branin`, or a family, such as `function_family` "
            f"returns, but got {brief(family_)}{what}."
        )
    return family_.name, family_
