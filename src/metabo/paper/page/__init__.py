"""The report as one page: claims, pictures and tables, from stored results."""

from functools import partial
from pathlib import Path

from metabo.paper.catalogue import EXPERIMENTS, Experiment, ScaleName
from metabo.paper.page.claims import verdicts
from metabo.paper.page.evidence import Evidence
from metabo.paper.page.html import page
from metabo.paper.page.sections import Section, section
from metabo.store import write_all

PAGE = "report.html"


def write_page(chosen: list[Experiment], scale: ScaleName, *, results: Path, folder: Path) -> Path:
    """Write the page with its pictures, PNG and SVG, beside it; give its path.

    Claims are judged by all that is stored, whichever experiments are chosen.
    """
    from metabo.paper.figures import plot_experiment  # matplotlib is slow to import

    everything = {one.name: one for one in (*EXPERIMENTS.values(), *chosen)}
    sections = {name: section(one, scale, results) for name, one in everything.items()}
    shown = [sections[one.name] for one in chosen]
    for one in shown:
        if one.results:
            draw = partial(plot_experiment, one.experiment, one.results)
            name = one.experiment.name
            write_all(folder, {f"{name}.png": draw, f"{name}.svg": draw})
    found = {name: one.results for name, one in sections.items()}
    evidence = Evidence(everything, found, scale)
    text = page(
        f"metabo: the paper's experiments ({scale} scale)",
        shown,
        verdicts(evidence),
        {one.experiment.name: _picture(one, folder) for one in shown if one.results},
    )
    write_all(folder, {PAGE: lambda path: path.write_text(text)})
    return folder / PAGE


def _picture(one: Section, folder: Path) -> bytes:
    return (folder / f"{one.experiment.name}.png").read_bytes()
