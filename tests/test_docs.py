"""The documentation: its code runs, its commands exist, its pages and links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import typer

import metabo
from metabo.cli import app
from metabo.paper.catalogue import EXPERIMENTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NOTEBOOK = [page for page in PAGES if page.parent.name == "notebook"]
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
# Written while the site is built (`docs/generated_pages.py`).
GENERATED = (
    "reference/cli.md",
    "reference/artifacts.md",
    "reference/changelog.md",
    "paper/figures.md",
)

# A block after a comment `<!-- not run: why -->` is not run, and a page with a comment
# `<!-- needs: module -->` only where that extra is installed.
BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n)?```python\n(.*?)```", re.DOTALL)
NEEDS = re.compile(r"<!-- needs: ([\w.]+) -->")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[\w-]+)?\)")


def blocks(page):
    return [code for skipped, code in BLOCK.findall(page.read_text()) if not skipped]


def name(page):
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def with_code():
    return [pytest.param(page, id=name(page)) for page in TEXTS if blocks(page)]


@pytest.mark.slow
@pytest.mark.usefixtures("restored_levels")
@pytest.mark.parametrize("page", with_code())
def test_the_code_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, unchecked):
    for module in NEEDS.findall(page.read_text()):
        pytest.importorskip(module, reason=f"{page.name} needs {module}")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code in blocks(page):
        exec(compile(code, str(page), "exec"), names)


def test_blocks_are_left_out_by_a_comment_with_a_reason(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\na\n```\n\n<!-- not run: slow -->\n```python\nb\n```\n")
    assert blocks(page) == ["a\n"]


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_command_and_option_that_a_page_shows_exists(page):
    commands = typer.main.get_command(app).commands
    for line in re.findall(
        r"^(?:\$ )?metabo ([a-z].*)$|`metabo ([a-z][^`]*)`", page.read_text(), re.M
    ):
        name, *words = shlex.split((line[0] or line[1]).replace("\n", " "), comments=True)
        assert name in commands, f"metabo {name}"
        known = {o for p in commands[name].params for o in (*p.opts, *p.secondary_opts)}
        for word in " ".join(words).replace("[", " ").replace("]", " ").split():
            if word.startswith("--"):
                assert word in (*known, "--help"), f"metabo {name} {word}"


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_link_leads_to_a_file(page):
    generated = [DOCS / place for place in GENERATED]
    for target, _ in LINK.findall(page.read_text()):
        path = (page.parent / target).resolve()
        assert not target or path.exists() or path in generated, target


def test_the_site_has_every_page_once():
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1].split("\ntheme:")[0]
    listed = re.findall(r"[:-] ([\w/-]+\.md)$", nav, re.M)
    assert sorted(listed) == sorted([f"{name(page)}.md" for page in PAGES] + list(GENERATED))


def test_the_notebook_lists_every_page_and_every_page_is_dated():
    pages = [page.name for page in NOTEBOOK if page.stem != "index"]
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "notebook/index.md").read_text())
    assert sorted(listed) == pages
    for page in pages:
        date = re.match(r"(\d{4}-\d\d-\d\d)-", page)
        assert date, page
        assert (DOCS / "notebook" / page).read_text().startswith(f"# {date[1]}: ")


def test_numbers_in_the_notebook_are_frozen():
    assert [page.name for page in NOTEBOOK if "<!-- number" in page.read_text()] == []


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.parent.name in ("guide", "concepts")], ids=name
)
def test_a_page_that_explains_is_read_in_one_sitting(page):
    assert page.stat().st_size <= 9 * 1024, "move what was tried to docs/notebook"


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference/api.md").read_text()
    listed = re.findall(r"^::: metabo\.(\w+)$", text, re.M)
    assert sorted(listed) == sorted(set(metabo.__all__) - {"__version__"})


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_asks_the_network_for_nothing(tmp_path):
    build = pytest.importorskip("mkdocs.commands.build", reason="`make docs` installs mkdocs")
    from mkdocs.config import load_config

    build.build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > len(PAGES)
    for page in pages:
        found = re.findall(
            r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?:[^ >]+", page.read_text()
        )
        assert found == []
    commands = typer.main.get_command(app).commands
    reference = (tmp_path / "reference/cli.html").read_text()
    assert [name for name in commands if f'<h2 id="{name}"' not in reference] == []
    figures = (tmp_path / "paper/figures.html").read_text()
    drawn = re.findall(r'<img alt="[^"]+" src="\.\./([^"]+)"', figures)
    assert sorted(Path(src).stem for src in drawn) == sorted(EXPERIMENTS)
    assert all((tmp_path / src).is_file() for src in drawn)
    # Opened from the disk the site cannot fetch its index: it is a script, too.
    assert (tmp_path / "search/search_index.js").read_text().startswith("var __index = {")
