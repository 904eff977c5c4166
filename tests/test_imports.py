import subprocess
import sys

import pytest


@pytest.mark.slow
def test_experiments_run_where_only_the_core_is_installed():
    """On GPU machines there is no Typer, Rich or matplotlib."""
    code = (
        "import sys\n"
        "for name in ('typer', 'rich', 'matplotlib', 'scipy', 'sklearn', 'mujoco'):\n"
        "    sys.modules[name] = None\n"
        "sys.argv = ['x', 'strategy-rhino-1', '--methods', 'none']\n"
        "from metabo.paper.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
