"""Where commands print."""

from rich.console import Console

console = Console()


def say(text: str) -> None:
    """Print a sentence as it is: brackets are no markup, numbers are not coloured."""
    # A path may hold bytes that are no text, which a terminal refuses.
    console.out(text.encode("utf-8", "backslashreplace").decode(), highlight=False)
