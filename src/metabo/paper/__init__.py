"""The paper's experiments: what is run, what is stored, and how it is shown."""

from pathlib import Path

RESULTS = Path("results")
"""The folder that results are read from and stored in by default."""
STUDY_RUNS = Path("runs/studies")
"""The folder of the training runs of studies by default."""
