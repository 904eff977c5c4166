"""The console that commands print to."""

from rich.console import Console

console = Console()


def say(text: str) -> None:
    """Print a sentence as it is, without markup and colours."""
    # A path may hold bytes that are not text, which a terminal would refuse.
    console.out(text.encode("utf-8", "backslashreplace").decode(), highlight=False)
