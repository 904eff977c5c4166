"""An integration without its package says in one sentence how to get it."""

import importlib
import sys

import pytest

from metabo.errors import ExtraError


@pytest.mark.parametrize("name", ["ax", "botorch", "optuna"])
def test_a_missing_package_names_the_extra(name, monkeypatch):
    for module in list(sys.modules):
        if module.startswith(f"metabo.integrations.{name}"):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ExtraError, match=rf"Install it with `pip install metabo\[{name}\]`"):
        importlib.import_module(f"metabo.integrations.{name}")
