"""Where commands print."""

from rich.console import Console

console = Console()


def say(text: str) -> None:
    """Print a sentence as it is: brackets are no markup, numbers are not coloured."""
    console.out(text, highlight=False)
