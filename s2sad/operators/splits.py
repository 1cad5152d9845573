"""Dask's collections as partitions, and the graph of tasks that goes over them.

One task derives nothing and runs a derived function on a partition; sums of two are tasks, too. The
tree of sums depends on the number of partitions alone, and so does each bit of the result.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import math
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.errors import MismatchError
from s2sad.known.spaces import NUMPY
from s2sad.operators.partitions import (
    Found,
    Work,
    added,
    at_partition,
    aux_of,
    example_of,
    without_aux,
)
from s2sad.operators.pullbacks import Like

_ROWS = 1000  # what a partition of unknown length is taken to have, until one has fewer than two


def library(name: str) -> Any:
    """Return a library that works over partitions need, or say how it is installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(
            f"s2sad.dask needs {name.partition('.')[0]}: pip install 's2sad[dask]'."
        ) from None


@dataclass(frozen=True)
class Split:
    """A collection of Dask's: the keys of its partitions, and what is known of them.

    `graph` has the tasks for them. `like` is an outline of a partition, of which the length is not
    known; None where a partition has to be looked at.
    """

    name: str
    graph: Any
    keys: tuple[Any, ...]
    lengths: tuple[float, ...] | None
    like: Any


def splits(given: Mapping[str, Any]) -> list[Split]:
    """Return the partitions of the arguments that are split, by name; all have equally many."""
    for name, value in given.items():
        _refuse_other(name, value)
    together = _optimised(list(given.values()))
    found = [_split(name, value, together) for name, value in given.items()]
    first = found[0]
    for other in found[1:]:
        _refuse_unequal(first, other)
    if not first.keys:
        raise MismatchError(
            f"{first.name} has no partitions: there is nothing to add up.",
            remedy="Pass at least one partition, which may be empty.",
        )
    return found


def is_collection(value: Any) -> bool:
    """Say whether a value is one of Dask's, or a list of some."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_lazy, value))
    return _is_lazy(value)


def _is_lazy(value: Any) -> bool:
    return bool(library("dask").is_dask_collection(value)) or _is_future(value)


def _is_future(value: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(value, distributed.Future)


def _is_delayed(value: Any) -> bool:
    return isinstance(value, library("dask.delayed").Delayed)


def _of(module: str, cls: str, value: Any) -> bool:
    """Say whether a value is of a class of one of Dask's modules, which need not be loaded."""
    found = sys.modules.get(module)
    return found is not None and isinstance(value, getattr(found, cls))


def _is_frame(value: Any) -> bool:
    utils = library("dask.utils")
    tests = (utils.is_dataframe_like, utils.is_series_like, utils.is_index_like)
    return _is_lazy(value) and any(test(value) for test in tests)


def _refuse_other(name: str, value: Any) -> None:
    if isinstance(value, list | tuple):
        wrong = next((i for i, v in enumerate(value) if not (_is_delayed(v) or _is_future(v))), -1)
        if wrong >= 0:
            raise MismatchError(
                f"{name}[{wrong}] is {_words(value[wrong])}, but over names {name}: a list that "
                "is split holds Dask's delayed values, one for each partition.",
                remedy=f"Pass dask.bag.from_sequence({name}), or delayed values.",
            )
        return
    if _of("dask.array", "Array", value):
        _refuse_chunks(name, value)
    elif not (_of("dask.bag", "Bag", value) or _is_frame(value)):
        remedy = "Pass a dask array, bag or data frame, or a list of delayed values."
        if isinstance(value, np.ndarray):
            remedy = f"Pass dask.array.from_array({name}, chunks=...)."
        elif type(value).__module__.partition(".")[0] == "pandas":
            remedy = f"Pass dask.dataframe.from_pandas({name}, npartitions=...)."
        elif _is_lazy(value):
            remedy = f"Pass a list of delayed values, one for each partition: [{name}] for one."
        raise MismatchError(
            f"{name} is {_words(value)}, but over names {name}: it has no partitions.",
            remedy=remedy,
        )


def _refuse_chunks(name: str, array: Any) -> None:
    if not array.ndim:
        raise MismatchError(
            f"{name} is a dask array without axes, but over names {name}: it has no rows.",
            remedy=f"Pass {name}.reshape(1), or leave {name} out of over and compute it before.",
        )
    axis = next((i for i, c in enumerate(array.chunks) if i and len(c) > 1), None)
    if axis is not None:
        raise MismatchError(
            f"{name} is in {len(array.chunks[axis])} chunks along axis {axis}: a partition has "
            "whole rows, and is split along the first axis only.",
            remedy=f"Pass {name}.rechunk({{{axis}: -1}}).",
        )


def _optimised(collections: Sequence[Any]) -> dict[Any, Any]:
    """Return the tasks of arrays and bags, as Dask simplifies them.

    Those of one sort are taken together, so that what several are made of is computed once.
    """
    graphs = library("dask.highlevelgraph").HighLevelGraph
    tasks: dict[Any, Any] = {}
    for module, cls in (("dask.array", "Array"), ("dask.bag", "Bag")):
        some = [one for one in collections if _of(module, cls, one)]
        if some:
            merged = graphs.merge(*(one.__dask_graph__() for one in some))
            keys = [one.__dask_keys__() for one in some]
            tasks |= library("dask.utils").ensure_dict(some[0].__dask_optimize__(merged, keys))
    return tasks


def _split(name: str, value: Any, tasks: dict[Any, Any]) -> Split:
    if _of("dask.array", "Array", value):
        keys = tuple(_flat(value.__dask_keys__()))
        return Split(name, tasks, keys, tuple(value.chunks[0]), _like_array(value))
    if _of("dask.bag", "Bag", value):
        return Split(name, tasks, tuple(value.__dask_keys__()), None, None)
    listed = value if isinstance(value, list | tuple) else value.to_delayed()
    delayed = library("dask").delayed
    parts = [delayed(v) if _is_future(v) else v for v in listed]
    graphs = library("dask.highlevelgraph").HighLevelGraph
    own = library("dask.utils").ensure_dict(
        graphs.merge(*{id(v.dask): v.dask for v in parts}.values())
    )
    like = None if isinstance(value, list | tuple) else _like_frame(name, value)
    return Split(name, own, tuple(v.key for v in parts), None, like)


def _flat(keys: Any) -> Iterator[Any]:
    """Yield the keys in nested lists, in order."""
    for key in keys:
        if isinstance(key, list):
            yield from _flat(key)
        else:
            yield key


def _like_array(array: Any) -> Like | None:
    rest = array.shape[1:]
    if type(array._meta) is not np.ndarray or any(map(math.isnan, rest)):
        return None
    return Like((_ROWS, *rest), array.dtype.str, NUMPY) if array.dtype.kind in "biufc" else None


def _like_frame(name: str, frame: Any) -> Any:
    meta = frame._meta
    if not hasattr(meta, "items") or not hasattr(meta, "columns"):
        columns = {None: meta}
    else:
        if not meta.columns.is_unique:
            raise MismatchError(
                f"Two columns of {name} have one name, but a partition is a dict of its columns.",
                remedy="Rename one of them.",
            )
        columns = dict(meta.items())
    arrays = {n: column.to_numpy() for n, column in columns.items()}
    if any(a.dtype.kind not in "biufc" for a in arrays.values()):
        return None
    likes = {n: Like((_ROWS,), a.dtype.str, NUMPY) for n, a in arrays.items()}
    return likes if hasattr(meta, "columns") else likes[None]


def _refuse_unequal(one: Split, other: Split) -> None:
    if len(one.keys) != len(other.keys):
        raise MismatchError(
            f"{one.name} has {len(one.keys)} partitions and {other.name} has {len(other.keys)}: "
            "each partition of one goes with one of the other.",
            remedy="Repartition one of them; arrays by x.rechunk({0: y.chunks[0]}).",
        )
    if one.lengths is None or other.lengths is None:
        return
    for i, (m, n) in enumerate(zip(one.lengths, other.lengths, strict=True)):
        if m != n and not math.isnan(m) and not math.isnan(n):
            raise MismatchError(
                f"Partition {i} of {one.name} has {m} rows and that of {other.name} has {n}.",
                remedy=f"Pass {other.name}.rechunk({{0: {one.name}.chunks[0]}}).",
            )


def _words(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "a NumPy array"
    return "None" if value is None else f"a value of type {type(value).__name__}"


# --- what partitions are like --------------------------------------------------------------------


def examples(found: Sequence[Split]) -> list[tuple[Any, ...]]:
    """Return what partitions of each kind are like, as far as nothing has to be looked at.

    Where something has, the first partition is.
    """
    if any(split.like is None for split in found):
        return [_looked_at(found)]
    first: dict[tuple[int, ...], int] = {}
    for i in range(len(found[0].keys)):
        first.setdefault(tuple(min(_length(s, i), 2) for s in found), i)
    return [tuple(_like(s.like, _length(s, i)) for s in found) for i in first.values()]


def _length(split: Split, number: int) -> int:
    length = math.nan if split.lengths is None else split.lengths[number]
    return _ROWS if math.isnan(length) else int(length)


def _like(like: Any, length: int) -> Any:
    if isinstance(like, dict):
        return {n: _like(part, length) for n, part in like.items()}
    return Like((length, *like.shape[1:]), like.dtype, like.space)


def _looked_at(found: Sequence[Split]) -> tuple[Any, ...]:
    """Return what the first partitions are like, computed where they are."""
    name = f"kinds_of_partition-{uuid.uuid4().hex}"
    tasks = {name: _task(name, example_of, [split.keys[0] for split in found])}
    (example,) = _computed(name, tasks, found, [name])
    return tuple(example)


# --- the graph -----------------------------------------------------------------------------------


def reduced(
    found: Sequence[Split], work: Work, name: str, has_aux: bool
) -> tuple[Found, list[Any]]:
    """Return the sum of what all partitions give, and their aux in order.

    The sums are a binary tree over the numbers of the partitions.
    """
    token = uuid.uuid4().hex
    count = len(found[0].keys)
    sent = f"{name}_sent-{token}"
    each, total = f"{name}-{token}", f"{name}_sum-{token}"
    tasks: dict[Any, Any] = {sent: _data(sent, work)}
    level: list[Any] = [(each, i) for i in range(count)]
    for i, key in enumerate(level):
        at = functools.partial(at_partition, i)
        tasks[key] = _task(key, at, [sent, *(split.keys[i] for split in found)])
    auxs: list[Any] = []
    if has_aux:
        auxs = [(f"{name}_aux-{token}", i) for i in range(count)]
        bare: list[Any] = [(f"{name}_value-{token}", i) for i in range(count)]
        tasks |= {a: _task(a, aux_of, [key]) for a, key in zip(auxs, level, strict=True)}
        tasks |= {b: _task(b, without_aux, [key]) for b, key in zip(bare, level, strict=True)}
        level = bare
    for height in itertools.count():
        if len(level) == 1:
            break
        above = []
        for i in range(0, len(level) - 1, 2):
            above.append((total, height, i // 2))
            tasks[above[-1]] = _task(above[-1], added, level[i : i + 2])
        level = above + level[len(above) * 2 :]
    result, *aux = _computed(each, tasks, found, [*level, *auxs])
    return result, aux


def _task(key: Any, function: Callable[..., Any], of: Sequence[Any]) -> Any:
    """Return a task that calls a function with what other tasks give, by their keys."""
    spec = library("dask._task_spec")
    return spec.Task(key, function, *map(spec.TaskRef, of))


def _data(key: Any, value: Any) -> Any:
    return library("dask._task_spec").DataNode(key, value)


def _computed(
    layer: str, tasks: dict[Any, Any], found: Sequence[Split], keys: Sequence[Any]
) -> list[Any]:
    """Return what Dask computes for some tasks over partitions, wherever it computes now."""
    graphs = library("dask.highlevelgraph").HighLevelGraph
    below = f"{layer}_partitions"
    parts: dict[Any, Any] = {}
    for split in found:
        parts |= split.graph
    graph = graphs({layer: tasks, below: parts}, {layer: {below}, below: set()})
    delayed = library("dask.delayed").Delayed
    return list(library("dask").compute(*(delayed(key, graph, layer=layer) for key in keys)))
