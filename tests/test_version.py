import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from metabo import version


def test_the_environment_says_the_commit_of_a_copy(monkeypatch):
    monkeypatch.setenv("METABO_COMMIT", "abc")
    assert version.commit() == "abc"


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_inside_another_repository_there_is_no_commit(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    copy = tmp_path / "version.py"
    copy.write_text(Path(version.__file__).read_text())
    done = subprocess.run(
        [sys.executable, "-c", "import version; print(version.commit())"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "None"


def test_the_shell_prints_the_version():
    done = subprocess.run(
        [sys.executable, "-m", "metabo", "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"metabo {version.__version__}\n")
