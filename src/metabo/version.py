"""The package's version, in one place, and the commit it was taken from."""

import os
import subprocess
from pathlib import Path

__version__ = "0.1.0"


def commit() -> str | None:
    """The commit of the source tree; `$METABO_COMMIT` says it for a copy without history."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return os.environ.get("METABO_COMMIT")
    return done.stdout.strip() or os.environ.get("METABO_COMMIT")
