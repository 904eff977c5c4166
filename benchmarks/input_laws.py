"""The laws that hold for whatever metabo accepts, checked on random input.

Each check makes one case from a `random.Random`, with files in a folder where it needs any. It
returns if the laws hold, raises `BrokenLawError` if one does not, and lets `MetaBOError` through.
"""

import json
import math
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import torch
from random_inputs import (
    anything,
    csv_text,
    damaged,
    number,
    parameter,
    plain_json,
    sensible,
    table_json,
    text,
)

import metabo
from metabo.cli.assignments import read_words, written
from metabo.errors import MetaBOError
from metabo.inputs import read_json
from metabo.optimizer import Optimizer
from metabo.options import parse
from metabo.space import Choice, Float, Int, Parameter, Space
from metabo.space.schema import from_json, to_json
from metabo.tasks import FAMILIES
from metabo.tasks.tabular import read_table, tabular

LONGEST_MESSAGE = 1000
_MADE = {"float": Float, "int": Int, "choice": Choice}
_CHEAP = [name for name in FAMILIES if not name.startswith(("furuta", "svm", "adaboost"))]


class BrokenLawError(Exception):
    """A result that should not be."""


def law(claim: str, is_true: bool) -> None:
    """Raise unless a claim is true."""
    if not is_true:
        raise BrokenLawError(claim)


@contextmanager
def refusal() -> Iterator[None]:
    """What is done inside may be refused, in one short line."""
    try:
        yield
    except MetaBOError as error:
        check_message(error)


def made(record: dict[str, Any]) -> Parameter:
    """The parameter with these arguments."""
    arguments = {key: value for key, value in record.items() if key != "type"}
    return _MADE[record["type"]](**arguments)


def check_parameter(r: Random, folder: Path) -> None:
    """Values go to the cube and back."""
    one = made(parameter(r))
    law("equal to itself", one == one and hash(one) == hash(one))
    for _ in range(4):
        point = torch.rand(one.n_coordinates, dtype=torch.float64)
        point = torch.tensor([r.choice((0.0, 1.0, r.random())) for _ in point]).double()
        value = one.decode(point)
        law("clean", one.clean(value) == value and type(one.clean(value)) is type(value))
        coordinates = one.encode(value)
        law("in the cube", all(0 <= c <= 1 for c in coordinates))
        again = one.decode(torch.tensor(coordinates, dtype=torch.float64))
        law(f"the same: {value} {again}", same(one, value, again))
        projected = one.project(point)
        law("in the cube when projected", bool(((projected >= 0) & (projected <= 1)).all()))
        law("projected as encoded", same(one, value, one.decode(projected)))
    with refusal():
        cleaned = one.clean(anything(r))
        law("in the cube", all(0 <= c <= 1 for c in one.encode(cleaned)))


def same(one: Parameter, value: object, again: object) -> bool:
    """Whether a value survived; a float may differ in its last digits, on its scale."""
    if not isinstance(one, Float):
        return value == again and type(value) is type(again)
    assert isinstance(value, float)
    assert isinstance(again, float)
    if not math.isfinite(again):
        return False
    if one.log:
        return abs(math.log(value) - math.log(again)) <= 1e-12 * max(1, abs(math.log(value)))
    return abs(value - again) <= 1e-12 * max(abs(one.low), abs(one.high))


def a_space(r: Random, *, odd: float) -> Space:
    """A space whose parts are odd now and then."""
    names = [text(r) if r.random() < odd else f"p{i}" for i in range(r.randint(1, 4))]
    return Space({name: made(parameter(r) if r.random() < odd else sensible(r)) for name in names})


def check_space(r: Random, folder: Path) -> None:
    """A space goes to JSON and back, and points to values and back."""
    space = a_space(r, odd=0.2)
    again = from_json(json.loads(json.dumps(to_json(space), allow_nan=False)))
    law("the same after JSON", again == space)
    point = torch.tensor([r.random() for _ in range(space.dim)], dtype=torch.float64)
    values = space.decode(point)
    law("clean", space.clean(values) == values)
    encoded = space.encode(values)
    law("in the cube", bool(((encoded >= 0) & (encoded <= 1)).all()))
    odd = dict(values)
    odd[r.choice([*odd, text(r)])] = anything(r)  # type: ignore[assignment]
    given = r.choice((odd, anything(r)))
    with refusal():
        cleaned = space.clean(given)  # type: ignore[arg-type]
        law("in the cube", bool(space.encode(cleaned).isfinite().all()))


def check_words(r: Random, folder: Path) -> None:
    """What a command prints can be given to another."""
    space = a_space(r, odd=0.15)
    values = space.decode(torch.tensor([r.random() for _ in range(space.dim)]).double())
    line = written(values, space)
    law("the shell takes it", "\0" not in line and bool(line.encode()))
    params, value = read_words(shlex.split(line), space)
    law("nothing is lost", space.clean(params) == values and value is None)
    words = [text(r) for _ in range(r.randint(1, 3))]
    words += [f"{r.choice((*values, 'value'))}={text(r)}" for _ in range(r.randint(0, 3))]
    with refusal():
        params, value = read_words(words, space)
        law("a finite value", value is None or math.isfinite(value))
        space.clean(params)


def check_options(r: Random, folder: Path) -> None:
    """A family has what its options say, or says what is wrong with them."""
    name = r.choice(_CHEAP) if r.random() < 0.9 else text(r)
    keys = ("noise", "sources", "noise", "sources", "translation", "scale", "dim", text(r))
    parts = []
    for key in r.sample(keys, r.randint(0, 2)):
        value = r.choice(
            (text(r), "0.1", "5", "3", "0.1..0.2", "nan..1", "1e999", f"{r.random()}", "9" * 400)
        )
        parts.append(f"{key}={value}")
    if r.random() < 0.02:
        parts += [f"o{i}=1" for i in range(3000)]
    given = ":".join((name, *parts))
    parse(given)
    options = {r.choice(keys): anything(r)} if r.random() < 0.2 else {}
    family = metabo.family(given, **options) if name != "table" else metabo.family("branin")
    law("noise", 0 <= family.noise <= 1e6)
    law("prior", bool(family.prior.lengthscale.isfinite().all()))


def check_tasks(r: Random, folder: Path) -> None:
    """Tasks from a file are functions with finite values."""
    family = metabo.family(r.choice(("branin", "hartmann-3", "rhino-1", "rhino-2")))
    drawn = {p.name: p for p in family.box.parameters}  # type: ignore[attr-defined]
    record: dict[str, object] = {}
    for name, one in drawn.items():
        values = [r.uniform(one.low, one.high) for _ in range(one.size or 1)]
        record[name] = values if one.size else values[0]
        if r.random() < 0.3:
            record[name] = r.choice((anything(r), [number(r)] * (one.size or 1), plain_json(r)))
    if r.random() < 0.1:
        record[text(r)] = 1
    records: list[object] = [record] * r.choice((1, 1, 2))
    if r.random() < 0.1:
        records = r.choice(([], [record, anything(r)]))
    tasks = family.read(records)  # type: ignore[arg-type]
    x = torch.rand(len(records), 3, family.domain.dim, dtype=torch.float64)
    law("finite values", bool(tasks(x).isfinite().all()))


def readable(value: object) -> object:
    """The value, but for numbers that Python does not write."""
    if isinstance(value, list | tuple):
        return [readable(one) for one in value]
    return "9" * 5000 if isinstance(value, int) and value.bit_length() > 10_000 else value


def check_json(r: Random, folder: Path) -> None:
    """A file of a space is read, or named."""
    path = folder / "space.json"
    record = {text(r): parameter(r) for _ in range(r.randint(0, 3))}
    record = {name: {k: readable(v) for k, v in one.items()} for name, one in record.items()}
    whole = damaged(r, json.dumps(record, default=lambda _: r.choice((None, "x", math.nan))))
    path.write_bytes(whole.encode("utf-8", r.choice(("surrogatepass", "backslashreplace"))))
    law("a space", from_json(read_json(path, "space")).dim > 0)


def check_table(r: Random, folder: Path) -> None:
    """A table has points in the cube, and finite or missing results."""
    where = Path(tempfile.mkdtemp(dir=folder))
    mode = "surrogatepass"
    width = r.randint(1, 3)
    for index in range(r.choice((1, 1, 2))):
        (where / f"{index}.csv").write_bytes(csv_text(r, width).encode("utf-8", mode))
    if r.random() < 0.5:
        (where / "table.json").write_bytes(table_json(r).encode("utf-8", mode))
    if r.random() < 0.1:
        special(r, where, r.choice(("2.csv", "table.json", "x")))
    table = read_table(where)
    family = tabular("t", where)()
    law("in the cube", bool(((table.points >= 0) & (table.points <= 1)).all()))
    law("finite or missing", not bool(table.measured.isinf().any()))
    names = list(table.space.parameters)
    for row in table.configurations:
        values = dict(zip(names, row, strict=True))
        law("clean", table.space.clean(values) == values)
    law("a budget", 1 <= family.budget <= max(len(table.configurations), 1))


def special(r: Random, folder: Path, name: str) -> Path:
    """Something that is no plain file."""
    path = folder / name
    path.unlink(missing_ok=True)
    kind = r.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.symlink_to(r.choice(("nowhere", name, "/dev/zero", "/proc/self/mem")))
    elif kind == 2:
        path.mkdir()
    elif kind == 3:
        path.write_bytes(bytes(r.randrange(256) for _ in range(40)))
    else:
        path.write_text("")
    return path


def check_path(r: Random, folder: Path) -> None:
    """What is no file or folder is refused at once."""
    where = Path(tempfile.mkdtemp(dir=folder))
    path = special(r, where, "x.json")
    odd = r.choice((str(path), f"~{text(r)}", text(r), "n" * 5000, "/dev/zero", str(where), "/"))
    if r.random() < 0.5:
        read_json(Path(odd), "space")
    elif odd not in ("/", ".", "", " "):
        read_table(odd)


def check_run(r: Random, folder: Path) -> None:
    """A run proposes what lies in its space, and keeps what it is told."""
    space = a_space(r, odd=0.03)
    rare = r.random()
    af = None if rare < 0.02 else "logei" if rare < 0.04 else "ei" if rare < 0.3 else "random"
    is_costly = space.dim > 30
    budget: Any = r.randint(1, 8) if r.random() < 0.95 else anything(r)
    seed: Any = r.randint(-5, 5) if r.random() < 0.95 else number(r)
    chosen: Any = "random" if is_costly else af
    if r.random() < 0.03:
        chosen = r.choice((text(r), anything(r), f"ucb:beta={text(r)}", Path(text(r))))
    direction: Any = r.choice((None, "minimize", "maximize"))
    direction = text(r) if r.random() < 0.03 else direction
    run = Optimizer(
        space,
        budget=budget,
        seed=seed,
        direction=direction,
        search=r.choice(("sobol", "sobol", "sobol", "gradient")) if rare < 0.1 else "sobol",
        af=chosen,
    )
    told: list[object] = []
    proposed: list[dict[str, Any]] = []
    for _ in range(min(run.budget, r.randint(1, 6))):
        if run.space.size is not None and len(told) >= run.space.size:
            break
        params = run.ask()
        law("asked twice, the same", run.ask() == params)
        law("inside the space", space.clean(params) == params)
        law("finite", all(math.isfinite(v) for v in params.values() if isinstance(v, float)))
        law("new", space.size is None or params not in proposed or _is_mixed(params, proposed))
        proposed.append(params)
        value = number(r) if r.random() < 0.3 else r.gauss(0, 1)
        try:
            run.tell(params, value)  # type: ignore[arg-type]
        except MetaBOError as error:
            check_message(error)
            run.tell_failure(params)
            value = None
        told.append(None if value is None else float(value))  # type: ignore[arg-type]
        law("told", [one.value for one in run.history] == told)
        law("parameters kept", run.history[-1].params == params)
        law("in the cube", all(0 <= c <= 1 for c in run.history[-1].x))
        if r.random() < 0.1:
            with refusal():
                n: Any = r.choice((1, 2, anything(r)))
                pending: Any = r.choice(([params], [], [anything(r)]))
                for one in run.ask_batch(n, pending=pending):
                    law("inside the space", space.clean(one) == one)
        if r.random() < 0.2:
            odd = dict(params)
            odd[r.choice([*odd, text(r)])] = anything(r)  # type: ignore[assignment]
            with refusal():
                run.tell(odd, 0.0)
                told.append(0.0)
                proposed.append(space.clean(odd))
            law("told", [one.value for one in run.history] == told)
        if run.remaining == 0:
            break


def _is_mixed(params: object, proposed: list[dict[str, Any]]) -> bool:
    """Whether the equal one is another, since 1 == True in Python."""
    return repr(params) not in map(repr, proposed)


CASES: dict[str, tuple[int, Callable[[Random, Path], None]]] = {
    "parameter": (20, check_parameter),
    "space": (15, check_space),
    "words": (15, check_words),
    "options": (12, check_options),
    "tasks": (6, check_tasks),
    "json": (5, check_json),
    "table": (9, check_table),
    "path": (3, check_path),
    "run": (15, check_run),
}
"""Kinds of cases: how many in a hundred, and the check."""


def check_message(error: MetaBOError) -> None:
    """Raise unless a message is one line of bounded length."""
    message = str(error)
    law(f"one line: {message[:200]!r}", message.isprintable())
    law(f"short: {message[:200]!r}", 0 < len(message) < LONGEST_MESSAGE)
