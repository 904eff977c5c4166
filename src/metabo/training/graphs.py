"""CUDA graphs: a function of tensors is recorded once and then replayed as a single launch.

A rollout consists of thousands of small kernels, and launching them one by one from Python takes
ten times as long as running them. Such a function must not read values from the device, and must
change no tensors except those declared as its state.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Generic, ParamSpec, TypeVar

import torch
from torch import Tensor

from metabo.errors import OptionError

P = ParamSpec("P")
R = TypeVar("R")


class Replayed(Generic[P, R]):
    """A function that is recorded at its first call with arguments of a new form.

    Arguments are trees: tensors, dataclasses and tuples of trees, and plain values. Calls have the
    same form if their tensors have the same shapes and their plain values are equal; tensors may
    be on any device. The next call of any form overwrites what a call returned.
    """

    def __init__(self, function: Callable[P, R], state: Sequence[Tensor] = ()) -> None:
        self.function = function
        self.state = state
        """Tensors that the function changes; they are restored after the warm-up run."""
        self._recordings: dict[object, _Recording[R]] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function on these arguments."""
        given = (args, tuple(kwargs.items()))
        form = _form(given)
        if form not in self._recordings:
            self._recordings[form] = self._record(_on_device(given))
        recording = self._recordings[form]
        for mine, theirs in zip(recording.inputs, _tensors(given), strict=True):
            mine.copy_(theirs)
        recording.graph.replay()
        return recording.result

    def _record(self, given: Any) -> "_Recording[R]":
        before = [tensor.detach().clone() for tensor in self.state]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # a warm-up run initializes libraries and fills caches
            self._call(rebuilt(given))
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.empty_cache()  # the recording has its own pool and cannot reuse this memory
        graph = torch.cuda.CUDAGraph()
        try:
            with _no_garbage_collected(), torch.cuda.graph(graph, pool=self._pool):
                result = self._call(rebuilt(given))
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise OptionError(
                f"Training cannot be recorded as a CUDA graph: {reason} Tasks must not read "
                "values from the device or copy any to it. Alternatively, train with "
                "`record=False`, which is slower."
            ) from None
        with torch.no_grad():
            for tensor, value in zip(self.state, before, strict=True):
                tensor.copy_(value)
        return _Recording(graph, list(_tensors(given)), result)

    def _call(self, given: Any) -> R:
        return self.function(*given[0], **dict(given[1]))


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Pause garbage collection: it could free a recording while another one is being made."""
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class _Recording(Generic[R]):
    graph: torch.cuda.CUDAGraph
    inputs: list[Tensor]
    result: R


def _tensors(tree: Any) -> Iterator[Tensor]:
    """Yield the tensors of a tree, in order."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, tuple):
        for part in tree:
            yield from _tensors(part)
    elif is_dataclass(tree):
        for field in fields(tree):
            yield from _tensors(getattr(tree, field.name))


def _form(tree: Any) -> object:
    """Return a hashable description of a tree without the values of its tensors."""
    if isinstance(tree, Tensor):
        return tree.shape, tree.dtype
    if isinstance(tree, tuple):
        return tuple(_form(part) for part in tree)
    if is_dataclass(tree):
        return type(tree), tuple(_form(getattr(tree, field.name)) for field in fields(tree))
    return tree


def rebuilt(tree: Any, change: Callable[[Tensor], Tensor] = lambda tensor: tensor) -> Any:
    """Return a tree of new dataclasses with the same or changed tensors.

    New dataclasses have no cached properties. Otherwise the recording would treat a property that
    the warm-up run had filled as a constant, whatever tasks are copied in later.
    """
    if isinstance(tree, Tensor):
        return change(tree)
    if isinstance(tree, tuple):
        return tuple(rebuilt(part, change) for part in tree)
    if is_dataclass(tree) and not isinstance(tree, type):
        parts = {f.name: rebuilt(getattr(tree, f.name), change) for f in fields(tree)}
        return replace(tree, **parts)
    return tree


def _on_device(tree: Any) -> Any:
    """Copy a tree with its tensors to the current CUDA device."""
    return rebuilt(tree, lambda tensor: tensor.detach().to("cuda", copy=True))
