"""The names a person chooses from, in the shell and in Python.

They live apart from what they stand for, so that the shell can list, check and complete them
without importing torch.
"""

from typing import Literal

SearchName = Literal["gradient", "grid", "sobol"]
"""How an acquisition function is maximized; `SEARCHES` describes each way."""
Hyperparameters = Literal["known", "fitted"]
"""Hyperparameters of the GP: those of the family or task, or fitted during the run."""
PresetName = Literal["default", "paper", "fast", "table", "general"]
"""Training settings by name; `PRESETS` holds them."""
Direction = Literal["minimize", "maximize"]
"""Whether small or large values are good."""
PriorName = Literal["artifact", "fitted"]
"""Where the GP prior of a run comes from: the artifact, or a fit to the run's own values."""
CandidatesName = Literal["table", "space"]
"""What a run proposes among: the configurations of the artifact's table, or the whole space."""
ScaleName = Literal["smoke", "full"]
"""How much of the paper's experiments is run: a quick check, or all of it."""
