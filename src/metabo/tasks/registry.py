"""The families by name, with their options."""

import re
from collections.abc import Callable

from metabo.errors import OptionError, shown, unknown
from metabo.gp import Prior
from metabo.options import Range, build, parse
from metabo.tasks.base import TaskFamily
from metabo.tasks.family import ParametricFamily
from metabo.tasks.fourier import SpectralKernel
from metabo.tasks.furuta import furuta_family, furuta_real_family, furuta_reference_family
from metabo.tasks.furuta.fusion import Fused
from metabo.tasks.gp_samples import gp_sample_family
from metabo.tasks.rhino import rhino_1_family, rhino_2_family
from metabo.tasks.standard_functions import SHIFT, STANDARD, standard_prior
from metabo.tasks.synthetic import (
    BRANIN,
    GOLDSTEIN_PRICE,
    HARTMANN_3,
    Surface,
    translated_family,
)
from metabo.tasks.tabular import SHIPPED, tabular


def _translated(surface: Surface, prior: Prior) -> Callable[..., ParametricFamily]:
    def builder(
        *,
        translation: Range = (0.0, 0.1),
        scale: Range = (0.9, 1.1),
        sources: int | None = None,
        noise: float = 0.0,
    ) -> ParametricFamily:
        family = translated_family(surface, prior, translation=translation, scale=scale)
        return family.restricted(sources).observed_with(noise)

    return builder


def _standard(surface: Surface) -> Callable[..., ParametricFamily]:
    def builder(
        *,
        translation: Range = SHIFT,
        scale: Range = (1.0, 1.0),
        sources: int | None = None,
        noise: float = 0.0,
    ) -> ParametricFamily:
        prior = standard_prior(surface)
        family = translated_family(surface, prior, translation=translation, scale=scale)
        return family.restricted(sources).observed_with(noise)

    return builder


def _rhino_1(
    *, translation: Range = (0.0, 0.2), sources: int | None = None, noise: float = 0.0
) -> ParametricFamily:
    return rhino_1_family(translation).restricted(sources).observed_with(noise)


def _rhino_2(
    *, height: Range = (0.6, 0.9), sources: int | None = None, noise: float = 0.0
) -> ParametricFamily:
    return rhino_2_family(height).restricted(sources).observed_with(noise)


def _furuta(
    make: Callable[..., ParametricFamily],
) -> Callable[..., ParametricFamily]:
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


FAMILIES: dict[str, Callable[..., TaskFamily]] = {
    "branin": _translated(
        BRANIN, Prior.of([0.235, 0.578], signal_variance=2.0, noise_variance=8.9e-16)
    ),
    "goldstein-price": _translated(
        GOLDSTEIN_PRICE, Prior.of([0.130, 0.07], signal_variance=0.616, noise_variance=1e-6)
    ),
    "hartmann-3": _translated(
        HARTMANN_3, Prior.of([0.716, 0.298, 0.186], signal_variance=0.83, noise_variance=1.688e-11)
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


def register(family: ParametricFamily, *, replace: bool = False) -> None:
    """Make a family known by its name, for training and evaluation in this process.

    It then takes the options `sources` and `noise` like the others.

    Args:
        family: Such as `function_family` makes.
        replace: Whether a family of this name may be replaced.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", family.name):
        raise OptionError(
            "A family's name is made of lower-case letters, digits, `-` and `_`, but got "
            f"`{shown(family.name)}`."
        )
    if family.name in FAMILIES and not replace:
        raise OptionError(
            f"There is a family `{family.name}`. Choose another name, or give `replace=True`."
        )

    def builder(*, sources: int | None = None, noise: float = 0.0) -> ParametricFamily:
        return family.restricted(sources).observed_with(noise)

    FAMILIES[family.name] = builder


def family(name: str, **options: object) -> TaskFamily:
    """The family of this name, such as `branin` or `branin:sources=50`.

    A folder of result tables is the family `table:FOLDER`.

    Args:
        name: A registered name, optionally followed by `:option=value`.
        options: Options given as keywords; they win over those in the name.
    """
    base, written = parse(name)
    if base == "table":
        given = written | options
        if not given.get("path"):
            raise OptionError(
                "A table is given with its folder, `table:FOLDER`, or `table:path=FOLDER` where "
                f"its name has an equals sign, but got `{shown(name)}`."
            )
        return build("family `table`", tabular("table", str(given.pop("path"))), given)
    if base not in FAMILIES:
        raise unknown("family", base, FAMILIES)
    return build(f"family `{base}`", FAMILIES[base], written | options)
