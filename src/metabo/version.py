"""The package's version, and the commit that the sources were taken from."""

import os
from pathlib import Path

__version__ = "0.1.0"


def commit() -> str | None:
    """The commit of the source tree; `$METABO_COMMIT` names it for a copy without history."""
    given = os.environ.get("METABO_COMMIT")
    # The package may be installed inside some other repository, which does not know this file.
    is_tracked = _git("ls-files", "--error-unmatch", Path(__file__).name) is not None
    return given or (_git("describe", "--always", "--dirty") if is_tracked else None)


def _git(*arguments: str) -> str | None:
    """What git says in this folder; None where it fails."""
    import subprocess  # not worth waiting for where only the version is asked for

    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
