"""Docstrings: public names are documented, examples run, and no sentence is a riddle."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import metabo

ROOT = Path(metabo.__file__).parent

# Extras that a module may need: without them its examples are skipped.
EXTRAS = {
    "metabo.integrations.ax": "ax",
    "metabo.integrations.botorch": "botorch",
    "metabo.integrations.optuna": "optuna",
}

PACKAGES = (
    "metabo",
    "metabo.acquisition",
    "metabo.evaluation",
    "metabo.explain",
    "metabo.gp",
    "metabo.journal",
    "metabo.optimizer",
    "metabo.policies",
    "metabo.pretrained",
    "metabo.space",
    "metabo.tasks",
    "metabo.training",
)

# Beginnings that make sense only after the name of the field.
RIDDLES = re.compile(r"Likewise|Ditto|Of |As (for|above|below|there)|The same[,.]|Its |Their ")


def modules():
    """Names of all modules of the package whose source has an example."""
    return [
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(ROOT.rglob("*.py"))
        if ">>> " in path.read_text()
    ]


def public(package):
    """Functions and classes that a package lists as public."""
    found = importlib.import_module(package)
    members = [(name, getattr(found, name)) for name in found.__all__]
    return [
        pytest.param(member, id=f"{package}.{name}")
        for name, member in members
        if inspect.isfunction(member) or inspect.isclass(member)
    ]


def returns(function):
    """Whether a function has something to return."""
    return inspect.signature(function).return_annotation not in (None, "None")


def docstrings(path):
    """Line and text of every docstring in a file, those of fields included."""
    for node in ast.walk(ast.parse(path.read_text())):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield node.lineno, value.value.strip()


@pytest.mark.parametrize("member", [one for package in PACKAGES for one in public(package)])
def test_public_names_have_a_docstring_of_their_own(member):
    own = vars(member).get("__doc__") if inspect.isclass(member) else member.__doc__
    # A dataclass without a docstring shows its signature.
    assert own, "no docstring"
    assert not own.startswith(f"{member.__name__}("), "no docstring"


@pytest.mark.parametrize(
    "function", [one for one in public("metabo") if inspect.isfunction(one.values[0])]
)
def test_public_functions_say_what_they_return_and_show_how_they_are_called(function):
    if returns(function):
        assert "Returns:" in function.__doc__
    assert ">>> " in function.__doc__


@pytest.mark.parametrize(
    "owner", [one for one in public("metabo") if inspect.isclass(one.values[0])]
)
def test_public_classes_show_how_they_are_used(owner):
    if not issubclass(owner, Exception):
        assert ">>> " in owner.__doc__


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch, unchecked):
    for package, extra in EXTRAS.items():
        if name.startswith(package):
            pytest.importorskip(extra, reason=f"{name} needs {extra}")
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=options)
    assert tried, "the examples are in no docstring"
    assert not failed


def test_examples_are_in_the_section_that_the_reference_shows_as_code():
    """Outside of `Examples:` a prompt, `>>>`, would be three levels of quotation."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {text.splitlines()[0]}"
        for path in sorted(ROOT.rglob("*.py"))
        for number, text in docstrings(path)
        if ">>> " in text.split("Examples:\n")[0]
    ]
    assert not wrong, "\n".join(["", *wrong])


def test_no_docstring_is_a_riddle():
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {text.splitlines()[0]}"
        for path in sorted(ROOT.rglob("*.py"))
        for number, text in docstrings(path)
        if RIDDLES.match(text)
    ]
    assert not wrong, "\n".join(["", *wrong])
