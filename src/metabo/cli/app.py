"""The commands by name, and the way in from the shell."""

import re
import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.text import Text

from metabo.cli.crossvalidate import crossvalidate_
from metabo.cli.evaluate import evaluate_
from metabo.cli.explain import explain_
from metabo.cli.listing import list_
from metabo.cli.report import report_
from metabo.cli.run import ask_, extend_, forget_, init_, tell_
from metabo.cli.show import show_
from metabo.cli.train import train_
from metabo.errors import MetaBOError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learned acquisition functions for Bayesian optimization of related problems.",
)
app.command("list")(list_)
app.command("train")(train_)
app.command("evaluate")(evaluate_)
app.command("crossvalidate")(crossvalidate_)
app.command("report")(report_)
app.command("explain")(explain_)
app.command("init")(init_)
app.command("ask")(ask_)
app.command("tell")(tell_)
app.command("show")(show_)
app.command("forget")(forget_)
app.command("extend")(extend_)


def main() -> None:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    try:
        _run()
    except MetaBOError as error:
        Console(stderr=True).print(
            Text("Error: ", "bold red").append(
                in_shell_words(error.in_shell, sys.argv), "not bold default"
            ),
            soft_wrap=True,
        )
        sys.exit(2)


def _run() -> None:
    """Run the command; running out of memory, or of room for its output, is a sentence too."""
    try:
        app()
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stderr.close()
        sys.exit(1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "memory" in str(error):
            raise MetaBOError("There is not enough memory. Give smaller settings.") from None
        raise
    except OSError as error:
        if isinstance(error, MetaBOError) or error.filename is not None:
            raise
        raise MetaBOError(
            f"The output cannot be printed: {error.strerror or error}. Make room for it."
        ) from None


def in_shell_words(message: str, typed: Sequence[str]) -> str:
    """The message about an argument, which names it as the option that was typed: `--budget`."""
    options = {word.partition("=")[0] for word in typed if word.startswith("--")}

    def as_typed(found: re.Match[str]) -> str:
        option = f"--{found[1].replace('_', '-')}"
        return f"`{option}`" if option in options else found[0]

    return re.sub(r"`([a-z_]+)`(?= must )", as_typed, message)
