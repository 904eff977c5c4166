"""Learned acquisition functions for Bayesian optimization of related problems.

`import metabo` costs next to nothing: a public name brings the module it lives in, and torch with
it, when it is first used.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from metabo.errors import MetaBOError
from metabo.version import __version__

if TYPE_CHECKING:
    from metabo.evaluation import evaluate
    from metabo.optimizer import Optimizer
    from metabo.pretrained import load
    from metabo.space import Choice, Float, Int, Space
    from metabo.tasks import family, function_family, register
    from metabo.training import train

__all__ = [
    "Choice",
    "Float",
    "Int",
    "MetaBOError",
    "Optimizer",
    "Space",
    "__version__",
    "evaluate",
    "family",
    "function_family",
    "load",
    "register",
    "train",
]

_HOMES = {
    "Choice": "metabo.space",
    "Float": "metabo.space",
    "Int": "metabo.space",
    "Optimizer": "metabo.optimizer",
    "Space": "metabo.space",
    "evaluate": "metabo.evaluation",
    "family": "metabo.tasks",
    "function_family": "metabo.tasks",
    "load": "metabo.pretrained",
    "register": "metabo.tasks",
    "train": "metabo.training",
}
"""The modules of the public names that are imported when they are first used."""


if not TYPE_CHECKING:  # a type checker would otherwise accept every name

    def __getattr__(name: str) -> object:
        """Import a public name or a submodule that is used for the first time."""
        if name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
            globals()[name] = value
            return value
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """All names, those not yet imported included."""
        return sorted({*globals(), *__all__})
