"""The commands by name, and the entry point of the shell."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from metabo.cli.crossvalidate import crossvalidate_
from metabo.cli.evaluate import evaluate_
from metabo.cli.explain import explain_
from metabo.cli.listing import list_
from metabo.cli.mistakes import usage_sentence
from metabo.cli.report import report_
from metabo.cli.run import ask_, extend_, forget_, init_, tell_
from metabo.cli.show import show_
from metabo.cli.train import train_
from metabo.errors import MetaBOError, unknown
from metabo.version import __version__

_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    "Compare and train": {
        "list": list_,
        "evaluate": evaluate_,
        "train": train_,
        "crossvalidate": crossvalidate_,
        "explain": explain_,
    },
    "Optimize your own problem, one evaluation at a time": {
        "init": init_,
        "ask": ask_,
        "tell": tell_,
        "show": show_,
        "forget": forget_,
        "extend": extend_,
    },
    "Reproduce the paper": {"report": report_},
}
_EXAMPLES = """To compare methods on a known problem:

  metabo evaluate branin --methods metabo,ei,random

To optimize a problem of your own, described in space.json:

  metabo init run.jsonl --space space.json --budget 30

To list everything that can be named:

  metabo list
"""


class _Command(TyperCommand):
    """A command whose help shows no type for flags."""

    # Typer's types of these arguments are not public.
    def get_params(self, ctx):  # type: ignore[no-untyped-def]
        return _untyped_flags(super().get_params(ctx))


class _Commands(TyperGroup):
    """The commands; the error about an unknown name suggests the nearest one."""

    def get_params(self, ctx):  # type: ignore[no-untyped-def]
        return _untyped_flags(super().get_params(ctx))

    def parse_args(self, ctx, args):  # type: ignore[no-untyped-def]
        # Typer asks pydantic about flags that default to None, such as those for completion, and
        # importing pydantic takes a third of the time that help takes.
        for parameter in self.get_params(ctx):
            parameter.default = parameter.default or False
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        if not (args[0] in self.commands or args[0].startswith("-") or ctx.resilient_parsing):
            raise unknown("command", args[0], self.commands)
        return super().resolve_command(ctx, args)


def _untyped_flags(parameters):  # type: ignore[no-untyped-def]
    """Return the parameters; help would show flags as `--json <bool>`, as if they took a value."""
    for parameter in parameters:
        if getattr(parameter, "is_bool_flag", False):
            parameter.metavar = ""
    return parameters


app = typer.Typer(cls=_Commands, pretty_exceptions_enable=False, epilog=_EXAMPLES)
for _panel, _commands in _COMMANDS.items():
    for _name, _command in _commands.items():
        app.command(_name, cls=_Command, rich_help_panel=_panel)(_command)


def _print_version(is_asked: bool) -> bool:
    if is_asked:
        typer.echo(f"metabo {__version__}")
        raise typer.Exit
    return is_asked


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Learned acquisition functions for Bayesian optimization of related problems."""


def main() -> None:
    """Run the command line; a user's mistake gives one sentence and exit code 2."""
    try:
        code = _run()
    except MetaBOError as error:
        _fail(in_shell_words(error.in_shell, sys.argv))
    except typer.TyperException as error:
        _fail(usage_sentence(error))
    sys.exit(code)


def _fail(message: str) -> NoReturn:
    typer.secho("Error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(message, err=True)
    sys.exit(2)


def _run() -> int:
    """Run the command and return its exit code.

    Raises:
        MetaBOError: If the user made a mistake, or memory or disk space runs out.
    """
    try:
        # Outside of standalone mode, an exit code is returned instead of raised.
        return app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stderr.close()
        sys.exit(1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "memory" in str(error):
            raise MetaBOError("Out of memory. Use smaller settings.") from None
        raise
    except OSError as error:
        if isinstance(error, MetaBOError) or error.filename is not None:
            raise
        raise MetaBOError(
            f"Cannot print the output: {error.strerror or error}. Free some space and try again."
        ) from None


def in_shell_words(message: str, typed: Sequence[str]) -> str:
    """Name the argument in a message as the option that was typed, such as `--budget`."""
    options = {word.partition("=")[0] for word in typed if word.startswith("--")}

    def as_typed(found: re.Match[str]) -> str:
        option = f"--{found[1].replace('_', '-')}"
        return f"`{option}`" if option in options else found[0]

    return re.sub(r"`([a-z_]+)`(?= must )", as_typed, message)
