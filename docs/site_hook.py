"""What the website needs of the repository beside the pages in this folder.

Pages link to sources, examples and stored pictures as `../src/...`, which works wherever the
repository is browsed. On the site each such file becomes a page, or an image, of its own.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"\]\(\.\./([\w./=-]+)(#[\w-]+)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the changelog, and every file of the repository that a page links to."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    files.append(File.generated(config, "changelog.md", content=changelog))
    for path in sorted(set(_linked(files))):
        files.append(_published(config, path))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links of a page at what was added."""
    if "/" in page.file.src_uri:  # such as the notebook's, whose `../` leads to other pages
        return markdown
    return _LINK.sub(lambda link: f"]({_place(link[1])}{link[2] or ''})", markdown)


def _linked(files: Files) -> Iterator[str]:
    for file in files.documentation_pages():
        if "/" in file.src_uri:
            continue
        for link in _LINK.finditer(file.content_string):
            if (ROOT / link[1]).is_file():
                yield link[1]


def _place(path: str) -> str:
    is_picture = Path(path).suffix in (".png", ".svg")
    return f"repository/{path}" if is_picture else f"repository/{path}.md"


def _published(config: MkDocsConfig, path: str) -> File:
    source, place = ROOT / path, _place(path)
    level = InclusionLevel.NOT_IN_NAV
    if not place.endswith(".md"):
        return File.generated(config, place, abs_src_path=str(source), inclusion=level)
    text = source.read_text()
    if source.suffix != ".md":
        # A longer fence than any in the file, because docstrings may hold fences of their own.
        text = f"# {path}\n\n`````{source.suffix[1:]}\n{text}\n`````\n"
        text = text.replace("`````py\n", "`````python\n", 1)
    return File.generated(config, place, content=text, inclusion=level)
