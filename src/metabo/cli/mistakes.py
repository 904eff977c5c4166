"""Usage errors, which like all errors state what is wrong, the rule and the remedy."""

import re
from typing import Literal, get_args, get_origin

import typer

from metabo.errors import nearest, shown
from metabo.rules import one_of


def usage_sentence(error: typer.TyperException) -> str:
    """Say what is wrong with a command line, and which command explains it.

    Typer's kinds of errors are not public, so they are told apart by what they carry. An error
    that is not recognized keeps Typer's words.
    """
    context = getattr(error, "ctx", None)
    hint = "" if context is None else f" See `{context.command_path} --help`."
    sentence = _sentence(error)
    return f"{sentence}{'' if sentence.endswith(('.', '?')) else '.'}{hint}"


def _sentence(error: typer.TyperException) -> str:
    parameter = getattr(error, "param", None)
    if hasattr(error, "possibilities"):
        given = str(getattr(error, "option_name", ""))
        # The dashes, which all options have, do not count as similarity.
        near = nearest(given.strip("-"), [one.strip("-") for one in error.possibilities or ()])
        remedy = "" if near is None else f" Did you mean `--{near}`?"
        return f"There is no option `{shown(given)}`.{remedy}"
    if parameter is not None and hasattr(error, "param_type"):
        return f"The {parameter.param_type_name} `{_name(parameter)}` is missing"
    form, value = _form(parameter), _given(error)
    if form is not None and value is not None:
        return f"`{_name(parameter)}` must be {form}, but got `{shown(value)}`"
    return re.sub(r"'([^']*)'", r"`\1`", error.format_message())


def _name(parameter: object) -> str:
    """Return the parameter as it is typed: `--tasks`, or `FAMILY` for an argument."""
    if getattr(parameter, "param_type_name", "") == "argument":
        return str(getattr(parameter, "metavar", None) or getattr(parameter, "name", ""))
    return str(getattr(parameter, "opts", ("option",))[0])


def _form(parameter: object) -> str | None:
    """Describe the rule for a value; None if no rule is declared."""
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if get_origin(annotation) is Literal:
        return one_of(*get_args(annotation)).form
    if annotation not in (int, float):
        return None
    kind = "a whole number" if annotation is int else "a number"
    if low is None:
        return kind
    return f"{kind} of at least {low}" if high is None else f"{kind} in {low}..{high}"


def _given(error: typer.TyperException) -> object:
    """Return the value that was refused, as recorded by Typer's validator."""
    errors = getattr(error.__cause__, "errors", None)
    return None if errors is None else errors()[0]["input"]
