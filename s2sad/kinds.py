"""Kinds: what is known about a value before the program runs.

A kind is a frozen record: None, a truth value, an integer, a string, a float or complex scalar, an
array with dtype, rank and named axis lengths, a structure of kinds, a function, or nothing known.
Two axes have the same length only where the program makes them so: they carry the same symbol.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import sys
import types
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()


@dataclass(frozen=True)
class Dim:
    """The length of an axis: `symbol` less `cut`; `many` says that it is known not to be 1."""

    symbol: str
    cut: int = 0
    many: bool = False


ONE = Dim("=1")
_fresh = itertools.count()


def fresh_dim() -> Dim:
    """Return a length about which nothing is known."""
    return Dim(f"?{next(_fresh)}")


@dataclass(frozen=True)
class Kind:
    """Base of all kinds; by itself: nothing is known."""


@dataclass(frozen=True)
class Unknown(Kind):
    """Nothing is known, and why."""

    why: str = ""


@dataclass(frozen=True)
class Unbound(Kind):
    """No value reaches this point."""


@dataclass(frozen=True)
class NoneKind(Kind):
    """None."""


@dataclass(frozen=True)
class Str(Kind):
    """A string, perhaps with a known value."""

    value: Any = MISSING


@dataclass(frozen=True)
class Num(Kind):
    """A scalar: type is bool, int, float or complex.

    dtype is None for a Python number, the dtype's name for a NumPy scalar and "any" where it may
    be either; value is known for literals; dim where the number is the length of an axis.
    """

    type: str
    dtype: str | None = None
    value: Any = MISSING
    dim: Dim | None = None


@dataclass(frozen=True)
class Array(Kind):
    """Exactly numpy's (or cupy's) ndarray."""

    dtype: str
    dims: tuple[Dim, ...]
    namespace: str = "numpy"

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.dims)


@dataclass(frozen=True)
class Tuple(Kind):
    """A tuple, or a named tuple of class `cls`."""

    items: tuple[Kind, ...]
    cls: type | None = None


@dataclass(frozen=True)
class List(Kind):
    """A list whose items are all of one kind (Unbound for an empty list).

    The length is known for a display that stands in the program, never from arguments.
    """

    item: Kind
    length: int | None = None


@dataclass(frozen=True)
class Dict(Kind):
    """A dict with known keys."""

    items: tuple[tuple[Any, Kind], ...]


@dataclass(frozen=True)
class Obj(Kind):
    """An instance of a class, with the kinds of its fields."""

    cls: type
    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class Known(Kind):
    """A known object without a derivative: a function, a module, a class, a dtype."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.value is other.value


@dataclass(frozen=True)
class LocalFunction(Kind):
    """A function defined inside a function being derived: its definition, and where its captured
    names are found: pairs of captured name and variable of the function at hand. `defaults` are
    pairs of parameter and variable, for defaults worked out where the function was defined; the
    variable is empty where each round of a loop has another one.
    """

    node: Any
    source: Any
    links: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the function at hand that a call of this one may read."""
        return tuple(local for _, local in (*self.links, *self.defaults) if local)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several functions, each Known or a LocalFunction."""

    options: tuple[Kind, ...]


@dataclass(frozen=True)
class Iterable_(Kind):
    """A lazy sequence (range, zip, enumerate, reversed, dict views) of items of one kind."""

    item: Kind


UNKNOWN = Unknown()
UNBOUND = Unbound()
NONE = NoneKind()
FLOAT = Num("float")
INT = Num("int")
BOOL = Num("bool")

_FLOATS = ("float16", "float32", "float64", "longdouble", "float128")
_COMPLEX = ("complex64", "complex128", "clongdouble", "complex256")


def is_float_dtype(dtype: str) -> bool:
    """Say whether arrays of a dtype carry derivatives."""
    return dtype in _FLOATS or dtype in _COMPLEX


def is_complex(kind: Kind) -> bool:
    """Say whether a number or array is complex."""
    if isinstance(kind, Num):
        return kind.type == "complex"
    return isinstance(kind, Array) and kind.dtype in _COMPLEX


def is_scalar(kind: Kind) -> bool:
    """Say whether this is a float or complex scalar."""
    return isinstance(kind, Num) and kind.type in ("float", "complex")


def differentiable(kind: Kind) -> bool:
    """Say whether a value of this kind can carry a derivative."""
    if isinstance(kind, Num):
        return kind.type in ("float", "complex")
    if isinstance(kind, Array):
        return is_float_dtype(kind.dtype)
    if isinstance(kind, Tuple):
        return any(differentiable(k) for k in kind.items)
    if isinstance(kind, List | Iterable_):
        return differentiable(kind.item)
    if isinstance(kind, Dict):
        return any(differentiable(k) for _, k in kind.items)
    if isinstance(kind, Obj):
        return any(differentiable(k) for _, k in kind.fields)
    return isinstance(kind, Unknown)


def is_container(kind: Kind) -> bool:
    """Say whether this is a mutable structure, whose cotangent is a shadow."""
    return isinstance(kind, List | Dict | Obj)


def reached(kind: Kind) -> frozenset[Any] | None:
    """Return the classes of the mutable structures in a value; None where nothing is known."""
    if isinstance(kind, Unknown):
        return None
    own: frozenset[Any] = frozenset()
    parts: list[Kind] = []
    if isinstance(kind, List | Iterable_):
        own = frozenset({list}) if isinstance(kind, List) else own
        parts = [kind.item]
    elif isinstance(kind, Dict):
        own, parts = frozenset({dict}), [k for _, k in kind.items]
    elif isinstance(kind, Obj):
        own, parts = frozenset({kind.cls}), [k for _, k in kind.fields]
    elif isinstance(kind, Tuple):
        parts = list(kind.items)
    inner = [reached(k) for k in parts]
    if isinstance(kind, Iterable_):
        return None if None in inner or is_container(kind.item) else frozenset()
    if any(r is None for r in inner):
        return None
    return own.union(*(r for r in inner if r is not None))


def may_hold(kind: Kind, owner: Kind) -> bool:
    """Say whether a value of a kind may be, or hold, a structure such as `owner`."""
    cls = {List: list, Dict: dict}.get(type(owner), getattr(owner, "cls", None))
    found = reached(kind)
    return found is None or cls is None or cls in found


def surely_others(one: Kind, other: Kind) -> bool:
    """Say whether two structures cannot be the same one."""
    if type(one) is not type(other):
        return is_container(one) and is_container(other)
    if isinstance(one, Obj) and isinstance(other, Obj):
        return one.cls is not other.cls
    if isinstance(one, List) and isinstance(other, List):
        inner = (one.item, other.item)
        if any(isinstance(k, Unknown | Unbound) for k in inner):
            return False
        return type(one.item) is not type(other.item)
    return False


def plain_field(cls: type, name: str) -> bool:
    """Say whether setting an attribute only puts it into the object."""
    if getattr(cls, "__setattr__", None) is not object.__setattr__:
        return False
    static = inspect.getattr_static(cls, name, None)
    return not hasattr(type(static), "__set__") and "__dict__" in dir(cls)


def describe(kind: Kind) -> str:
    """Return words for error messages."""
    if isinstance(kind, Num):
        return f"a {kind.type}" if kind.type != "int" else "an int"
    if isinstance(kind, Array):
        return f"a {kind.rank}-d array of {kind.dtype}"
    if isinstance(kind, Tuple):
        return kind.cls.__name__ if kind.cls else f"a tuple of {len(kind.items)}"
    if isinstance(kind, Obj):
        return f"an instance of {kind.cls.__name__}"
    words = {
        Choice: "one of several functions",
        List: "a list",
        Dict: "a dict",
        NoneKind: "None",
        Str: "a string",
    }
    for cls, text in words.items():
        if isinstance(kind, cls):
            return text
    if isinstance(kind, Unknown) and kind.why:
        return kind.why
    return "a value about which nothing is known"


def join(left: Kind, right: Kind) -> Kind:
    """Return what is known where either kind may reach a point."""
    if left == right or isinstance(right, Unbound):
        return left
    if isinstance(left, Unbound):
        return right
    if isinstance(left, Num) and isinstance(right, Num):
        return _join_numbers(left, right)
    if isinstance(left, Str) and isinstance(right, Str):
        return Str()
    if isinstance(left, Array) and isinstance(right, Array):
        return _join_arrays(left, right)
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        if left.cls is right.cls and len(left.items) == len(right.items):
            items = tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True))
            return Tuple(items, left.cls)
    elif isinstance(left, List) and isinstance(right, List):
        length = left.length if left.length == right.length else None
        return List(join(left.item, right.item), length)
    elif isinstance(left, Dict) and isinstance(right, Dict):
        if [k for k, _ in left.items] == [k for k, _ in right.items]:
            pairs = zip(left.items, right.items, strict=True)
            return Dict(tuple((k, join(a, b)) for (k, a), (_, b) in pairs))
    elif isinstance(left, Obj) and isinstance(right, Obj):
        names = [n for n, _ in left.fields]
        if left.cls is right.cls and names == [n for n, _ in right.fields]:
            pairs = zip(left.fields, right.fields, strict=True)
            return Obj(left.cls, tuple((n, join(a, b)) for (n, a), (_, b) in pairs))
    elif isinstance(left, Iterable_) and isinstance(right, Iterable_):
        return Iterable_(join(left.item, right.item))
    one, other = _functions(left), _functions(right)
    if one and other:
        return _one_of([*one, *other])
    return Unknown(f"{_phrase(left)} on one path and {_phrase(right)} on another")


def _functions(kind: Kind) -> tuple[Kind, ...]:
    """Return the functions that a value may be; empty where it may be anything else."""
    if isinstance(kind, Choice):
        return kind.options
    if isinstance(kind, LocalFunction):
        return (kind,)
    if isinstance(kind, Known) and is_function(kind.value) and callable(kind.value):
        return (kind,)
    return ()


def _one_of(options: list[Kind]) -> Kind:
    """Return one of some functions; an inner function counts once, with all that it captures."""
    found: list[Kind] = []
    for option in options:
        for i, known in enumerate(found):
            same = isinstance(option, LocalFunction) and isinstance(known, LocalFunction)
            if same and option.node is known.node:  # type: ignore[attr-defined]
                if len(option.links) > len(known.links):  # type: ignore[attr-defined]
                    found[i] = option
                break
            if known == option:
                break
        else:
            found.append(option)
    return found[0] if len(found) == 1 else Choice(tuple(found))


def _phrase(kind: Kind) -> str:
    return "something unknown" if isinstance(kind, Unknown) else describe(kind)


_ORDER = ("bool", "int", "float", "complex")


def _join_numbers(left: Num, right: Num) -> Num:
    if left.type == right.type:
        kind = left.type
    elif "bool" in (left.type, right.type) and "int" not in (left.type, right.type):
        kind = max(left.type, right.type, key=_ORDER.index)
    else:
        kind = max(left.type, right.type, key=_ORDER.index)
    dtype = left.dtype if left.dtype == right.dtype else "any"
    same = left.value is not MISSING and right.value is not MISSING
    same = same and type(left.value) is type(right.value) and left.value == right.value
    dim = left.dim if left.dim == right.dim else None
    return Num(kind, dtype, left.value if same else MISSING, dim)


def _join_arrays(left: Array, right: Array) -> Kind:
    if left.rank != right.rank or left.namespace != right.namespace:
        return Unknown(f"{describe(left)} on one path and {describe(right)} on another")
    if left.dtype != right.dtype:
        return Unknown(f"{describe(left)} on one path and {describe(right)} on another")
    dims = tuple(_join_dim(a, b) for a, b in zip(left.dims, right.dims, strict=True))
    return Array(left.dtype, dims, left.namespace)


def _join_dim(left: Dim, right: Dim) -> Dim:
    if left == right:
        return left
    if left.symbol == right.symbol and left.cut == right.cut:
        return replace(left, many=left.many and right.many)
    if left.symbol.startswith("~"):
        return replace(left, many=left.many and right.many)
    fresh = next(_fresh)
    return Dim(f"~{fresh}", 0, left.many and right.many)


def erase_value(kind: Kind) -> Kind:
    """Forget literal values: what a parameter or a variable of a loop may have."""
    if isinstance(kind, Num):
        return replace(kind, value=MISSING)
    if isinstance(kind, Str):
        return Str()
    return kind


# values to kinds


_DEPTH = 24


def kind_of(value: Any, path: str, literal: bool = False) -> Kind:
    """Return the kind of a value met at `path` (a parameter's name): no lengths, no values."""
    if value is None:
        return NONE
    if value is Ellipsis:
        return Known(value)
    if isinstance(value, bool | np.bool_):
        return Num("bool", None, value if literal else MISSING)
    if isinstance(value, int) and type(value) is int:
        return Num("int", None, value if literal else MISSING, None if literal else Dim(path))
    if type(value) is float:
        return Num("float", None, value if literal else MISSING)
    if type(value) is complex:
        return Num("complex", None, value if literal else MISSING)
    if isinstance(value, str):
        return Str(value if literal else MISSING)
    if isinstance(value, np.generic):
        return _kind_of_numpy_scalar(value)
    if type(value) is np.ndarray:
        if value.dtype.hasobject or value.dtype.fields is not None:
            return Unknown("an array of objects or of records")
        dims = tuple(_dim_of(n, f"{path}.{axis}") for axis, n in enumerate(value.shape))
        return Array(value.dtype.name, dims)
    if path.count(".") + path.count("[") > _DEPTH:
        return Unknown("a structure that is very deep, or contains itself")
    return _kind_of_structure(value, path, literal)


def _dim_of(length: int, symbol: str) -> Dim:
    return ONE if length == 1 else Dim(symbol, 0, many=True)


def _kind_of_numpy_scalar(value: Any) -> Kind:
    names = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
    kind = names.get(value.dtype.kind)
    return Num(kind, value.dtype.name) if kind else Unknown(f"a NumPy {value.dtype} scalar")


def _kind_of_structure(value: Any, path: str, literal: bool) -> Kind:
    if isinstance(value, tuple):
        names = getattr(type(value), "_fields", None)
        if type(value) is not tuple and names is None:
            return Unknown(f"a {type(value).__name__}")
        items = tuple(kind_of(v, f"{path}[{i}]", literal) for i, v in enumerate(value))
        return Tuple(items, type(value) if names is not None else None)
    if type(value) is list:
        item: Kind = UNBOUND
        for position, entry in enumerate(value):
            item = join(item, kind_of(entry, f"{path}[{position}]", literal))
        return List(item)
    if type(value) is dict:
        return Dict(tuple((k, kind_of(v, f"{path}[{k!r}]", literal)) for k, v in value.items()))
    if is_function(value):
        return Known(value)
    if type(value).__module__.startswith("cupy") and hasattr(value, "__cuda_array_interface__"):
        dims = tuple(_dim_of(n, f"{path}.{axis}") for axis, n in enumerate(value.shape))
        return Array(value.dtype.name, dims, "cupy")
    if isinstance(value, np.ndarray):
        return Unknown(f"a {type(value).__name__}, a subclass of ndarray")
    if dataclasses.is_dataclass(value) or _plain_object(value):
        fields = vars(value) if hasattr(value, "__dict__") else {}
        kinds = tuple((k, kind_of(v, f"{path}.{k}", literal)) for k, v in fields.items())
        return Obj(type(value), kinds)
    return Unknown(f"a {type(value).__name__}")


def is_function(value: Any) -> bool:
    """Say whether a value is code rather than data: functions, classes, modules, ufuncs."""
    return (
        inspect.isroutine(value)
        or inspect.isclass(value)
        or inspect.ismodule(value)
        or isinstance(value, np.ufunc | types.MethodType | np.dtype)
        or (hasattr(value, "func") and hasattr(value, "keywords"))
    )


def _plain_object(value: Any) -> bool:
    cls = type(value)
    return (
        hasattr(value, "__dict__")
        and cls.__module__.split(".")[0] not in sys.stdlib_module_names - {"__main__"}
        and not cls.__module__.startswith(("numpy", "scipy", "cupy"))
        and not issubclass(cls, BaseException | Iterable)
    )


# kinds to sample values and back

_PRIMES = ((11, 17, 23, 29, 37, 43, 53, 59), (13, 29, 43, 61, 73, 89, 97, 101))


class Sampler:
    """Makes small values of given kinds, and reads the kind of what a function made of them.

    Each symbolic length gets a size of its own; two runs with different sizes tell lengths,
    constants and coincidences apart.
    """

    def __init__(
        self, kinds: Iterable[Kind], run: int, uniform: bool = False, small: bool = False
    ) -> None:
        self.run = run
        self.uniform = uniform
        self.sizes: dict[str, int] = {}
        self.many: set[str] = set()
        self.guessed = False
        self.small = small
        taken = {d for k in kinds for d in _constants(k)}
        self.free = [p for p in _PRIMES[run] if not any(abs(p - t) <= 3 for t in taken)]

    def size(self, dim: Dim) -> int:
        if dim.symbol.startswith("="):
            return int(dim.symbol[1:]) - dim.cut
        if self.uniform:
            return 3
        if dim.symbol not in self.sizes:
            used = len(self.sizes)
            if used >= len(self.free):
                raise ValueError("too many axes")
            self.sizes[dim.symbol] = self.free[used]
        if dim.many and not dim.cut:
            self.many.add(dim.symbol)
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
            if isinstance(kind.item, Unbound):
                return []
            count = kind.length
            if count is None:
                count = 3 if self.uniform else (5, 7)[self.run]
            return [self.sample(kind.item, content) for _ in range(count)]
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
        raise ValueError("no sample")

    def _number(self, kind: Num, content: float) -> Any:
        if kind.value is not MISSING:
            return kind.value
        if kind.type == "bool":
            value: Any = self.run == 0
        elif kind.type == "int":
            self.guessed = True
            value = self.size(kind.dim) if kind.dim is not None else 2 + self.run
            if self.small:
                value = self.run
        elif kind.type == "float":
            value = content
        else:
            value = complex(content, 0.1)
        if kind.dtype is None:
            return value
        return np.dtype("float64" if kind.dtype == "any" else kind.dtype).type(value)

    def _array(self, kind: Array, content: float) -> Any:
        if kind.namespace != "numpy":
            raise ValueError("not on this machine")
        shape = tuple(self.size(d) for d in kind.dims)
        if kind.dtype == "bool":
            return np.full(shape, self.run == 0)
        if not is_float_dtype(kind.dtype):
            return np.zeros(shape, kind.dtype)
        array = np.full(shape, content, kind.dtype)
        if kind.rank >= 2:
            array = array * 0.1 + np.eye(shape[-2], shape[-1], dtype=kind.dtype)
        return array.astype(kind.dtype)


def _constants(kind: Kind) -> set[int]:
    if isinstance(kind, Num) and type(kind.value) is int:
        return {kind.value}
    if isinstance(kind, Array):
        return {int(d.symbol[1:]) for d in kind.dims if d.symbol.startswith("=")}
    if isinstance(kind, Tuple):
        return set().union(*map(_constants, kind.items)) if kind.items else set()
    return set()


def read_back(first: Any, second: Any, one: Sampler, two: Sampler) -> Kind:
    """Return the kind of a result from what two runs gave (second is MISSING where it failed)."""
    if isinstance(first, np.ndarray) and type(first) is np.ndarray:
        if not isinstance(second, np.ndarray) or second.ndim != first.ndim:
            dims = tuple(fresh_dim() for _ in first.shape)
        else:
            pairs = zip(first.shape, second.shape, strict=True)
            dims = tuple(_length(a, b, one, two) for a, b in pairs)
        return Array(first.dtype.name, dims)
    if isinstance(first, tuple):
        others = second if isinstance(second, tuple) and len(second) == len(first) else None
        pairs_ = zip(first, others or [MISSING] * len(first), strict=True)
        cls = type(first) if hasattr(first, "_fields") or hasattr(type(first), "n_fields") else None
        if cls is not None and not hasattr(cls, "_make"):
            cls = None
        return Tuple(tuple(read_back(a, b, one, two) for a, b in pairs_), cls)
    if isinstance(first, list):
        item: Kind = UNBOUND
        for entry in first:
            item = join(item, read_back(entry, MISSING, one, two))
        return List(item)
    if type(first) is int and type(second) is int:
        dim = _symbol(first, second, one, two)
        return Num("int", None, MISSING, dim)
    kind = kind_of(first, "?")
    if isinstance(kind, Num):
        return replace(kind, value=MISSING, dim=None)
    return kind


def _symbol(a: int, b: int, one: Sampler, two: Sampler) -> Dim | None:
    for symbol, size in one.sizes.items():
        cut = size - a
        if 0 <= cut <= 3 and symbol in two.sizes and two.sizes[symbol] - cut == b:
            return Dim(symbol, cut, cut == 0 and symbol in one.many)
    return None


def _length(a: int, b: int, one: Sampler, two: Sampler) -> Dim:
    if one.uniform or (one.guessed and a == b):
        return fresh_dim()
    if a == b:
        return Dim(f"={a}", 0, a != 1)
    return _symbol(a, b, one, two) or fresh_dim()


def broadcast(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the axis lengths of an elementwise operation's result."""
    rank = max(len(left), len(right))
    left = (ONE,) * (rank - len(left)) + left
    right = (ONE,) * (rank - len(right)) + right
    return tuple(_broadcast_dim(a, b) for a, b in zip(left, right, strict=True))


def _broadcast_dim(left: Dim, right: Dim) -> Dim:
    if left == ONE:
        return right
    if right == ONE:
        return left
    if (left.symbol, left.cut) == (right.symbol, right.cut):
        return left if left.many else right
    if left.many:
        return left
    if right.many:
        return right
    return fresh_dim()


def same_length(left: Dim, right: Dim) -> bool:
    """Say whether two lengths are the same by what the program does."""
    return (left.symbol, left.cut) == (right.symbol, right.cut)
