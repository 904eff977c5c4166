"""The pages of the website that are written while it is built, so that they are never stale.

python docs/generated_pages.py reference/cli.md    prints one of them
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from metabo.cli import app
from metabo.evaluation.numbers import significant
from metabo.evaluation.table import Column, Table
from metabo.paper.catalogue import EXPERIMENTS
from metabo.paper.catalogue.places import place_of
from metabo.paper.render.markdown import markdown
from metabo.pretrained import artifacts, read_card

ROOT = Path(__file__).parent.parent


def changelog() -> str:
    """The text of `CHANGELOG.md`."""
    return (ROOT / "CHANGELOG.md").read_text()


def cli() -> str:
    """Every command with its usage, arguments and options."""
    group = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands  # type: ignore[attr-defined]
    parts = [
        "# Command line",
        f"{group.help} `metabo COMMAND --help` shows the same in the terminal. A mistake is "
        "answered with one sentence and exit code 2. Options of a family or a method follow its "
        "name after colons, such as `branin:noise=0.1` or `ucb:beta=9`; `metabo list` shows them.",
        _table(("command", ""), [(f"[`{n}`](#{n})", _text(c.help)) for n, c in commands.items()]),
    ]
    for name, command in commands.items():
        parts += _command(name, command)
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> Iterator[str]:
    hints = get_type_hints(inspect.unwrap(command.callback))
    options = [p for p in command.params if p.opts[0].startswith("-")]
    arguments = [p for p in command.params if p not in options]
    yield f"## {name}"
    yield _text(command.help)
    usage = " ".join(("metabo", name, *map(_argument, arguments), *["[OPTIONS]"] * bool(options)))
    yield f"```\n{usage}\n```"
    if arguments:
        yield _table(("argument", ""), [(f"`{_metavar(p)}`", _text(p.help)) for p in arguments])
    if options:
        rows = [(f"`{_option(p, hints[p.name])}`", _text(p.help), _default(p)) for p in options]
        yield _table(("option", "", "default"), rows)


def _argument(parameter: Any) -> str:
    dots = "..." if parameter.nargs == -1 else ""
    word = f"{_metavar(parameter)}{dots}"
    return word if parameter.required else f"[{word}]"


def _metavar(parameter: Any) -> str:
    return (parameter.metavar or parameter.name.strip("_").upper()).strip("[].")


def _option(parameter: Any, hint: Any) -> str:
    """Its name and the kind of value it takes, such as `--seed INT` or `--device cpu|cuda`."""
    name = ", ".join(parameter.opts)
    if getattr(parameter, "is_flag", False):
        return name
    if parameter.metavar:
        return f"{name} {parameter.metavar}"
    if type(None) in get_args(hint):
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    if get_origin(hint) is Literal:
        return f"{name} {'|'.join(map(str, get_args(hint)))}"
    kind = get_args(hint)[0] if get_args(hint) else hint
    return f"{name} {'TEXT' if kind is str else kind.__name__.upper()}"


def _default(parameter: Any) -> str:
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    value = parameter.default
    if parameter.required or value is None or value is False or parameter.show_default is False:
        return ""
    return f"`{getattr(value, 'value', value)}`"


def shipped() -> str:
    """What each artifact in the package was trained on, and what validation said of it."""
    cards = {name: read_card(path) for name, path in artifacts().items()}
    rows = [_artifact(name, card) for name, card in cards.items()]
    heads = ("artifact", "D", "T", "t", "learned", "EI", "random", "tasks")
    return "\n\n".join(
        (
            "# Artifacts",
            "The acquisition functions that come with the package. Each is one file of weights "
            "with a card that says how it was trained: `metabo.load(NAME).card`. Wherever an "
            "artifact is asked for, one of these names or a file of your own will do.",
            "## Validation",
            "Median simple regret on validation tasks, as it stands in the card, after half of "
            "the budget and at its end. D is the number of dimensions, T the largest budget used "
            "in training. Where the tasks are marked with \\*, the artifact also learned from "
            "them, so that the numbers say nothing about new tasks.",
            _table(heads, [row for pair in rows for row in pair]),
            "## Training",
            "Trained on `all` tasks means that every episode had a new one.",
            _table(
                ("artifact", "family", "trained on", "iterations", "seconds", "device", "commit"),
                [_training(name, card) for name, card in cards.items()],
            ),
            "",
        )
    )


def _artifact(name: str, card: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    medians, n_tasks = card["validation"]["median_regret"], card["validation"]["tasks"]
    end = len(medians["metabo"])
    for t in (end // 2, end):
        first = (f"`{name}`", str(card["domain"]["dim"]), str(card["budget"][-1]))
        star = "\\*" if card["validation"].get("learned_from") else ""
        cells = (significant(medians[m][t - 1]) for m in ("metabo", "ei", "random"))
        yield (*(first if t < end else ("", "", "")), str(t), *cells, f"{n_tasks}{star}")


def _training(name: str, card: dict[str, Any]) -> tuple[str, ...]:
    run, data = card["training"], card.get("data")
    tasks = f"{len(data['datasets'])} data sets" if data else f"{card['sources'] or 'all'} tasks"
    return (
        f"`{name}`",
        f"`{card['family']}`",
        tasks,
        str(run["iterations"]),
        f"{run['seconds']:.0f}",
        run["device"],
        f"`{card['commit']}`",
    )


def figures() -> str:
    """Every experiment with its place in the paper, its picture and its command."""
    parts = [
        "# Figures",
        "Every experiment of the catalogue, drawn from the results that are stored in the "
        "repository; click on one to enlarge it. The first command below a picture shows its "
        "numbers, the second runs what is missing. With `--scale smoke --rerun` all of it is run "
        "in small.",
    ]
    for name, one in EXPERIMENTS.items():
        place, says = place_of(name)
        picture = f"results/{name}/full/{name}.png"
        words = says if place.startswith("Not in the paper") else f"The paper: {says}"
        parts += [f"## {name}", f"**{one.title}.** ({place}.) {words}"]
        if (ROOT / picture).is_file():
            parts.append(f"[![{one.title}](../../{picture})](../../{picture})")
        parts.append(f"```\nmetabo report {name}\nmetabo report {name} --rerun\n```")
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    text = markdown(Table.of("", [Column(head, "text") for head in heads], rows)).rstrip("\n")
    # The site shows a backslash before `|` in code, where GitHub would need it.
    return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("\\|", "|"), text)


def _text(text: str | None) -> str:
    return " ".join((text or "").split())


PAGES: dict[str, Callable[[], str]] = {
    "reference/cli.md": cli,
    "reference/artifacts.md": shipped,
    "reference/changelog.md": changelog,
    "paper/figures.md": figures,
}

if __name__ == "__main__":
    print(PAGES[sys.argv[1]]())
