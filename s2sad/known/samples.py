"""Small values of given kinds, and the kind of what a function makes of them."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad import registry
from s2sad.kinds import (
    MISSING,
    Array,
    Choice,
    Dict,
    Dim,
    Kind,
    Known,
    List,
    LocalFunction,
    NoneKind,
    Num,
    Obj,
    Opaque,
    Str,
    Tuple,
    Unbound,
    Union,
    Unknown,
    fresh_dim,
    is_float_dtype,
    is_function,
    join_dim,
    kind_of,
    length_of,
    list_of,
)
from s2sad.known.lifted import space_among
from s2sad.known.spaces import NUMPY, module_of, space_of

_PRIMES = ((11, 17, 23, 29, 37, 43, 53, 59), (13, 29, 43, 61, 73, 89, 97, 101))
_SMALL = ((5, 11, 17, 23, 29, 37, 43, 53), (7, 13, 19, 31, 41, 47, 59, 67))
_SHORT = ((5, 9, 13, 17, 21, 25, 29, 33), (7, 11, 15, 19, 23, 27, 31, 35))
_MOST_ENTRIES = 2**22


class Sampler:
    """Makes small values of given kinds, and reads the kind of what a function made of them.

    Each symbolic length gets a size of its own; two runs with different sizes, in another order,
    tell lengths, constants and coincidences apart. Where these do not fit together, all lengths are
    one (`uniform`), or each is one (`assigned`), which the program says: see `lengths_said`. Arrays
    have one content throughout; where it is `varied`, zeros, repetitions and other numbers tell
    which lengths depend on it. Integers and truth values that are not known may all be one
    `number`.
    """

    def __init__(
        self,
        kinds: Iterable[Kind],
        run: int,
        uniform: int = 0,
        small: bool = False,
        varied: bool = False,
        assigned: Mapping[str, int] | None = None,
        number: int | None = None,
        emptied: bool = False,
    ) -> None:
        self.run = run
        self.number = number
        self.varied = varied
        self.made = 0
        self.uniform = uniform
        self.sizes: dict[str, int] = dict(assigned or {})
        self.chosen = bool(uniform or assigned)
        self.many: set[str] = set()
        self.none: set[str] = set()
        self.emptied = emptied
        self.guessed = False
        self.small = small
        kinds = tuple(kinds)
        taken = {d for k in kinds for d in _constants(k)}
        axes = max((len(free_lengths(k)) for k in kinds), default=0)
        sizes = (_PRIMES if axes < 4 else _SMALL if axes == 4 else _SHORT)[run]
        self.free = [p for p in sizes if not any(abs(p - t) <= 3 for t in taken)]
        if run:  # what is the longer one in one run is the shorter one in the other
            count = len(set().union(*map(free_lengths, kinds)))
            self.free = [*self.free[:count][::-1], *self.free[count:]]

    def size(self, dim: Dim) -> int:
        if dim.symbol.startswith("="):
            return int(dim.symbol[1:]) - dim.cut
        if dim.none and self.emptied:
            return 0
        if self.uniform:
            return self.uniform
        if dim.symbol not in self.sizes:
            used = len(self.sizes)
            if used >= len(self.free):
                raise ValueError("too many axes")
            self.sizes[dim.symbol] = self.free[used]
        if dim.many and not dim.cut:
            self.many.add(dim.symbol)
        if dim.none:
            self.none.add(dim.symbol)
        return self.sizes[dim.symbol] - dim.cut

    def sample(self, kind: Kind, content: float) -> Any:
        if isinstance(kind, Num):
            return self._number(kind, content)
        if isinstance(kind, Array):
            return self._array(kind, content)
        if isinstance(kind, Tuple):
            items = [self.sample(k, content) for k in kind.items]
            return kind.cls._make(items) if kind.cls is not None else tuple(items)  # type: ignore[attr-defined]
        if isinstance(kind, List):
            rows = self._list(kind, content)
            return _regular(rows) if self.small else rows
        if isinstance(kind, Dict):
            return {k: self.sample(v, content) for k, v in kind.items}
        if isinstance(kind, Str):
            if kind.value is MISSING:
                raise ValueError("unknown string")
            return kind.value
        if isinstance(kind, NoneKind):
            return None
        if isinstance(kind, Known):
            return kind.value
        found = registry.objects_of(kind.cls) if isinstance(kind, Opaque) else None
        if found is None:
            raise ValueError("no sample")
        return found.sample(kind.cls, self._array(kind.like, content))  # type: ignore[attr-defined]

    def _list(self, kind: List, content: float) -> list[Any]:
        if kind.items is not None:
            return [self.sample(k, content) for k in kind.items]
        if isinstance(kind.item, Unbound):
            return []
        count = kind.length
        if count is None:
            count = self.uniform or (5, 7)[self.run]
        return [self.sample(kind.item, content) for _ in range(count)]

    def _number(self, kind: Num, content: float) -> Any:
        if kind.value is not MISSING:
            return kind.value
        if kind.type == "bool":
            self.guessed = True
            value: Any = self.run == 0 if self.number is None else self.number > 0
        elif kind.type == "int":
            self.guessed = True
            value = self.size(kind.dim) if kind.dim is not None else 2 + self.run
            if self.small:
                value = self.run
            if self.number is not None:
                value = self.number
        elif kind.type == "float":
            value = content + 0.9 * self.varied
        else:
            value = complex(content, 0.1)
        if kind.dtype is None:
            return value
        return np.dtype(kind.type if kind.dtype == "any" else kind.dtype).type(value)

    def _array(self, kind: Array, content: float) -> Any:
        if kind.namespace != NUMPY:
            on_host = self._array(replace(kind, namespace=NUMPY), content)
            return module_of(kind.namespace).asarray(on_host)
        shape = tuple(self.size(d) for d in kind.dims)
        if math.prod(shape) > _MOST_ENTRIES:
            raise ValueError("too many entries")
        if self.varied:
            values = np.resize(np.array(_VARIED), shape).astype(kind.dtype)
            if not is_float_dtype(kind.dtype):
                return values
            self.made += 1  # no two arrays hold the same numbers
            return (values + 10.0 * (self.made - 1)).astype(kind.dtype)
        if kind.dtype == "bool":
            return np.full(shape, self.run == 0)
        if not is_float_dtype(kind.dtype):
            array = np.full(shape, int(self.small), kind.dtype)  # weights that are all 0 are none
            if kind.rank < 2 or not self.small:
                return array
            return array + np.eye(shape[-2], shape[-1], dtype=kind.dtype)  # which is regular
        array = np.full(shape, content, kind.dtype)
        if array.dtype.kind == "c" and content < 2.0:
            array += 0.1j  # what real parts alone make may be real: np.poly, np.linalg.eigvals
        if kind.rank >= 2:
            array *= 0.1
            array += np.eye(shape[-2], shape[-1], dtype=kind.dtype)
        if kind.rank >= 3:  # a tensor equation of equal matrices would be singular
            array += _unlike(array.size).reshape(shape)
        return array


@functools.lru_cache(2)  # two runs ask in turn
def _unlike(size: int) -> np.ndarray:
    """Return small numbers, none of which is like the next."""
    return 1e-2 * np.sin(np.arange(size) ** 2)


def _regular(rows: list[Any]) -> list[Any]:
    """Return rows of numbers as those of a matrix that can be inverted, any other list as it is."""
    if not all(isinstance(row, list) and all(type(v) in _NUMBERS for v in row) for row in rows):
        return rows
    return [[v + (i == j) for j, v in enumerate(row)] for i, row in enumerate(rows)]


_NUMBERS = (int, float, complex)
_VARIED = (0.0, 1.3, 2.4, 1.3)


def _constants(kind: Kind) -> set[int]:
    if isinstance(kind, Opaque):
        return _constants(kind.like)
    if isinstance(kind, Num) and type(kind.value) is int:
        return {kind.value}
    if isinstance(kind, Array):
        return {int(d.symbol[1:]) for d in kind.dims if d.symbol.startswith("=")}
    if isinstance(kind, Tuple | List):
        return set().union(*map(_constants, kind.items or ()))
    return set()


def says_one(kind: Kind) -> bool:
    """Say whether the program says of an axis that it has one entry."""
    if isinstance(kind, Tuple | List):
        return any(map(says_one, kind.inside))
    return isinstance(kind, Array) and 1 in _constants(kind)


def lengths_said(kinds: Iterable[Kind]) -> list[int]:
    """Return the lengths that all others may be, the longest first."""
    return sorted(set().union(*map(_lengths, kinds)), reverse=True) or [3]


def _lengths(kind: Kind) -> set[int]:
    """Return the lengths in a kind that the program says, and that are not 1."""
    if isinstance(kind, List) and kind.length is not None and kind.items is None:
        found = {kind.length}
    elif isinstance(kind, Array | Opaque):
        found = _constants(kind)
    elif isinstance(kind, Tuple | List) and kind.items is not None:
        found = {len(kind.items)}.union(*map(_lengths, kind.items))
    else:
        found = set()
    return {n for n in found if n > 1}


def free_lengths(kind: Kind) -> set[str]:
    """Return the symbols of the lengths in a kind that are not known."""
    if isinstance(kind, Opaque):
        return free_lengths(kind.like)
    if isinstance(kind, Array):
        return {d.symbol for d in kind.dims if not d.symbol.startswith("=")}
    if isinstance(kind, Num):
        return {kind.dim.symbol} if kind.dim is not None else set()
    return set().union(*map(free_lengths, kind.inside))


def no_function(kind: Kind) -> Kind:
    """Return None for a function that is given to be called: a stand-in takes no notice of it.

    Nor does it of options in a dict of which some cannot be known, and of objects.
    """
    words = isinstance(kind, Dict) and any(k == Str() for _, k in kind.items)
    return NoneKind() if is_called(kind) or words or _is_strange(kind) else kind


def _is_strange(kind: Kind) -> bool:
    """Say whether there is no sample of a kind."""
    if isinstance(kind, Unknown | Union | Obj):
        return True
    options = isinstance(kind, Dict) and any(map(is_called, kind.inside))
    return options or (isinstance(kind, Tuple | List | Dict) and any(map(_is_strange, kind.inside)))


def is_number(kind: Kind | None) -> bool:
    """Say whether a kind is that of a number, a text or None, or a list or tuple of these."""
    if isinstance(kind, Tuple):
        return all(map(is_number, kind.items))
    if isinstance(kind, List):
        return is_number(kind.item)
    return isinstance(kind, Num | Str | NoneKind)


def rising(kind: Kind) -> Kind:
    """Return for a list of numbers such that rise from 0 to 1, as edges of a band."""
    if not isinstance(kind, List) or not isinstance(kind.item, Num) or kind.item.type != "float":
        return kind
    count = len(kind.items) if kind.items is not None else kind.length
    if count is None or kind.item.dtype is not None:
        return kind
    return Tuple(tuple(Num("float", None, (i + 1.0) / (count + 1.0)) for i in range(count)))


def is_called(kind: Kind) -> bool:
    """Say whether a kind is that of a function."""
    if isinstance(kind, Known):
        return is_function(kind.value) and not isinstance(kind.value, np.dtype | type)
    return isinstance(kind, LocalFunction | Choice)


_AXES = Unknown(
    "an array whose number of axes depends on a number or a truth value that s2sad does not know",
    instead=(
        "Write that number or truth value as a literal; where there are several, branch over them."
    ),
)
_SOME_ITEMS = "a tuple whose length depends on the length of an array"


def same_axes(kind: Kind, first: Any, other: Any) -> Kind:
    """Return a kind, or that nothing is known where other numbers gave other axes."""
    arrays = all(isinstance(r, np.ndarray | np.generic) for r in (first, other))
    return _AXES if arrays and np.ndim(first) != np.ndim(other) else kind


def same_lengths(kind: Kind, others: list[Any]) -> Kind:
    """Return a kind of which lengths are known that are the same with each of other numbers."""
    if isinstance(kind, Tuple):
        alike = all(isinstance(o, tuple) and len(o) == len(kind.items) for o in others)
        columns = [[o[i] for o in others] if alike else [] for i in range(len(kind.items))]
        parts = zip(kind.items, columns, strict=True)
        return replace(kind, items=tuple(same_lengths(k, c) for k, c in parts))
    if not isinstance(kind, Array):
        return kind
    shapes = {getattr(o, "shape", ()) for o in others}

    def stays(at: int, dim: Dim) -> bool:
        known = length_of(dim)
        return known is None or (bool(shapes) and all(s[at : at + 1] == (known,) for s in shapes))

    dims = enumerate(kind.dims)
    return replace(kind, dims=tuple(d if stays(i, d) else fresh_dim() for i, d in dims))


def read_back(first: Any, second: Any, one: Sampler, two: Sampler) -> Kind:
    """Return the kind of a result from what two runs gave (second is MISSING where it failed)."""
    space = space_of(type(first))
    if space is not None and (first.dtype.hasobject or first.dtype.fields is not None):
        return Unknown("an array of objects or of records")
    if space is not None:
        if space_of(type(second)) is not None and second.ndim != first.ndim:
            return _AXES
        if type(second) is not type(first):
            dims = tuple(fresh_dim() for _ in first.shape)
        else:
            pairs = zip(first.shape, second.shape, strict=True)
            dims = tuple(_length(a, b, one, two) for a, b in pairs)
        return Array(first.dtype.name, dims, space)
    found = registry.objects_of(type(first))
    if found is not None:
        same = type(first) is type(second)
        like = read_back(found.like(first), found.like(second) if same else MISSING, one, two)
        why = f"a {type(first).__name__} that has no rules"
        strange = Unknown(why, None, registry.advice_for(first))
        return Opaque(type(first), like) if isinstance(like, Array) else strange
    if isinstance(first, tuple):
        if isinstance(second, tuple) and len(second) != len(first):
            return Unknown(_SOME_ITEMS, None, registry.LISTED)
        others = second if isinstance(second, tuple) and len(second) == len(first) else None
        pairs_ = zip(first, others or [MISSING] * len(first), strict=True)
        cls = type(first) if hasattr(first, "_fields") or hasattr(type(first), "n_fields") else None
        if cls is not None and not hasattr(cls, "_make"):
            cls = None
        return Tuple(tuple(read_back(a, b, one, two) for a, b in pairs_), cls)
    if isinstance(first, list):
        return List(list_of([read_back(entry, MISSING, one, two) for entry in first]).item)
    if type(first) is int and type(second) is int:
        dim = None if one.chosen else _symbol(first, second, one, two)
        return Num("int", None, MISSING, dim)
    kind = kind_of(first, "?")
    if isinstance(kind, Num):
        return replace(kind, value=MISSING, dim=None)
    return kind


def by_content(kind: Kind, first: Any, other: Any) -> Kind:
    """Return a kind where lengths that other contents have changed are not known."""
    if isinstance(kind, Array) and isinstance(other, np.ndarray) and other.shape != first.shape:
        if other.ndim != first.ndim:
            return Unknown("an array whose number of axes depends on its content")
        pairs = zip(kind.dims, first.shape, other.shape, strict=True)
        return Array(kind.dtype, tuple(d if a == b else fresh_dim() for d, a, b in pairs))
    if isinstance(kind, Tuple) and isinstance(other, tuple) and len(other) == len(first):
        parts = zip(kind.items, first, other, strict=True)
        return Tuple(tuple(by_content(k, a, b) for k, a, b in parts), kind.cls)
    if isinstance(kind, Num) and kind.dim is not None and first != other:
        return replace(kind, dim=None)
    return kind


def if_empty(kind: Kind, other: Any) -> Kind:
    """Return a kind where lengths are not known that are others where arguments are empty."""
    if isinstance(kind, Array) and space_of(type(other)) is not None and other.ndim == kind.rank:
        pairs = zip(kind.dims, other.shape, strict=True)
        same = ((d, length_of(d) in (None, n)) for d, n in pairs)
        return replace(
            kind, dims=tuple(d if s else replace(fresh_dim(), none=True) for d, s in same)
        )
    if isinstance(kind, Tuple) and isinstance(other, tuple) and len(other) == len(kind.items):
        items = (if_empty(k, part) for k, part in zip(kind.items, other, strict=True))
        return replace(kind, items=tuple(items))
    return kind


def _symbol(a: int, b: int, one: Sampler, two: Sampler) -> Dim | None:
    for symbol, size in one.sizes.items():
        cut = size - a
        if -2 <= cut <= 3 and symbol in two.sizes and two.sizes[symbol] - cut == b:
            return Dim(symbol, cut, cut == 0 and symbol in one.many, symbol in one.none)
    return None


def _length(a: int, b: int, one: Sampler, two: Sampler) -> Dim:
    if one.chosen:
        return fresh_dim()
    if a == b:
        return Dim(f"={a}", 0, a != 1)
    return _symbol(a, b, one, two) or fresh_dim()


def stacked(kind: Kind) -> Array | None:
    """Return the kind of the array that a list or tuple of numbers or arrays makes, or None."""
    found: tuple[Kind, ...]
    if isinstance(kind, List) and kind.items is None:
        found, count = (kind.item,), fresh_dim()
        if kind.length is not None:
            count = Dim(f"={kind.length}", 0, kind.length != 1)
    elif isinstance(kind, Tuple | List):
        found = kind.items or ()
        count = Dim(f"={len(found)}", 0, len(found) != 1)
    else:
        return None
    parts = [_entry(k) for k in found]
    if not parts or None in parts or len({len(p.dims) for p in parts if p is not None}) > 1:
        return None
    dims = parts[0].dims if parts[0] is not None else ()
    for part in parts:
        dims = tuple(join_dim(a, b) for a, b in zip(dims, part.dims, strict=True))  # type: ignore[union-attr]
    dtype = np.result_type(*(p.dtype for p in parts if p is not None)).name
    return Array(dtype, (count, *dims), space_among(found))


_PLAIN = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


def _entry(kind: Kind) -> Array | None:
    """Return what an entry of a list is in the array made of the list: a number has no axes."""
    if isinstance(kind, Num):
        return None if kind.dtype == "any" else Array(kind.dtype or _PLAIN[kind.type], ())
    if isinstance(kind, Array):
        return kind
    return stacked(kind)


def fitting(rule: registry.Rule, values: list[Any], named: dict[str, Any]) -> list[Any]:
    """Return samples for a rule that fit one another: what its function gives is made of arrays."""
    of, fn = rule.derivative_of, rule.fn
    assert of is not None
    taken = registry.rule_for(of)
    assert taken is not None and taken.pullback is not None
    if fn is taken.pullback:
        out = _out(of, taken.pullback, values[2:], named)
        return [out, out, *values[2:]]
    arrays = values[1 : 1 + len(values) // 2]
    return [_out(of, taken.pullback, arrays, named), *arrays, *arrays]


def _out(fn: Any, pull: Any, arrays: list[Any], named: dict[str, Any]) -> Any:
    """Call a function with the arrays in the order of its rule, which need not be its own."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:
        return fn(*arrays, **named)
    own = [p.name for p in parameters]
    names = registry.positional_names(pull, 2)
    by_keyword = any(p.kind is p.VAR_KEYWORD for p in parameters) and own[0] in names
    taken = by_keyword or set(names) <= set(own)
    if names[: len(arrays)] == tuple(own[: len(names)]) or not taken:
        return fn(*arrays, **named)
    given = {n: a for n, a in zip(names, arrays, strict=False) if a is not None}
    first = given.pop(own[0])  # it may be one that goes by no name
    return fn(first, **given, **named)
