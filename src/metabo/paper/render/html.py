"""The page: one HTML file that needs nothing beside it."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from metabo.paper.claims import Outcome, Verdict
from metabo.paper.sections import Section

MARKS: dict[Outcome, str] = {
    "holds": "\u2713",
    "does not hold": "\u2717",
    "cannot be tested here": "\u2013",
}


def page(
    title: str,
    sections: Sequence[Section],
    verdicts: Sequence[Verdict],
    pictures: Mapping[str, bytes],
    *,
    n_left_out: int = 0,
) -> str:
    """The whole page.

    Args:
        title: Its heading.
        sections: One for each experiment.
        verdicts: The claims that were judged.
        pictures: PNG files by experiment, of those with stored results.
        n_left_out: Number of claims that were not judged, because their experiments are not shown.
    """
    templates = Environment(
        loader=PackageLoader("metabo.paper.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("page.html").render(
        title=title,
        sections=sections,
        names={one.name for one in sections},
        verdicts=verdicts,
        counts=Counter(verdict.outcome for verdict in verdicts),
        marks=MARKS,
        n_left_out=n_left_out,
        pictures={name: base64.b64encode(data).decode() for name, data in pictures.items()},
    )
