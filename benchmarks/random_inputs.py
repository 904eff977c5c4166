"""Random things a user might give, from sensible to absurd: a function of a `random.Random`."""

import json
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy
import torch

Draw = Callable[[], object]

NUMBERS: tuple[object, ...] = (
    *(0, -0.0, 1, -1, 0.5, 2, 3, 10, 100, 1000, 5e-324, -5e-324, 2.2250738585072014e-308),
    *(sys.float_info.max, -sys.float_info.max, 1e300, -1e300, 1e16, 1e16 + 2),
    *(math.inf, -math.inf, math.nan, 2**40, 2**40 + 1, 2**50, -(2**50), 2**50 + 1, 2**53 + 1),
    *(2**63, 10**18, 10**308, 10**400, -(10**400), 10**5000, 1 + 2**-52),
    *(True, False, None, 1j, Fraction(1, 3), Fraction(4, 1), Decimal("0.1"), Decimal("NaN")),
    *(numpy.float32(0.1), numpy.float64(2.5), numpy.int64(3), numpy.bool_(True)),
    *(numpy.longdouble(1) / 3, numpy.float16(6e4), numpy.uint64(2**63), numpy.nan),
)
TEXTS = (
    *(
        "",
        " ",
        "a",
        "b",
        "x",
        "rate",
        "value",
        "dataset",
        "a=b",
        "=",
        "a b",
        "--failed",
        "-x",
        "'",
    ),
    *('"', "\\", "$(x)", "`x`", "*", "\n", "\t", "\0", "a\0b", "\ud800", "\udcff", "\u202e", "é"),
    *("1", "1.0", "true", "null", "nan", "NaN", "inf", "1e999", "0x10", "1_000", "[1]", "{}", "#"),
    *("\N{GRINNING FACE}", "\u00a0", "n" * 100, "n" * 1000, "n" * 5000, "{x}", "%s", "[/red]"),
)


def number(r: Random) -> object:
    """A number, or what could be taken for one."""
    if r.random() < 0.4:
        return r.choice(NUMBERS)
    if r.random() < 0.3:
        return r.randint(-(10 ** r.randint(0, 20)), 10 ** r.randint(0, 20))
    return r.choice((-1, 1)) * r.random() * 10.0 ** r.randint(-320, 308)


def text(r: Random) -> str:
    """A name or a word."""
    if r.random() < 0.5:
        return r.choice(TEXTS)
    letters = "abxyz_=: \"'\\/.,;\n\0é\ud8001e-+[]{}~"
    return "".join(r.choice(letters) for _ in range(r.randint(0, 12)))


def anything(r: Random) -> object:
    """A value of any type."""
    made = r.randrange(8)
    if made < 3:
        return number(r)
    if made < 5:
        return text(r)
    if made == 5:
        return r.choice(([], {}, (), [1], [[1]], {"a": 1}, b"x", object(), {1, 2}, range(3)))
    if made == 6:
        return r.choice(
            (torch.tensor(0.5), torch.zeros(2), numpy.zeros(2), numpy.array(3), Ellipsis)
        )
    return numpy.datetime64("2020-01-01") if r.random() < 0.1 else number(r)


def sensible(r: Random) -> dict[str, object]:
    """The arguments of a parameter that is surely right, with its kind as `type`."""
    kind = r.choice(("float", "int", "choice"))
    if kind == "choice":
        pool: list[object] = ["a", "b", "c", "", " ", "1", 1, 2.5, True, None, "x=y", "é", "\n"]
        return {"type": kind, "values": r.sample(pool, r.randint(2, 5))}
    log = r.random() < 0.4
    if kind == "float":
        low = 10.0 ** r.uniform(-12, 6) if log else r.uniform(-1e6, 1e6)
        high = low * 10 ** r.uniform(0.1, 9) if log else low + 10 ** r.uniform(-2, 6)
        return {"type": kind, "low": low, "high": high, "log": log}
    low = r.randint(1, 10**6) if log else r.randint(-(10**6), 10**6)
    return {
        "type": kind,
        "low": low,
        "high": low + r.randint(1, 10 ** r.randint(1, 6)),
        "log": log,
    }


def parameter(r: Random) -> dict[str, Any]:
    """The arguments of a parameter, sensible or not."""
    made: dict[str, Any] = sensible(r)
    for _ in range(r.choice((0, 1, 1, 2))):
        if made["type"] == "choice":
            known = made["values"] if isinstance(made["values"], list | tuple) else ()
            values = [*known, *(anything(r) for _ in range(r.randint(0, 3)))]
            if r.random() < 0.02:
                values = list(range(r.choice((300, 4000, 6000))))
            made["values"] = r.choice((values, tuple(values), values[:1], anything(r), values))
        else:
            key = r.choice(("low", "high", "low", "high", "log"))
            made[key] = number(r) if key != "log" or r.random() < 0.5 else anything(r)
    return made


def csv_text(r: Random, width: int) -> str:
    """The `table.json` of a table with `n` parameters, perhaps with mistakes."""
    separator = ";" if r.random() < 0.02 else ","
    header: list[object] = ["dataset", *(f"p{i}" for i in range(width)), "value"]
    plain: list[Draw] = [
        lambda: round(r.uniform(0, 1), 3),
        lambda: r.randint(0, 9),
        lambda: r.choice("uvw"),
    ]
    kinds = [r.choice(plain) for _ in range(width)]
    rows: list[list[object]] = []
    for n in range(r.randint(4, 8)):
        rows.append(["ab"[n % 2], *(kind() for kind in kinds), r.gauss(0, 1)])
    for _ in range(r.choice((0, 0, 0, 1))):
        line: list[Any] = r.choice([header, *rows])
        odd = r.choice((text(r), repr_of(number(r)), "9" * 400, "1e999", "0x10", "1_000", ""))
        if r.random() < 0.9:
            line[r.randrange(len(line))] = odd
        else:
            line.append(odd)
    lines = [separator.join(str(cell) for cell in row) for row in (header, *rows)]
    return r.choice(("\n", "\n", "\r\n", "\r")).join(lines) + r.choice(("\n", ""))


def table_json(r: Random) -> str:
    """Settings of a table that may have mistakes."""
    keys = ("value", "dataset", "direction", "budget", "test", "together", "ignore", "parameters")
    good: dict[str, list[object]] = {
        "value": ["value"],
        "dataset": ["dataset"],
        "direction": ["minimize", "maximize"],
        "budget": [1, 2, 3],
        "test": [["a"], []],
        "together": [[["a", "b"]], []],
        "ignore": [[], ["p0"]],
        "parameters": [{}, {"p0": {"type": "float"}}, {"p0": {"low": -5, "high": 50}}],
    }
    record: dict[str, object] = {}
    for key in r.sample(keys, r.randint(0, 3)):
        record[key] = r.choice(good[key])
        if r.random() < 0.15:
            record[key] = r.choice((plain_json(r), [plain_json(r)], {"p0": plain_json(r)}))
        if key == "parameters" and r.random() < 0.3:
            end = r.choice(("low", "high", "log", "type", "values"))
            record[key] = {"p0": {end: plain_json(r)}}
    return damaged(r, json.dumps(record))


def plain_json(r: Random) -> object:
    """Something that JSON can hold, but for the largest numbers."""
    return r.choice((text(r), r.randint(-3, 3), 10**400, math.nan, -math.inf, None, True, [], {}))


def damaged(r: Random, whole: str) -> str:
    """A text with a piece missing, doubled or replaced, now and then."""
    if r.random() < 0.8 or not whole:
        return whole
    at, to = sorted((r.randrange(len(whole)), r.randrange(len(whole))))
    return (
        whole[:at] + r.choice(("", text(r), whole[at:to] * 2, "[" * 5000, "9" * 5000)) + whole[to:]
    )


def repr_of(value: object) -> str:
    """The value as text; that of a number of 5,000 digits is an error in Python."""
    try:
        return repr(value)
    except ValueError:
        return "9" * 5000
