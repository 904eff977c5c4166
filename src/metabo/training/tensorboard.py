"""Training logs for TensorBoard, where it is installed."""

from dataclasses import asdict
from pathlib import Path

from metabo.errors import OptionError
from metabo.training.log import Event


class TensorBoard:
    """Writes the numbers of each iteration into a folder that TensorBoard can show."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise OptionError(
                "TensorBoard is not installed. Run `pip install metabo[tensorboard]`, or leave "
                "out `--tensorboard`."
            ) from None
        self.writer = SummaryWriter(folder)

    def add(self, event: Event) -> None:
        """Write an iteration's numbers."""
        for name, value in asdict(event).items():
            if value is not None and name not in ("iteration", "iterations"):
                self.writer.add_scalar(name, value, event.iteration)
        self.writer.flush()
