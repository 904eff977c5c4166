"""How far a reader walks: which files of the package a command runs code of.

    python studies/walks.py                       # this checkout
    python studies/walks.py --source OTHER/src    # another one, to compare

Counts, for each command, the files in which a function was called while the command ran, as a
reader would open them one after the other. What merely runs on import (constants, definitions)
does not count. The last row counts the lines of the package.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {
    "evaluate": ["evaluate", "branin", "--methods", "metabo,ei", "--tasks", "2", "--budget", "3"],
    "train": [
        *("train", "branin", "--preset", "fast", "--iterations", "1"),
        *("--set", "episodes=4", "--set", "validation_tasks=4", "--set", "minibatches=2"),
    ],
    "ask": ["ask", "run.jsonl"],
    "report figure-2": ["report", "figure-2", "--out", str(ROOT / "results")],
}
_WATCHED = """
import importlib, json, pkgutil, sys
from pathlib import Path
package, target = Path(sys.argv[1]), Path(sys.argv[2])
sys.argv = ["metabo", *sys.argv[3:]]
files = set()
def watch(frame, event, arg):
    if event == "call":
        code = frame.f_code
        if code.co_filename.startswith(str(package)) and code.co_name != "<module>":
            files.add(code.co_filename)
import metabo
for module in pkgutil.walk_packages(metabo.__path__, "metabo."):  # commands import lazily
    if "integrations" not in module.name and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
from metabo.cli import main
sys.setprofile(watch)
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    sys.setprofile(None)
    target.write_text(json.dumps(sorted(files)))
"""


def walk(source: Path, arguments: list[str], folder: Path) -> list[str]:
    """The files of the package, relative to it, that a command runs code of."""
    package, target = source / "metabo", folder / "files.json"
    subprocess.run(
        [sys.executable, "-c", _WATCHED, str(package), str(target), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return [str(Path(file).relative_to(package)) for file in json.loads(target.read_text())]


def main() -> None:
    """Print one JSON line per command, and one with the lines of the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=ROOT / "src")
    parser.add_argument("--files", action="store_true", help="Also list the files.")
    given = parser.parse_args()
    source = given.source.resolve()
    for name, arguments in COMMANDS.items():
        with tempfile.TemporaryDirectory() as where:
            folder = Path(where)
            if name == "ask":
                walk(source, ["init", "run.jsonl", "--artifact", "branin"], folder)
            files = walk(source, arguments, folder)
        print(json.dumps({"command": name, "files": len(files)}))
        if given.files:
            print("\n".join(f"  {file}" for file in files))
    modules = list((source / "metabo").rglob("*.py"))
    lines = sum(len(module.read_text().splitlines()) for module in modules)
    print(json.dumps({"modules": len(modules), "lines": lines}))


if __name__ == "__main__":
    main()
