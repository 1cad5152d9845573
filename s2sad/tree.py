"""Structures: containers and objects with floats at their leaves.

A *structure* is a float leaf, or a list, tuple, named tuple, dict, dataclass or plain object of
structures. Float leaves are Python and NumPy floats and complex numbers, and NumPy or CuPy arrays
of them. Everything else that can be met inside (integers, booleans, strings, None, callables,
integer arrays, objects of the standard library) carries no derivative and stays what it is.

    params = [{"W": np.ones((2, 2)), "name": "first"}, 0.5]
    tree_map(lambda p: 2 * p, params)   # [{"W": 2s, "name": "first"}, 1.0]
    vector, unravel = ravel(params)     # five numbers; unravel(vector) is params again
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import json
import math
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from s2sad.known.libraries import of_standard_library
from s2sad.runtime import bare

_SCALARS = (float, complex, np.floating, np.complexfloating)
_OPAQUE = (int, str, bytes, type, enum.Enum, np.ndarray, np.generic, np.ufunc, np.dtype)


# --- what is a leaf ------------------------------------------------------------------------------


def is_cupy_array(value: object) -> bool:
    """Return whether `value` is a CuPy array, without importing CuPy."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def is_array(value: object) -> bool:
    """Return whether `value` is an array of NumPy or CuPy, of any dtype."""
    return isinstance(value, np.ndarray) or is_cupy_array(value)


def is_float_leaf(value: object) -> bool:
    """Return whether `value` is a leaf that can carry a derivative."""
    if isinstance(value, _SCALARS):
        return not isinstance(value, enum.Enum)
    return is_array(value) and value.dtype.kind in "fc"  # type: ignore[attr-defined]


def _is_plain_object(value: object) -> bool:
    """Return whether `value` is an instance whose attributes are the parts of a structure.

    Functions in every disguise (also objects that wrap one) and the standard library's own
    objects (loggers, locks, paths, files) are not.
    """
    if isinstance(value, _OPAQUE) or is_cupy_array(value):
        return False
    if isinstance(value, types.SimpleNamespace):
        return True
    if of_standard_library(type(value).__module__) or "__wrapped__" in getattr(
        value, "__dict__", ()
    ):
        return False
    return hasattr(value, "__dict__") or any("__slots__" in c.__dict__ for c in type(value).__mro__)


# --- one level of a structure --------------------------------------------------------------------


@dataclass(frozen=True)
class Branch:
    """One level of a structure: how its parts are reached, the parts, and how to build it again."""

    access: Literal["item", "attribute"]
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]
    rebuild: Callable[[Sequence[Any]], Any]


def branch_of(node: Any) -> Branch | None:
    """Return the level of the structure at `node`, or None for a leaf of whatever sort."""
    if isinstance(node, enum.Enum):
        return None
    if isinstance(node, list | tuple):
        rebuild = _list_builder(node) if isinstance(node, list) else _tuple_builder(node)
        return Branch("item", tuple(range(len(node))), tuple(node), rebuild)
    if isinstance(node, dict):
        return Branch("item", tuple(node), tuple(node.values()), _dict_builder(node))
    if is_float_leaf(node):
        return None
    if dataclasses.is_dataclass(node) and not isinstance(node, type):
        return _object_branch(node, lambda: bare(type(node)))
    if _is_plain_object(node):
        return _object_branch(node, lambda: copy.copy(node))
    return None


def _list_builder(node: list[Any]) -> Callable[[Sequence[Any]], Any]:
    def rebuild(parts: Sequence[Any]) -> Any:
        if type(node) is list:
            return list(parts)
        new = copy.copy(node)
        list.__setitem__(new, slice(None), parts)
        return new

    return rebuild


def _tuple_builder(node: tuple[Any, ...]) -> Callable[[Sequence[Any]], Any]:
    def rebuild(parts: Sequence[Any]) -> Any:
        if all(new is old for new, old in zip(parts, node, strict=True)):
            return node
        new = tuple.__new__(type(node), parts)
        for name, value in getattr(node, "__dict__", {}).items():
            object.__setattr__(new, name, value)
        return new

    return rebuild


def _dict_builder(node: dict[Any, Any]) -> Callable[[Sequence[Any]], Any]:
    def rebuild(parts: Sequence[Any]) -> Any:
        items = zip(node, parts, strict=True)
        if type(node) is dict:
            return dict(items)
        new = copy.copy(node)
        for key, value in items:
            dict.__setitem__(new, key, value)
        return new

    return rebuild


def _object_branch(node: Any, blank: Callable[[], Any]) -> Branch:
    attributes = dict(_attributes(node))

    def rebuild(parts: Sequence[Any]) -> Any:
        new = blank()
        own = getattr(new, "__dict__", None)
        for name, value in zip(attributes, parts, strict=True):
            if own is not None and name in node.__dict__:
                own[name] = value
            else:
                object.__setattr__(new, name, value)
        return new

    return Branch("attribute", tuple(attributes), tuple(attributes.values()), rebuild)


def _attributes(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the instance itself holds, in `__slots__` and in `__dict__`."""
    for cls in reversed(type(node).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else tuple(slots):
            if slot in ("__dict__", "__weakref__"):
                continue
            name = _mangled(slot, cls)
            if hasattr(node, name):
                yield name, getattr(node, name)
    yield from getattr(node, "__dict__", {}).items()


def _mangled(name: str, cls: type) -> str:
    if not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{cls.__name__.lstrip('_')}{name}"


# --- paths ---------------------------------------------------------------------------------------


def _step(branch: Branch, key: Any) -> str:
    if branch.access == "attribute":
        return f".{key}"
    if isinstance(key, str):
        return f"[{json.dumps(key, ensure_ascii=False)}]"
    return f"[{key!r}]"


def _describe(value: Any) -> str:
    """Name a value for an error message: what it is, not what is in it."""
    if value is None:
        return "None"
    if is_array(value):
        return f"an array of {value.dtype} of shape {value.shape}"
    name = type(value).__name__
    article = "an" if name[0] in "aeiouAEIOU" else "a"
    return f"{article} {name}"


class _Trail:
    """The way from the root to where a walk is: gives the path, and notices a cycle."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.steps: list[tuple[Branch, Any]] = []
        self.open: dict[int, int] = {}

    def __str__(self) -> str:
        return self.path(len(self.steps))

    def path(self, depth: int) -> str:
        return self.root + "".join(_step(branch, key) for branch, key in self.steps[:depth])

    def enter(self, node: Any) -> None:
        if id(node) in self.open:
            raise ValueError(
                f"{self} is {self.path(self.open[id(node)])} again: a structure that contains "
                "itself has no end.\nKeep the reference outside of the structure, or leave "
                "it out."
            )
        self.open[id(node)] = len(self.steps)

    def leave(self, node: Any) -> None:
        del self.open[id(node)]


# --- walks ---------------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """A float leaf and the expression that reaches it: `params[0]["W"]`."""

    path: str
    value: Any


def leaves(structure: Any, name: str = "structure") -> list[Leaf]:
    """Return the float leaves in order, each with its path from `name`."""
    found: list[Leaf] = []
    _collect(structure, _Trail(name), found)
    return found


def _collect(node: Any, trail: _Trail, found: list[Leaf]) -> None:
    if is_float_leaf(node):
        found.append(Leaf(str(trail), node))
        return
    branch = branch_of(node)
    if branch is None:
        return
    trail.enter(node)
    for key, part in zip(branch.keys, branch.parts, strict=True):
        trail.steps.append((branch, key))
        _collect(part, trail, found)
        trail.steps.pop()
    trail.leave(node)


def _keep(leaf: Any) -> Any:
    return leaf


@dataclass
class _Mapping:
    """One run of `map_leaves`: what to do at the leaves, and how many it has met."""

    fn: Callable[..., Any]
    other: Callable[[Any], Any]
    is_leaf: Callable[[Any], bool]
    trail: _Trail
    touched: int = 0

    def visit(self, node: Any, more: Sequence[Any]) -> Any:
        if self.is_leaf(node):
            self.touched += 1
            for index, value in enumerate(more):
                self._check_float(node, value, index)
            return self.fn(node, *more)
        branch = branch_of(node)
        if branch is None:
            for index, value in enumerate(more):
                self._check_other(node, value, index)
            self.touched += self.other is not _keep
            return self.other(node)
        return self._descend(node, branch, more)

    def _descend(self, node: Any, branch: Branch, more: Sequence[Any]) -> Any:
        self.trail.enter(node)
        before = self.touched
        columns = [self._match(node, branch, value, i) for i, value in enumerate(more)]
        parts = []
        for i, (key, part) in enumerate(zip(branch.keys, branch.parts, strict=True)):
            self.trail.steps.append((branch, key))
            parts.append(self.visit(part, [column[i] for column in columns]))
            self.trail.steps.pop()
        self.trail.leave(node)
        if self.touched == before and _is_plain_object(node):
            return node
        return branch.rebuild(parts)

    def _match(self, node: Any, branch: Branch, value: Any, index: int) -> Sequence[Any]:
        """Return the parts of `value` in the order of `branch`; None has None everywhere."""
        if value is None:
            return [None] * len(branch.keys)
        if type(value) is not type(node):
            raise self._mismatch(TypeError, _describe(node), index, _describe(value))
        theirs = branch_of(value)
        assert theirs is not None
        if isinstance(node, list | tuple) and len(theirs.keys) != len(branch.keys):
            what = type(node).__name__
            mine, other = (f"a {what} of length {len(b.keys)}" for b in (branch, theirs))
            raise self._mismatch(ValueError, mine, index, other)
        table = dict(zip(theirs.keys, theirs.parts, strict=True))
        if table.keys() != set(branch.keys):
            what = "keys" if branch.access == "item" else "attributes"
            mine, other = (f"the {what} {list(b.keys)}" for b in (branch, theirs))
            raise self._mismatch(ValueError, mine, index, other)
        return [table[key] for key in branch.keys]

    def _check_float(self, node: Any, value: Any, index: int) -> None:
        if value is None or branch_of(value) is not None:
            raise self._mismatch(TypeError, _describe(node), index, _describe(value))

    def _check_other(self, node: Any, value: Any, index: int) -> None:
        if value is not None and (is_float_leaf(value) or branch_of(value) is not None):
            mine = f"{_describe(node)}, which carries no derivative"
            raise self._mismatch(TypeError, mine, index, _describe(value))

    def _mismatch(self, error: type[Exception], mine: str, index: int, other: str) -> Exception:
        return error(
            f"structures do not match at {self.trail}: the first has {mine}, "
            f"number {index + 2} has {other}"
        )


def map_leaves(
    fn: Callable[..., Any],
    structure: Any,
    *more: Any,
    other: Callable[[Any], Any] = _keep,
    name: str = "structure",
) -> Any:
    """Do `tree_map`; `other` maps the leaves that are not floats, `name` is used in messages.

    `other=lambda leaf: None` gives the structure of a derivative.
    """
    return _Mapping(fn, other, is_float_leaf, _Trail(name)).visit(structure, more)


def tree_map(fn: Callable[..., Any], structure: Any, *more: Any) -> Any:
    """Apply `fn` to each float leaf of `structure` and the corresponding leaves of `more`.

    >>> s2sad.tree_map(lambda p, g: p - 0.1 * g, {"w": 1.0, "n": 3}, {"w": 5.0, "n": None})
    {'w': 0.5, 'n': 3}

    The result has the containers of `structure`: same classes, same keys, same order. Leaves that
    carry no derivative (integers, strings, None ...) are copied from `structure`; the structures in
    `more` may hold None in their place, as derivatives do. A ValueError is raised if the structures
    do not match.
    """
    return map_leaves(fn, structure, *more)


# --- one vector ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slot:
    """The place of one leaf in the vector, and what the leaf was."""

    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    sort: Literal["python", "scalar", "array"]

    @property
    def stop(self) -> int:
        return self.start + math.prod(self.shape)


def is_slot(node: object) -> bool:
    """Return whether this is a float leaf's place in a template."""
    return type(node) is _Slot


def _dtype_of(leaf: Any) -> np.dtype[Any]:
    """Return a leaf's dtype; a Python number counts in full, so that nothing is rounded."""
    if isinstance(leaf, np.generic) or is_array(leaf):
        dtype: np.dtype[Any] = leaf.dtype
        return dtype
    return np.dtype(np.complex128 if isinstance(leaf, complex) else np.float64)


def _slot(leaf: Any, start: int) -> _Slot:
    if is_array(leaf):
        return _Slot(start, tuple(leaf.shape), _dtype_of(leaf), "array")
    sort: Literal["python", "scalar"] = "scalar" if isinstance(leaf, np.generic) else "python"
    return _Slot(start, (), _dtype_of(leaf), sort)


@dataclass(frozen=True, eq=False)
class Unravel:
    """The way back from a vector to the structure that was ravelled."""

    template: Any
    size: int
    namespace: str

    def __call__(self, vector: Any) -> Any:
        """Build the structure anew; its arrays share no memory with `vector`."""
        vector = sys.modules[self.namespace].asarray(vector)
        if vector.shape != (self.size,):
            raise ValueError(
                f"the structure has {self.size} numbers and wants a vector of shape "
                f"({self.size},), but the vector given has {vector.size}, shape {vector.shape}"
            )
        read = _Mapping(lambda slot: _read(vector, slot), _keep, is_slot, _Trail("structure"))
        return read.visit(self.template, ())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_unravel, (self.template, self.size, self.namespace)


def _rebuild_unravel(template: Any, size: int, namespace: str) -> Unravel:
    __import__(namespace)
    return Unravel(template, size, namespace)


def _read(vector: Any, slot: _Slot) -> Any:
    part = vector[slot.start : slot.stop]
    if part.dtype.kind == "c" and slot.dtype.kind == "f":
        if (part.imag != 0).any():
            raise ValueError(
                f"entries {slot.start} to {slot.stop} of the vector belong to a real leaf, but "
                f"have an imaginary part"
            )
        part = part.real
    part = part.astype(slot.dtype)
    if slot.sort == "array":
        return part.reshape(slot.shape)
    number = part[0].item()
    return number if slot.sort == "python" else slot.dtype.type(number)


def _namespace_of(found: Sequence[Leaf]) -> str:
    cupy = [leaf for leaf in found if is_cupy_array(leaf.value)]
    numpy = [leaf for leaf in found if isinstance(leaf.value, np.ndarray)]
    if cupy and numpy:
        raise TypeError(
            f"{cupy[0].path} is an array of CuPy and {numpy[0].path} one of NumPy: one vector "
            f"cannot hold both.\nMove the arrays to one side, or ravel them apart."
        )
    return "cupy" if cupy else "numpy"


def ravel(structure: Any) -> tuple[Any, Unravel]:
    """Return `(vector, unravel)`: the float leaves of `structure` in one vector, and the way back.

    >>> vector, unravel = s2sad.ravel({"w": np.ones(2), "b": 0.5, "n": 3})
    >>> vector
    array([1. , 1. , 0.5])
    >>> unravel(2.0 * vector)
    {'w': array([2., 2.]), 'b': 1.0, 'n': 3}

    `unravel(vector)` returns a structure like the original, with the shape and dtype of every leaf.
    It raises a ValueError for a vector of the wrong length, and can be pickled if the structure
    can.

    The vector's dtype follows from the leaves' dtypes by NumPy's promotion; a Python float counts
    as float64, a complex number as complex128. If one array is several leaves, each leaf has its
    own place in the vector. A TypeError is raised for subclasses of arrays, such as masked arrays.
    """
    found = leaves(structure)
    for leaf in found:
        if isinstance(leaf.value, np.ndarray) and type(leaf.value) is not np.ndarray:
            raise TypeError(
                f"{leaf.path} is {_describe(leaf.value)} of class "
                f"{type(leaf.value).__name__}, which a vector cannot keep.\n"
                f"Give a plain array: np.asarray({leaf.path})."
            )
    namespace = _namespace_of(found)
    xp = sys.modules[namespace]
    size = 0

    def place(leaf: Any) -> _Slot:
        nonlocal size
        slot = _slot(leaf, size)
        size = slot.stop
        return slot

    template = map_leaves(place, structure)
    if not found:
        return np.zeros(0), Unravel(template, 0, namespace)
    dtype = np.result_type(*(_dtype_of(leaf.value) for leaf in found))
    pieces = [xp.asarray(leaf.value, dtype=dtype).ravel() for leaf in found]
    return xp.concatenate(pieces), Unravel(template, size, namespace)
