"""Training logs for TensorBoard, an optional dependency."""

from dataclasses import asdict
from pathlib import Path

from metabo.errors import OptionError
from metabo.training.log import Event


class TensorBoard:
    """A writer of training events to a folder that TensorBoard can show.

    Raises:
        OptionError: If TensorBoard is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise OptionError(
                "TensorBoard is not installed. Install it with `pip install metabo[tensorboard]`, "
                "or leave out `--tensorboard`."
            ) from None
        self.writer = SummaryWriter(folder)

    def add(self, event: Event) -> None:
        """Write the numbers of one iteration."""
        for name, value in asdict(event).items():
            if value is not None and name not in ("iteration", "iterations"):
                self.writer.add_scalar(name, value, event.iteration)
        self.writer.flush()
