"""Which families are known by name, and for how long."""

from threading import Thread

import pytest

import metabo
from metabo.errors import OptionError
from metabo.tasks import FAMILIES, Registry, named, registered


def hill(x, p):
    return -(x - p["place"][:, None, None]).square().sum(-1)


@pytest.fixture(scope="module")
def hills():
    return metabo.function_family("hills", hill, dim=1, parameters={"place": (0.2, 0.8)})


def test_the_built_in_families_cannot_be_changed(hills):
    with pytest.raises(TypeError, match="does not support item assignment"):
        FAMILIES["hills"] = lambda: hills
    metabo.register(hills)
    assert "hills" not in FAMILIES


@pytest.mark.parametrize("_", ["first", "second"])
def test_what_one_test_registers_does_not_reach_another(hills, _):
    with pytest.raises(OptionError, match="Unknown family `hills`"):
        metabo.family("hills")
    metabo.register(hills)
    assert metabo.family("hills:noise=0.5").noise == 0.5


def test_a_family_is_known_inside_its_block_only(hills):
    with registered(hills):
        assert metabo.family("hills", sources=3).n_sources == 3
        inner = metabo.function_family("inner", hill, dim=1, parameters={"place": (0.2, 0.8)})
        metabo.register(inner)
        assert metabo.family("inner").name == "inner"
    for name in ("hills", "inner"):
        with pytest.raises(OptionError, match=f"Unknown family `{name}`"):
            metabo.family(name)


def test_a_block_ends_for_its_families_after_an_error_too(hills):
    with pytest.raises(ZeroDivisionError, match="division"), registered(hills):
        _ = 1 / 0
    with pytest.raises(OptionError, match="Unknown family `hills`"):
        metabo.family("hills")


def test_other_threads_do_not_see_the_families_of_a_block(hills):
    seen = []

    def look():
        try:
            seen.append(metabo.family("hills").name)
        except OptionError as error:
            seen.append(str(error))

    with registered(hills):
        thread = Thread(target=look)
        thread.start()
        thread.join()
    assert seen[0].startswith("Unknown family `hills`")


def test_a_copy_of_a_registry_grows_by_itself(hills):
    first = Registry()
    second = first.copy()
    second.add(hills)
    assert "hills" in second.builders
    assert "hills" not in first.builders
    with pytest.raises(OptionError, match="A family `hills` already exists"):
        second.add(hills)


def test_a_family_can_be_given_itself_or_by_name(hills):
    assert named(hills) == ("hills", hills)
    assert named("branin:noise=0.1")[0] == "branin:noise=0.1"


@pytest.mark.usefixtures("unchecked")
def test_what_is_no_family_is_named():
    with pytest.raises(OptionError, match=r"`family` must be a name, .* but got 3"):
        named(3)
