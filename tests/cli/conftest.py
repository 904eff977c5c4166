import sys

import pytest

from metabo import cli


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path_factory):
    """Commands write to `runs` where they are called: not into the repository."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture
def metabo(monkeypatch, capsys):
    """Run the command line in this process; give the exit code and what was printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["metabo", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        return stopped.value.code or 0, out, err

    return run
