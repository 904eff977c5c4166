"""The page: one HTML file that needs nothing beside it."""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from metabo.paper.page.claims import Outcome, Verdict
from metabo.paper.page.sections import Section
from metabo.paper.sheet import Sheet

_ASSETS = Path(__file__).parent
MARKS: dict[Outcome, str] = {
    "holds": "&#10003;",
    "does not hold": "&#10007;",
    "cannot be tested here": "&ndash;",
}


def page(
    title: str,
    sections: Sequence[Section],
    verdicts: Sequence[Verdict],
    pictures: Mapping[str, bytes],
) -> str:
    """The whole page.

    Args:
        title: Its heading.
        sections: One for each experiment.
        verdicts: The claims, judged.
        pictures: PNG files by experiment; there is none where nothing is stored.
    """
    style, script = ((_ASSETS / name).read_text() for name in ("page.css", "page.js"))
    known = {one.experiment.name for one in sections}
    body = [
        f"<h1>{escape(title)}</h1>",
        "<p>MetaBO (Volpp et al., ICLR 2020): each figure and table of the paper, rebuilt from "
        "stored results, beside what the paper says. Regrets are medians over unseen tasks, on "
        "tables means over unseen data sets.</p>",
        _contents(sections),
        "<h2 id='claims'>Claims of the paper</h2>",
        f"<p>{_counted(verdicts)} Each is judged by the criterion beside it, from the numbers "
        "stored, and by nothing else.</p>",
        _claims(verdicts, known),
        "<h2 id='missing'>Not run</h2>",
        _missing(sections),
        *(_section(one, pictures.get(one.experiment.name)) for one in sections),
    ]
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        # An icon of no content keeps browsers from asking for one.
        "<link rel='icon' href='data:,'>\n"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + f"\n</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def _contents(sections: Iterable[Section]) -> str:
    links = [("claims", "Claims"), ("missing", "Not run")]
    links += [(one.experiment.name, one.experiment.name) for one in sections]
    items = "".join(f"<li><a href='#{name}'>{escape(text)}</a></li>" for name, text in links)
    return f"<nav><ul>{items}</ul></nav>"


def _counted(verdicts: Iterable[Verdict]) -> str:
    counts = Counter(verdict.outcome for verdict in verdicts)
    return (
        f"{counts['holds']} hold, {counts['does not hold']} do not hold, "
        f"{counts['cannot be tested here']} cannot be tested here."
    )


def _claims(verdicts: Iterable[Verdict], known: set[str]) -> str:
    rows = []
    for verdict in verdicts:
        claim, outcome = verdict.claim, verdict.outcome
        place = escape(claim.place)
        if claim.experiment in known:
            place = f"<a href='#{claim.experiment}'>{place}</a>"
        css = outcome.replace(" ", "-")
        rows.append(
            [
                f"<td>{escape(claim.text)} <small>({place})</small></td>",
                f"<td>{escape(claim.criterion)}</td>",
                f"<td class='{css}'>{MARKS[outcome]} {outcome}</td>",
                f"<td>{escape(verdict.evidence)}</td>",
            ]
        )
    return _table("", ("claim", "criterion", "outcome", "numbers"), rows, "claims")


def _missing(sections: Iterable[Section]) -> str:
    rows = [
        [
            f"<td><a href='#{one.experiment.name}'>{one.experiment.name}</a></td>",
            f"<td>{len(one.missing)} of {len(one.missing) + len(one.results)}</td>",
            f"<td>{escape('; '.join(one.missing))}</td>",
            f"<td><code>{escape(one.command)}</code></td>",
        ]
        for one in sections
        if one.missing
    ]
    if not rows:
        return "<p>Nothing is missing.</p>"
    return _table("", ("experiment", "missing", "what", "command"), rows)


def _section(one: Section, picture: bytes | None) -> str:
    name, title = one.experiment.name, one.experiment.title
    parts = [
        f"<section id='{name}'>",
        f"<h2>{escape(title)}</h2>",
        f"<p class='place'>{escape(one.place)}</p>",
    ]
    if one.claim:
        who = "" if one.place.startswith("Not in the paper") else "<strong>The paper:</strong> "
        parts.append(f"<p>{who}{escape(one.claim)}</p>")
    if picture is None:
        parts.append("<p class='not-run'>Not run: nothing is stored.</p>")
    else:
        data = base64.b64encode(picture).decode()
        parts.append(
            f"<figure><img alt='{escape(title, quote=True)}' src='data:image/png;base64,{data}'>"
            f"<figcaption>Also as <code>{name}.png</code> and <code>{name}.svg</code> beside "
            "this page.</figcaption></figure>"
        )
    parts += [_sheet(sheet) for sheet in one.tables]
    facts = "".join(
        f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in one.facts if v
    )
    parts.append(f"<dl>{facts}</dl>")
    if one.missing and picture is not None:
        parts.append(f"<p class='not-run'>Not run: {escape('; '.join(one.missing))}.</p>")
    parts.append(f"<p>Rebuild: <code>{escape(one.command)}</code></p></section>")
    return "\n".join(parts)


def _sheet(sheet: Sheet) -> str:
    rows = [[f"<td>{escape(cell)}</td>" for cell in row] for row in sheet.rows]
    return _table(sheet.title, sheet.columns, rows)


def _table(
    caption: str, columns: Iterable[str], rows: Iterable[Iterable[str]], css: str = ""
) -> str:
    head = "".join(
        f"<th scope='col'><button type='button'>{escape(column)}</button></th>"
        for column in columns
    )
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f"<div class='wide'><table class='{css}'>{title}<thead><tr>{head}</tr></thead>"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
