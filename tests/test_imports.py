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


def run(code):
    """What a fresh interpreter prints, line by line."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_help_and_usage_errors_come_without_the_heavy_packages():
    """Else every slip would take seconds; of what is imported here nothing is measured."""
    code = (
        "import contextlib, io, sys\n"
        "from metabo.cli import app, main\n"
        "commands = [info.name for info in app.registered_commands]\n"
        "lines = [['--version'], ['--help'], [], ['nosuch'], ['--nosuch'], ['evaluate'],\n"
        "         ['evaluate', 'branin', '--search', 'x'],\n"
        "         ['evaluate', 'branin', '--tasks', '0'],\n"
        "         ['train', 'branin', '--preset', 'x'], ['train', 'branin', '--seconds', 'x'],\n"
        "         ['report', '--scale', 'x'], ['evaluate', 'branin', '--device', 'x']]\n"
        "for words in [*lines, *([c, '--help'] for c in commands),\n"
        "              *([c, '--nosuch'] for c in commands)]:\n"
        "    sys.argv = ['metabo', *words]\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out, \\\n"
        "         contextlib.redirect_stderr(io.StringIO()) as err:\n"
        "        try:\n"
        "            main()\n"
        "        except SystemExit as stop:\n"
        "            code = stop.code\n"
        "    print(code, bool(out.getvalue()), err.getvalue().count(chr(10)), *words)\n"
        "heavy = {'torch', 'numpy', 'matplotlib', 'safetensors'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    for line in run(code):
        status, printed, errors, *words = line.split()
        is_help = not words or words[-1] in ("--help", "--version")
        expected = ("0", "True", "0") if is_help else ("2", "False", "1")
        assert (status, printed, errors) == expected, words


def test_the_package_brings_its_public_names_when_they_are_used():
    code = (
        "import sys, metabo\n"
        "assert 'torch' not in sys.modules\n"
        "assert set(metabo.__all__) <= set(dir(metabo))\n"
        "assert metabo.errors.MetaBOError is metabo.MetaBOError\n"
        "assert 'torch' not in sys.modules\n"
        "from metabo import *\n"
        "for name in metabo.__all__:\n"
        "    assert globals()[name] is getattr(metabo, name)\n"
        "assert Optimizer is metabo.optimizer.Optimizer\n"
        "assert not hasattr(metabo, 'nosuch')\n"
        "import copy, pickle\n"
        "space = Space({'x': Float(0, 1)})\n"
        "assert pickle.loads(pickle.dumps(space)) == copy.deepcopy(space) == space\n"
    )
    run(code)
