"""What the website shows of the repository besides the pages in this folder.

Pages link to sources, examples and stored pictures by relative paths such as `../../src/...`,
which work wherever the repository is browsed. On the site each such file becomes a page, or an
image, of its own. The pages of `generated_pages` are written while the site is built.
"""

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))
from generated_pages import PAGES  # noqa: E402

LINK = re.compile(r"\]\((\.\./[\w./=-]+)(#[\w-]+)?\)")
# In a page of the repository outside this folder: its words, its target and the anchor.
WORDS = re.compile(r"\[([^\]]+)\]\((?!https?:)([\w./=-]+)(#[\w-]+)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and every file of the repository that a page links to."""
    for place, write in PAGES.items():
        files.append(File.generated(config, place, content=write()))
    for path in sorted(set(_linked(files))):
        files.append(_published(config, path))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links of a page at what was added."""
    here = page.file.src_uri

    def pointed(link: re.Match[str]) -> str:
        path = outside(here, link[1])
        if path is None:
            return link[0]
        place = posixpath.relpath(_place(path), posixpath.dirname(here) or ".")
        return f"]({place}{link[2] or ''})"

    return LINK.sub(pointed, markdown)


def outside(page: str, target: str) -> str | None:
    """The path from the root of the repository, if a link of a page leads out of this folder.

    >>> outside("guide/explain.md", "../../src/metabo/loop.py")
    'src/metabo/loop.py'
    >>> outside("guide/explain.md", "../images/step.png") is None
    True
    """
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return None if path.startswith(("docs/", "../")) else path


def _linked(files: Files) -> Iterator[str]:
    for file in files.documentation_pages():
        for link in LINK.finditer(file.content_string):
            path = outside(file.src_uri, link[1])
            if path is not None and (ROOT / path).is_file():
                yield path


def _place(path: str) -> str:
    is_picture = Path(path).suffix in (".png", ".svg")
    return f"repository/{path}" if is_picture else f"repository/{path}.md"


def _published(config: MkDocsConfig, path: str) -> File:
    source, place = ROOT / path, _place(path)
    level = InclusionLevel.NOT_IN_NAV
    if not place.endswith(".md"):
        return File.generated(config, place, abs_src_path=str(source), inclusion=level)
    text = source.read_text()
    if source.suffix == ".md":
        text = _pointed_back(path, text)
    else:
        # A longer fence than any in the file, because docstrings may hold fences of their own.
        text = f"# {path}\n\n`````{source.suffix[1:]}\n{text}\n`````\n"
        text = text.replace("`````py\n", "`````python\n", 1)
    return File.generated(config, place, content=text, inclusion=level)


def _pointed_back(path: str, text: str) -> str:
    """Point links of a page outside this folder at pages of the site; others become words."""
    here = posixpath.dirname(_place(path))

    def pointed(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[2]))
        if not target.startswith("docs/"):
            return link[1]
        place = posixpath.relpath(target.removeprefix("docs/"), here)
        return f"[{link[1]}]({place}{link[3] or ''})"

    return WORDS.sub(pointed, text)
