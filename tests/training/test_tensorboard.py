import sys
import types

import pytest

from metabo.errors import OptionError
from metabo.training import Event, TensorBoard

EVENT = Event(3, 9, 1.5, 0.1, 2.0, 0.3, 0.0, 1e-3, 100.0, 7.0)


def test_numbers_of_an_iteration_are_written(monkeypatch, tmp_path):
    written = []

    class SummaryWriter:
        def __init__(self, folder):
            assert folder == tmp_path

        def add_scalar(self, name, value, iteration):
            written.append((name, value, iteration))

        def flush(self):
            pass

    module = types.SimpleNamespace(SummaryWriter=SummaryWriter)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    TensorBoard(tmp_path).add(EVENT)
    assert ("reward", 1.5, 3) in written
    assert {name for name, _, _ in written}.isdisjoint({"score", "iteration"})


def test_without_tensorboard_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(OptionError, match=r"pip install metabo\[tensorboard\]"):
        TensorBoard(tmp_path)
