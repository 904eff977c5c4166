"""An integration without its package says in one sentence how to get it."""

import importlib
import sys

import pytest

from metabo.errors import ExtraError


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("botorch", "botorch", "botorch"), ("optuna", "optuna", "optuna")],
)
def test_a_missing_package_names_the_extra(module, package, extra, monkeypatch):
    for name in list(sys.modules):
        if name.startswith(f"metabo.integrations.{module}"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ExtraError, match=rf"Install it with `pip install metabo\[{extra}\]`"):
        importlib.import_module(f"metabo.integrations.{module}")
