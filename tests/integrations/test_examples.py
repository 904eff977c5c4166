"""The examples for BoTorch, Optuna and Ax run, and OptunaHub's folder is whole."""

import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = {"ax": "ax_client", "botorch": "botorch_loop", "optuna": "optuna_study"}


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked", "restored_levels")
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs(name, capsys):
    pytest.importorskip(name, reason=f"needs the extra `{name}`")
    runpy.run_path(str(ROOT / "examples" / f"{EXAMPLES[name]}.py"), run_name="__main__")
    assert "best" in capsys.readouterr().out


def test_the_folder_for_optunahub_has_what_its_registry_asks_for():
    folder = ROOT / "optunahub" / "package" / "samplers" / "metabo"
    assert {"__init__.py", "README.md", "LICENSE", "example.py", "requirements.txt"} <= {
        path.name for path in folder.iterdir()
    }
    front = re.match(r"---\n(.*?)\n---\n", (folder / "README.md").read_text(), flags=re.DOTALL)
    fields = dict(line.split(": ", 1) for line in front[1].splitlines())
    assert set(fields) == {
        "author",
        "title",
        "description",
        "tags",
        "optuna_versions",
        "license",
    }
    assert "sampler" in fields["tags"]
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked", "restored_levels")
def test_the_example_for_optunahub_runs(monkeypatch, capsys):
    pytest.importorskip("optuna", reason="needs the extra `optuna`")
    folder = ROOT / "optunahub" / "package"

    def load_module(package):
        """What `optunahub` does with a registry that is a folder."""
        return SimpleNamespace(**runpy.run_path(str(folder / package / "__init__.py")))

    monkeypatch.setitem(sys.modules, "optunahub", SimpleNamespace(load_module=load_module))
    runpy.run_path(str(folder / "samplers" / "metabo" / "example.py"), run_name="__main__")
    assert "'depth': 3" in capsys.readouterr().out
