"""What the docs show runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(page, heading=""):
    """The Python of a page, or of what follows a heading in it."""
    text = (ROOT / page).read_text()
    after = text[text.index(heading) :]
    section = after if not heading else re.split(r"\n#+ ", after)[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@pytest.mark.parametrize(
    ("page", "heading", "n"), [("docs/ask-tell.md", "", 5), ("README.md", "### Ask and tell", 1)]
)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page, heading, n, tmp_path, monkeypatch, unchecked, capsys
):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    found = blocks(page, heading)
    assert len(found) == n
    for block in found:
        exec(compile(block, page, "exec"), namespace)
    assert capsys.readouterr().out
    assert (tmp_path / "run.jsonl").exists()
