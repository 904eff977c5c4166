"""Do two checkouts give the same numbers? Tables, verdicts, artifacts and runs, side by side.

    python studies/compare_versions.py OLD            # against this checkout
    python studies/compare_versions.py OLD NEW

Runs the same commands in both, in one interpreter's environment, and compares what they wrote:

- `report`: every cell of every table, and the verdict on every claim, from the stored results;
- `evaluate`: every query and regret of each family's methods, to the last bit;
- `artifacts`: the bytes of every shipped artifact;
- `run`: what each artifact proposes in the first steps of a run in the shell.

Prints one JSON line per part with the number of things compared and those that differ; the exit
status is 1 if anything differs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EVALUATED = {
    "branin": "metabo,metabo-50,ei,logei,pi,ucb,random,taf-me:M=20:N=50,taf-r:M=20:N=50,"
    "gmm-ucb,eps-greedy",
    "goldstein-price": "metabo,metabo-50,ei,random",
    "hartmann-3": "metabo,metabo-50,ei,random",
    "rhino-1": "metabo,ei",
    "rhino-2": "metabo,ei",
    "furuta-reference": "metabo,ei",
    "furuta": "metabo,ei",
    "svm": "metabo,ei,taf-me,taf-r,mean-rank,portfolio,random",
    "adaboost": "metabo,ei,random",
    "gp-matern52": "metabo,ei",
    "gp-rbf:dim=4": "ei,random",
    "table:examples/past:fold=0": "ei,mean-rank",
}
RUNS = ("branin", "rhino-1", "svm", "furuta")
Facts = dict[str, object]
"""What a checkout says, by the name of the thing said."""


@dataclass(frozen=True)
class Checkout:
    """A clone of the project whose commands are run."""

    root: Path

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """What a command of this checkout prints."""
        done = subprocess.run(
            [sys.executable, "-m", "metabo", *arguments],
            cwd=self.root if cwd is None else cwd,
            env={**os.environ, "PYTHONPATH": str(self.root / "src"), "COLUMNS": "300"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"{self.root}: metabo {' '.join(arguments)}\n{done.stderr}")
        return done.stdout


class Cells(HTMLParser):
    """The rows of the tables of a page, each under the heading that precedes it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Counter[tuple[str, ...]] = Counter()
        self._section, self._row, self._cell = "", list[str](), list[str]()
        self._is_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a section, a row or a cell."""
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
        elif tag == "tr":
            self._row = []
        elif tag == "td":
            self._cell, self._is_cell = [], True

    def handle_endtag(self, tag: str) -> None:
        """End a cell or a row."""
        if tag == "td":
            self._row.append(" ".join("".join(self._cell).split()))
            self._is_cell = False
        elif tag == "tr" and self._row:
            self.rows[(self._section, *self._row)] += 1

    def handle_data(self, data: str) -> None:
        """Keep the text of cells."""
        if self._is_cell:
            self._cell.append(data)


def report(checkout: Checkout, folder: Path) -> Facts:
    """Every row of the report's tables, and every row of the claims."""
    checkout.run("report", "--page", str(folder))
    cells = Cells()
    cells.feed((folder / "report.html").read_text())
    return {" | ".join(row): count for row, count in cells.rows.items()}


def evaluate(checkout: Checkout, folder: Path) -> Facts:
    """Queries and regrets of a few tasks of each family."""
    found: Facts = {}
    for family, methods in EVALUATED.items():
        out = folder / re.sub(r"\W+", "-", family)
        checkout.run(
            *("evaluate", family, "--methods", methods, "--tasks", "3", "--budget", "6"),
            *("--out", str(out)),
        )
        for method, result in json.loads((out / "results.json").read_text())["methods"].items():
            kept = {k: v for k, v in result.items() if k != "seconds_per_episode"}
            found[f"{family} {method}"] = kept
    return found


def artifacts(checkout: Checkout, folder: Path) -> Facts:
    """The bytes of what is shipped."""
    shipped = checkout.root / "src" / "metabo"
    files = sorted(shipped.rglob("*.safetensors"))
    return {file.name: file.read_bytes() for file in files}


def run(checkout: Checkout, folder: Path) -> Facts:
    """Proposals of a run in the shell, whose results are made up."""
    found: Facts = {}
    for name in RUNS:
        journal = str(folder / f"{name}.jsonl")
        checkout.run("init", journal, "--artifact", name, cwd=folder)
        for step, value in enumerate((0.3, 0.7, 0.5)):
            proposed = checkout.run("ask", journal, cwd=folder).strip().splitlines()[-1]
            found[f"{name} {step}"] = proposed
            settings = re.findall(r"[\w.-]+=[^\s]+", proposed)
            checkout.run("tell", journal, *settings, f"value={value}", cwd=folder)
    return found


PARTS: Mapping[str, Callable[[Checkout, Path], Facts]] = {
    "artifacts": artifacts,
    "report": report,
    "run": run,
    "evaluate": evaluate,
}


def main() -> None:
    """Compare the parts, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--parts", default=",".join(PARTS))
    given = parser.parse_args()
    is_same = True
    for part in given.parts.split(","):
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            old = PARTS[part](Checkout(given.old.resolve()), Path(a))
            new = PARTS[part](Checkout(given.new.resolve()), Path(b))
        differing = sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k))
        print(json.dumps({"part": part, "compared": len(old), "differ": len(differing)}))
        for key in differing:
            sides = [name for name, facts in (("old", old), ("new", new)) if key in facts]
            print(f"  {key[:300]} ({' and '.join(sides)})")
        is_same &= not differing
    raise SystemExit(0 if is_same else 1)


if __name__ == "__main__":
    main()
