"""Strategies for random spaces, as plain data, and for values in them.

Plain data, because the run-time type checks of the suite draw random numbers, which a strategy
must not.
"""

from hypothesis import strategies as st

names = st.text("abcxyz_", min_size=1, max_size=5)
plain = st.one_of(
    st.text(max_size=4), st.integers(-5, 5), st.booleans(), st.none(), st.floats(-2, 2)
)


@st.composite
def floats(draw):
    is_log = draw(st.booleans())
    if is_log:
        low = 10 ** draw(st.floats(-12, 6))
        high = low * 10 ** draw(st.floats(0.1, 9))
    else:
        low = draw(st.floats(-1e6, 1e6))
        high = low + 10 ** draw(st.floats(-2, 6))
    return {"type": "float", "low": low, "high": high, "log": is_log}


@st.composite
def ints(draw):
    is_log = draw(st.booleans())
    low = draw(st.integers(1, 10**6)) if is_log else draw(st.integers(-(10**6), 10**6))
    high = low + draw(st.integers(1, 10**6))
    return {"type": "int", "low": low, "high": high, "log": is_log}


def _different(values):
    return len({(isinstance(v, bool), v) for v in values}) == len(values)


choices = (
    st.lists(plain, min_size=2, max_size=5)
    .filter(_different)
    .map(lambda values: {"type": "choice", "values": values})
)
spaces = st.dictionaries(names, st.one_of(floats(), ints(), choices), min_size=1, max_size=4)
"""As `metabo.space.schema` writes them."""


def values_of(space):
    """Values inside the space, its bounds among them."""

    def of(one):
        if one["type"] == "choice":
            return st.sampled_from(one["values"])
        return (st.integers if one["type"] == "int" else st.floats)(one["low"], one["high"])

    return st.fixed_dictionaries({name: of(one) for name, one in space.items()})
