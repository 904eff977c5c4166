"""The records of a run, and the state that results from them.

| `kind`   | meaning                                 | fields                             |
| -------- | --------------------------------------- | ---------------------------------- |
| `tell`   | an evaluation has ended                 | `number`, `params`, `x`, and       |
|          |                                         | `value` or `failed`                |
| `ask`    | a point was given out and is under way  | `params`, `x`                      |
| `drop`   | a point that was under way was given up | `of`, the number of its record     |
| `forget` | a result was withdrawn                  | `of`, the number of its record     |
| `extend` | the budget was increased                | `budget`                           |

A `tell` ends the oldest point under way that has the same parameters. No record is ever erased.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from metabo.errors import DataError, MetaBOError, brief, shown
from metabo.journal import Entry
from metabo.optimizer.evaluation import Evaluation, key, require_value
from metabo.rules import MAX_BUDGET, list_of, number, whole
from metabo.space import Space, Value

_NEAR = 1e-6
"""Largest distance between a stored point and the encoding of its parameters. They differ by
rounding, which a large offset or a log scale magnifies."""


@dataclass(frozen=True)
class Line:
    """An evaluation, and the number of its record."""

    n: int
    """The number of the record."""
    evaluation: Evaluation
    """The evaluation; it has no value if it failed or is still under way."""


@dataclass(frozen=True)
class RunState:
    """The state of a run after some of its records."""

    space: Space
    """The parameters of the run."""
    budget: int
    """The number of evaluations in the whole run."""
    told: tuple[Line, ...] = ()
    """All evaluations that were told, including the forgotten ones."""
    forgotten: frozenset[int] = frozenset()
    """Record numbers of the evaluations that no longer count."""
    pending: tuple[Line, ...] = ()
    """Points under way, which have no value yet."""
    n_read: int = 0
    """The number of the last record."""

    @property
    def history(self) -> tuple[Evaluation, ...]:
        """The evaluations that count, in the order in which they were told."""
        if not self.forgotten:
            return tuple(line.evaluation for line in self.told)
        return tuple(one.evaluation for one in self.told if one.n not in self.forgotten)

    def after(self, entry: Entry) -> "RunState":
        """Return the state after one more record.

        Raises:
            DataError: If the record does not fit the run.
        """
        fields, read = dict(entry.record), replace(self, n_read=entry.n)
        kind = fields.pop("kind", "tell")  # the only kind in format 1
        of = fields.get("of") if isinstance(fields.get("of"), int) else None
        if kind == "tell":
            return self.after_tell(entry.n, read_evaluation(fields, self.space))
        if kind == "ask":
            asked = Line(entry.n, read_evaluation(fields | {"failed": True}, self.space))
            return replace(read, pending=(*self.pending, asked))
        if kind == "drop" and any(line.n == of for line in self.pending):
            left = tuple(line for line in self.pending if line.n != of)
            return replace(read, pending=left)
        if kind == "forget" and of in self._numbers():
            return replace(read, forgotten=self.forgotten | {of})
        if kind == "extend":
            budget = fields.get("budget")
            whole(self.budget, MAX_BUDGET).require("budget", budget)
            return replace(read, budget=cast(int, budget))
        raise DataError(
            "Its kind is unknown to this version, or it refers to a line that does not exist: "
            f"{brief(entry.record)}. Install a newer metabo."
        )

    def after_tell(self, n: int, one: Evaluation) -> "RunState":
        """Return the state after an evaluation, whose point is then no longer under way."""
        last = self.told[-1].evaluation.number if self.told else 0
        named = replace(one, number=max(one.number, last + 1))
        index = self.index_pending(one.params)
        pending = self.pending
        if index is not None:
            pending = (*pending[:index], *pending[index + 1 :])
        return replace(self, told=(*self.told, Line(n, named)), pending=pending, n_read=n)

    def index_pending(self, params: Mapping[str, Value]) -> int | None:
        """Find the oldest point under way with these parameters; None if there is none."""
        wanted = key(params)
        keys = [key(line.evaluation.params) for line in self.pending]
        return keys.index(wanted) if wanted in keys else None

    def _numbers(self) -> set[int]:
        return {line.n for line in self.told if line.n not in self.forgotten}


def tell_record(one: Evaluation) -> dict[str, object]:
    """Return the record of an evaluation that has ended."""
    told = {"failed": True} if one.value is None else {"value": one.value}
    return {
        "kind": "tell",
        "number": one.number,
        "params": one.params,
        **told,
        "x": list(one.x),
    }


def ask_record(one: Evaluation) -> dict[str, object]:
    """Return the record of a point that is given out."""
    return {"kind": "ask", "params": one.params, "x": list(one.x)}


def read_evaluation(record: Mapping[str, object], space: Space) -> Evaluation:
    """Read the evaluation of a record, with the same checks as when it is told.

    The record holds its number, because in a repaired journal earlier evaluations may be missing.

    Raises:
        DataError: If a field is missing, unknown or does not fit the space.
    """
    is_failure, of = record.get("failed") is True, record.get("number", 0)
    whole(0, 10 * MAX_BUDGET).require("number", of)
    record = {name: value for name, value in record.items() if name != "number"}
    names = {"params", "x", "failed" if is_failure else "value"}
    if set(record) != names:
        raise DataError(f"It must have {sorted(names)}, but has {sorted(record)}.")
    params, x = record["params"], record["x"]
    cleaned = space.clean(params)  # type: ignore[arg-type]
    value = None if is_failure else require_value(record["value"])
    if not list_of(number(0, 1), "numbers", least=space.dim, most=space.dim).accepts(x):
        raise DataError(f"`x` must be {space.dim} numbers in [0, 1], but got {brief(x)}.")
    x = cast(list[float], x)
    if not is_near(x, encoded(cleaned, space)):
        raise DataError(f"`x` is {brief(x)}, which are not the parameters {brief(cleaned)}.")
    return Evaluation(cleaned, value, tuple(map(float, x)), cast(int, of))


def encoded(params: Mapping[str, Value], space: Space) -> tuple[float, ...]:
    """Encode valid parameters as a point of the unit cube."""
    return tuple(c for name, v in params.items() for c in space.parameters[name].encode(v))


def is_near(x: Sequence[float], point: Sequence[float]) -> bool:
    """Tell whether two points are the same up to the rounding of parameters."""
    return all(abs(a - b) <= _NEAR for a, b in zip(x, point, strict=True))


def replay(state: RunState, entries: Sequence[Entry], path: object) -> RunState:
    """Return the state of a run after all records of a journal.

    Raises:
        DataError: If a record does not fit; the message names its line.
    """
    for entry in entries[state.n_read :]:
        try:
            state = state.after(entry)
        except MetaBOError as error:
            raise DataError(
                f"Line {entry.n + 1} of the journal `{shown(str(path))}` does not belong to its "
                f"run: {error}"
            ) from None
    return state
