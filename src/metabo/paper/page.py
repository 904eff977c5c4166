"""The report as one page: claims, pictures and tables, from stored results."""

from collections.abc import Sequence
from pathlib import Path

from metabo.paper import RESULTS
from metabo.paper.claims import CLAIMS, verdicts
from metabo.paper.kinds import kind_of
from metabo.paper.render.html import page
from metabo.paper.results import Stored
from metabo.paper.sections import section
from metabo.store import write_all

PAGE = "report.html"


def write_page(shown: Sequence[Stored], *, folder: Path, results: Path = RESULTS) -> Path:
    """Write the page with its pictures, PNG and SVG, beside it.

    Claims are judged if all their experiments are shown; the page says how many are left out.

    Args:
        shown: Stored results of each experiment to show, at one scale.
        folder: Folder for the page.
        results: The folder that the results were read from, for the commands on the page.

    Returns:
        The path of the page.
    """
    pictures = {one.experiment.name: _write_pictures(one, folder) for one in shown if one.results}
    judged = verdicts({one.experiment.name: one for one in shown})
    text = page(
        f"metabo: the paper's experiments ({shown[0].scale} scale)",
        [section(one, results) for one in shown],
        judged,
        pictures,
        n_left_out=len(CLAIMS) - len(judged),
    )
    write_all(folder, {PAGE: lambda path: path.write_text(text)})
    return folder / PAGE


def _write_pictures(stored: Stored, folder: Path) -> bytes:
    """Draw an experiment, write it as PNG and SVG, and return the path of the PNG."""
    name = stored.experiment.name
    figure = kind_of(stored.experiment.kind).figure(stored)
    write_all(folder, {f"{name}.png": figure.savefig, f"{name}.svg": figure.savefig})
    return (folder / f"{name}.png").read_bytes()
