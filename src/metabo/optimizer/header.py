"""The first line of a run's journal: its space and its settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from metabo.choices import PriorName
from metabo.errors import DataError, MetaBOError, OptionError, brief, shown
from metabo.gp import Prior
from metabo.optimizer.af import AF
from metabo.optimizer.settings import RunSettings
from metabo.rules import BUDGET
from metabo.space import Space
from metabo.space.schema import from_json, to_json
from metabo.version import __version__


def header_of(space: Space, settings: RunSettings) -> dict[str, object]:
    """Return the first line of a run's journal."""
    return {"space": to_json(space), **settings.to_json(), "metabo": __version__}


def begun_with(path: Path, header: Mapping[str, object]) -> tuple[Space, int]:
    """Read the space and the original budget of a run from its header.

    Raises:
        DataError: If they are missing or cannot be used.
    """
    try:
        BUDGET.require("budget", header["budget"])
        return from_json(header["space"]), cast(int, header["budget"])
    except (KeyError, MetaBOError) as error:
        raise _unusable(path, error) from None


def settings_in(path: Path, header: Mapping[str, object], af: AF | None) -> RunSettings:
    """Read the settings of a run from its header.

    Args:
        path: The journal, which messages name.
        header: The journal's first line.
        af: The acquisition function, if it was an object or its file has moved.

    Raises:
        OptionError: If the acquisition function was an object and is not given.
        DataError: If a setting is missing or cannot be used.
    """
    kept = header.get("af")
    if af is None and isinstance(kept, Mapping) and kept.get("kind") == "object":
        name = shown(kept.get("name"))
        raise OptionError(
            f"The journal `{shown(path)}` was started with an acquisition function that has no "
            f"name, of type `{name}`. Give it as `af`.",
            shell=f"The run in `{shown(path)}` was started in Python with a custom acquisition "
            f"function of type `{name}`. Ask in Python, with "
            "`metabo.Optimizer.open(journal, af=...)`.",
        )
    try:
        settings = RunSettings.from_json(header, af=af)
        for name in ("af", "budget", "direction"):  # a run has chosen all of these
            if getattr(settings, name) is None:
                raise DataError(f"`{name}` is missing.")
        return settings
    except MetaBOError as error:
        raise _unusable(path, error) from None


def require_same(
    path: Path, header: Mapping[str, object], space: Space, settings: RunSettings, *, budget: int
) -> None:
    """Require that a journal was started with this space and these settings.

    Args:
        path: The journal.
        header: The journal's first line.
        space: The space that was given.
        settings: The settings that were given, with every default resolved.
        budget: The present budget of the run in the journal, which is accepted like the original
            one.

    Raises:
        OptionError: If something differs; the message names it and both values.
    """
    known = {**header, "budget": budget} if settings.budget == budget else header
    difference = _space_difference(from_json(header["space"]), space)
    found = settings.difference(known)
    if difference is None and found is not None:
        difference = f"`{found.name}` {found.other}, but {found.own} was given"
    if difference is not None:
        raise OptionError(
            f"The journal `{shown(path)}` was started with {difference}. Give the same settings, "
            "or open it with `Optimizer.open`.",
            shell=f"The run in `{shown(path)}` was started with {difference}. Restore what it was "
            "started with.",
        )


def _space_difference(known: Space, given: Space) -> str | None:
    """Complete the sentence "The journal was started with ..." if the spaces differ."""
    for name, parameter in known.parameters.items():
        other = given.parameters.get(name)
        if other is None:
            return f"a parameter `{shown(name)}`, but none of this name was given"
        if other != parameter:
            return f"parameter `{shown(name)}` {brief(parameter)}, but {brief(other)} was given"
    for name in given.parameters:
        if name not in known.parameters:
            return f"no parameter `{shown(name)}`, but one of this name was given"
    if list(known.parameters) != list(given.parameters):
        names = brief(list(known.parameters)), brief(list(given.parameters))
        return f"parameters in the order {names[0]}, but {names[1]} was given"
    return None


def _unusable(path: Path, error: Exception) -> DataError:
    reason = f"{error} is missing." if isinstance(error, KeyError) else str(error)
    return DataError(
        f"Line 1 of the journal `{shown(path)}` has settings that cannot be used: {reason} "
        "Restore the file."
    )


def require_recordable(prior: Prior | PriorName | None) -> None:
    """Raise `OptionError` if a journal cannot record the prior."""
    if isinstance(prior, Prior) and prior.learned is not None:
        raise OptionError(
            "A journal cannot record a prior with a learned part. Save it in an artifact (`metabo "
            "train FAMILY --iterations 0`) and give that as `af`, or give no `journal`."
        )
