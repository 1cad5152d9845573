"""Kinds: what is known about a value before the program runs.

A kind is a frozen record: None, a truth value, an integer, a string, a float or complex scalar, an
array with dtype, rank and named axis lengths, a structure of kinds, a function, or nothing known.
Two axes have the same length only where the program makes them so: they carry the same symbol.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from s2sad import registry, runtime
from s2sad.derivative import Applied
from s2sad.errors import Error, an
from s2sad.known import spaces
from s2sad.known.code import is_function as is_function
from s2sad.known.dims import ONE as ONE
from s2sad.known.dims import Dim as Dim
from s2sad.known.dims import broadcast as broadcast
from s2sad.known.dims import fresh_dim as fresh_dim
from s2sad.known.dims import join_dim as join_dim
from s2sad.known.dims import length_of as length_of
from s2sad.known.dims import newer_symbols as newer_symbols
from s2sad.known.dims import same_length as same_length
from s2sad.known.dims import same_shape as same_shape
from s2sad.known.fixed import the_same
from s2sad.known.generators import GENERATORS


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Any = _Missing()
FLAGS = type(np.empty(0).flags)


class Step(enum.Enum):
    """What leads to a part whose place is not known, and stands for many."""

    EACH = "each"

    def __repr__(self) -> str:
        return "EACH"


EACH = Step.EACH


class Part(NamedTuple):
    """A part of a structure: how it is read (`[step]`, `.step`, or one of `options`), its kind.

    The step EACH is for all items of a list, dict or iterator of which only one kind is known.
    """

    how: str
    step: Any
    kind: Kind

    @property
    def path(self) -> str:
        """The text after a structure's name: `[0]`, `['w']`, `.w`, `[]` of EACH, `:0` of options"""
        if self.how == "field":
            return f".{self.step}"
        if self.how == "option":
            return f":{self.step}"
        return "[]" if self.step is EACH else f"[{self.step!r}]"


@dataclass(frozen=True)
class Kind:
    """Base of all kinds; by itself: nothing is known.

    What a structure holds is asked here alone. A class of its own says what is held `by_step` and
    how it is `rebuilt` of other kinds of its parts:

        Tuple((FLOAT, INT)).by_step           ((0, FLOAT), (1, INT))
        Tuple((FLOAT, INT)).inside            (FLOAT, INT)
        Tuple((FLOAT, INT)).over(erase)       Tuple((erase(FLOAT), erase(INT)))
        List(FLOAT).by_step                   ((EACH, FLOAT),)
        List(FLOAT).at(2)                     FLOAT

    `how` parts are read: as an "item" or "field" of a structure, or as an "option" of what may be
    one of several; "" has none. What is `mutable` may be written: its cotangent is a shadow.
    """

    how: ClassVar[str] = ""
    mutable: ClassVar[bool] = False

    @property
    def by_step(self) -> tuple[tuple[Any, Kind], ...]:
        """What leads to each part - positions, keys, names of fields, EACH - and its kind."""
        return ()

    @property
    def structure(self) -> bool:
        """Whether a value has parts, if only later."""
        return self.how in ("item", "field")

    @property
    def inside(self) -> tuple[Kind, ...]:
        """The kinds of the parts; of what may be one of several, these."""
        return tuple([kind for _, kind in self.by_step])

    @property
    def steps(self) -> tuple[Any, ...]:
        """What leads to the parts."""
        return tuple([step for step, _ in self.by_step])

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, each with its step."""
        return tuple(Part(self.how, *part) for part in self.by_step)

    @property
    def rest(self) -> Kind | None:
        """The kind of a part of which the step is not known, where all share one."""
        return None

    def rebuilt(self, inside: Iterable[Kind]) -> Kind:
        """Return the kind of a structure such as this one with other kinds of its parts."""
        return self

    def over(self, change: Callable[[Kind], Kind]) -> Kind:
        """Return the kind of a structure such as this one whose parts are changed."""
        old = self.inside
        new = tuple(map(change, old))
        return self if all(map(operator.is_, old, new)) else self.rebuilt(new)

    def at(self, step: Any) -> Kind | None:
        """Return the kind of a part, None where there is none that is known."""
        return next((kind for known, kind in self.by_step if known == step), self.rest)


@dataclass(frozen=True)
class Unknown(Kind):
    """Nothing is known, and why: a given object's class, what to use `instead`, an `error`."""

    why: str = field(default="", compare=False)
    cls: type | None = None
    instead: str = ""
    error: Error | None = field(default=None, compare=False)


def is_slice(kind: object) -> bool:
    """Say whether a value is a slice, whose bounds the run knows."""
    return isinstance(kind, Unknown) and kind.cls is slice


@dataclass(frozen=True)
class Unbound(Kind):
    """No value reaches this point."""


@dataclass(frozen=True)
class NoneKind(Kind):
    """None."""


@dataclass(frozen=True)
class Str(Kind):
    """A string, perhaps with a known value, or surely one of the `keys` of a dict."""

    value: Any = MISSING
    keys: frozenset[str] | None = None


@dataclass(frozen=True)
class Num(Kind):
    """A scalar: type is bool, int, float or complex.

    dtype is None for a Python number, the dtype's name for a NumPy scalar and "any" where it may
    be either; value is known for literals; dim where the number is the length of an axis. What is
    `const` is a part of a structure by which nobody differentiates. `either` is real or complex.
    """

    type: str
    dtype: str | None = None
    value: Any = MISSING
    dim: Dim | None = None
    const: bool = False
    either: bool = False


@dataclass(frozen=True)
class Array(Kind):
    """Exactly numpy's (or cupy's) ndarray; `const` as of a number."""

    dtype: str
    dims: tuple[Dim, ...]
    namespace: str = "numpy"
    const: bool = False

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.dims)


@dataclass(frozen=True)
class Tuple(Kind):
    """A tuple, or a named tuple of class `cls`."""

    items: tuple[Kind, ...]
    cls: type | None = None
    how: ClassVar[str] = "item"

    @property
    def by_step(self) -> tuple[tuple[int, Kind], ...]:
        return tuple(enumerate(self.items))

    def rebuilt(self, inside: Iterable[Kind]) -> Tuple:
        return Tuple(tuple(inside), self.cls)


@dataclass(frozen=True)
class List(Kind):
    """A list whose items are all of one kind (Unbound for an empty list).

    The length is known for a display that stands in the program, never from arguments; where the
    items are of kinds too different to share one, so is the kind of each.
    """

    item: Kind
    length: int | None = None
    items: tuple[Kind, ...] | None = None
    how: ClassVar[str] = "item"
    mutable: ClassVar[bool] = True

    @property
    def by_step(self) -> tuple[tuple[Any, Kind], ...]:
        return ((EACH, self.item),) if self.items is None else tuple(enumerate(self.items))

    @property
    def rest(self) -> Kind:
        return self.item

    def rebuilt(self, inside: Iterable[Kind]) -> List:
        items = list(inside)
        return List(items[0], self.length) if self.items is None else list_of(items)

    def over(self, change: Callable[[Kind], Kind]) -> Kind:
        # What all items share changes as they do: joined anew, it would have other lengths.
        item = change(self.item)
        items = None if self.items is None else tuple(map(change, self.items))
        same = item is self.item and (items is None or all(map(operator.is_, items, self.inside)))
        return self if same else List(item, self.length, items)


@dataclass(frozen=True)
class Dict(Kind):
    """A dict with known keys."""

    items: tuple[tuple[Any, Kind], ...]
    how: ClassVar[str] = "item"
    mutable: ClassVar[bool] = True

    @property
    def by_step(self) -> tuple[tuple[Any, Kind], ...]:
        return self.items

    def rebuilt(self, inside: Iterable[Kind]) -> Dict:
        return Dict(tuple(zip(self.steps, inside, strict=True)))


@dataclass(frozen=True)
class OpenDict(Kind):
    """A dict whose keys nobody knows: of one kind, with values of one kind."""

    key: Kind
    item: Kind
    how: ClassVar[str] = "item"
    mutable: ClassVar[bool] = True

    @property
    def by_step(self) -> tuple[tuple[Any, Kind], ...]:
        return ((EACH, self.item),)

    @property
    def rest(self) -> Kind:
        return self.item

    def rebuilt(self, inside: Iterable[Kind]) -> OpenDict:
        return replace(self, item=next(iter(inside)))


@dataclass(frozen=True)
class Obj(Kind):
    """An instance of a class, with the kinds of its fields."""

    cls: type
    fields: tuple[tuple[str, Kind], ...]
    how: ClassVar[str] = "field"
    mutable: ClassVar[bool] = True

    @property
    def by_step(self) -> tuple[tuple[str, Kind], ...]:
        return self.fields

    def rebuilt(self, inside: Iterable[Kind]) -> Obj:
        return Obj(self.cls, tuple(zip(self.steps, inside, strict=True)))


@dataclass(frozen=True)
class Opaque(Kind):
    """An object of a library's class that has rules; `like` is an array that tells the rest."""

    cls: type
    like: Array


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
    variable is empty where each round of a loop has another one, of which the names are `lost`:
    what they hold may be changed by a call. `applied` are the operators that
    have made a derivative of it, one after the other. A function that runs `again` is a checkpoint.
    """

    node: Any
    source: Any
    links: tuple[tuple[str, str], ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()
    applied: tuple[Applied, ...] = ()
    again: bool = False
    lost: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the function at hand that a call of this one may read."""
        return (*(local for _, local in (*self.links, *self.defaults) if local), *self.lost)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several functions, each Known or a LocalFunction."""

    options: tuple[Kind, ...]


@dataclass(frozen=True)
class Union(Kind):
    """One of several kinds: numbers and arrays of different ranks, or None and something else.

    A number among them whose value is known is a constant: it carries no derivative, so that its
    cotangent may have any shape.
    """

    options: tuple[Kind, ...]
    how: ClassVar[str] = "option"

    @property
    def by_step(self) -> tuple[tuple[int, Kind], ...]:
        return tuple(enumerate(self.options))

    def rebuilt(self, inside: Iterable[Kind]) -> Kind:
        return union(inside)


@dataclass(frozen=True)
class OneOf(Kind):
    """An instance of one of several classes of the user's: what it holds depends on which."""

    options: tuple[Obj, ...]
    how: ClassVar[str] = "option"
    mutable: ClassVar[bool] = True

    @property
    def by_step(self) -> tuple[tuple[int, Kind], ...]:
        return tuple(enumerate(self.options))

    def rebuilt(self, inside: Iterable[Kind]) -> Kind:
        return one_of(inside)


@dataclass(frozen=True)
class Iterable_(Kind):
    """A lazy sequence (range, zip, enumerate, reversed, dict views) of items of one kind.

    A range has a length and is `indexed`; others can be gone through once.
    """

    item: Kind
    indexed: bool = False
    how: ClassVar[str] = "item"

    @property
    def by_step(self) -> tuple[tuple[Any, Kind], ...]:
        return ((EACH, self.item),)

    @property
    def rest(self) -> Kind:
        return self.item

    def rebuilt(self, inside: Iterable[Kind]) -> Iterable_:
        return replace(self, item=next(iter(inside)))


# Dicts, whether or not their keys are known, and what Python itself has `[]` for, to be written.
AnyDict = Dict | OpenDict
BuiltIn = List | AnyDict

UNKNOWN = Unknown()
UNBOUND = Unbound()
NONE = NoneKind()
FLOAT = Num("float")
INT = Num("int")
BOOL = Num("bool")
REALS = ("float16", "float32", "float64", "longdouble", "float128")
_AS_COMPLEX: dict[Any, str] = {"float32": "complex64", "float64": "complex128"}
_LONGEST = 64
_COMPLEX = ("complex64", "complex128", "clongdouble", "complex256")


def is_float_dtype(dtype: str) -> bool:
    """Say whether arrays of a dtype carry derivatives."""
    return dtype in REALS or dtype in _COMPLEX


def is_complex(kind: Kind) -> bool:
    """Say whether a number or array is complex."""
    if isinstance(kind, Num):
        return kind.type == "complex"
    if isinstance(kind, Union):
        return any(is_complex(k) for k in carriers(kind))
    return isinstance(kind, Array) and kind.dtype in _COMPLEX


def is_scalar(kind: Kind) -> bool:
    """Say whether this is a float or complex scalar."""
    return isinstance(kind, Num) and kind.type in ("float", "complex")


def differentiable(kind: Kind) -> bool:
    """Say whether a value of this kind can carry a derivative."""
    if isinstance(kind, Num):
        return kind.type in ("float", "complex") and not kind.const
    if isinstance(kind, Array):
        return is_float_dtype(kind.dtype) and not kind.const
    if isinstance(kind, Union):
        return bool(carriers(kind))
    if isinstance(kind, Obj) and is_enumerated(kind.cls):
        return False
    if kind.structure or kind.mutable:
        # What is empty here may be filled where nobody looks: by an inner function, say.
        return any(map(differentiable, kind.inside)) or is_empty(kind)
    return isinstance(kind, Unknown | Opaque) and kind.cls not in (*GENERATORS, slice)


def names_of(kind: Kind) -> tuple[str, ...]:
    """Return the names by which parts are read: the fields of an object or a named tuple."""
    return kind.steps if isinstance(kind, Obj) else getattr(cls_of(kind), "_fields", ())


def is_empty(kind: Kind) -> bool:
    """Say whether this is a list or a dict into which nothing has been put yet."""
    return isinstance(kind.rest, Unbound) or (isinstance(kind, Dict) and not kind.items)


def leaves(kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of what a value is in the end: `((1.0, None), [x])` has three."""
    for part in kind.inside:
        yield from leaves(part)
    if not kind.structure and not kind.inside:
        yield kind


def together(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds of the parts; of a list that of all its items, which may change places."""
    return kind.inside if kind.rest is None else (kind.rest,)


def mapped(change: Callable[[Kind], Kind], kind: Kind) -> Kind:
    """Return the kind of a structure with other leaves: `mapped(erase_value, kind)`."""
    if kind.structure or kind.inside:
        return kind.over(functools.partial(mapped, change))
    return change(kind)


def paired(left: Kind, right: Kind) -> list[tuple[Kind, Kind]] | None:
    """Return the kinds of the parts of two structures side by side; None if built otherwise.

    They are of one class, with the same steps, be it in another order.
    """
    if not left.structure or type(left) is not type(right) or cls_of(left) is not cls_of(right):
        return None
    if left.steps == right.steps:
        return list(zip(left.inside, right.inside, strict=True))
    if left.rest is not None and right.rest is not None:
        return [(left.rest, right.rest)]
    found = dict(zip(right.steps, right.inside, strict=True))
    if set(left.steps) != found.keys():
        return None
    return [(kind, found[step]) for step, kind in zip(left.steps, left.inside, strict=True)]


def cls_of(kind: Kind | None) -> type | None:
    """Return the class of all values of a kind, or None where it is not one class."""
    if isinstance(kind, Num):
        if kind.dtype is None:
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind.type]
        return None if kind.dtype == "any" else np.dtype(kind.dtype).type
    if isinstance(kind, Array):
        return np.ndarray if kind.namespace == spaces.NUMPY else None
    if isinstance(kind, Tuple):
        return kind.cls or tuple
    if isinstance(kind, Obj):
        return kind.cls
    return next((cls for known, cls in _CLASSES.items() if isinstance(kind, known)), None)


_CLASSES: dict[type, type] = {
    **{Str: str, List: list, Dict: dict, OpenDict: dict, NoneKind: type(None)},
}


def options(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds that a value may have."""
    return kind.options if isinstance(kind, Union) else (kind,)


def carriers(kind: Kind) -> tuple[Kind, ...]:
    """Return those of the kinds a value may have that carry a derivative."""
    return tuple(
        k
        for k in options(kind)
        if differentiable(k) and not (isinstance(k, Num) and k.value is not MISSING)
    )


def is_numeric(kind: Kind) -> bool:
    """Say whether this is a number or an array, perhaps not known which."""
    return all(isinstance(k, Num | Array) for k in options(kind))


def may_be_array(kind: Kind) -> bool:
    """Say whether a value may be an array."""
    return any(isinstance(k, Array) for k in options(kind))


def without_none(kind: Kind) -> Kind:
    """Return the kind of a value in an operation that None does not survive."""
    left = [k for k in options(kind) if not isinstance(k, NoneKind)]
    return _union_of(left) if left and isinstance(kind, Union) else kind


def each(kinds: Iterable[Kind]) -> list[tuple[Kind, ...]]:
    """Return what operands may be together: one kind of each."""
    return list(itertools.product(*map(options, kinds)))


def is_container(kind: Kind) -> bool:
    """Say whether this is a mutable structure, whose cotangent is a shadow."""
    return kind.mutable


def holds_more(kind: Kind) -> bool:
    """Say whether a value may hold several arrays or structures."""
    return kind.structure or kind.mutable or isinstance(kind, Opaque | Union | Unknown)


def reached(kind: Kind) -> frozenset[Any] | None:
    """Return the classes of the mutable structures in a value; None where nothing is known."""
    if isinstance(kind, Unknown):
        return None
    inner = [found for found in map(reached, kind.inside) if found is not None]
    if len(inner) < len(kind.inside):
        return None
    if isinstance(kind, Iterable_):
        return None if is_container(kind.item) else frozenset()
    own = frozenset({cls_of(kind)}) if kind.structure and kind.mutable else frozenset()
    return own.union(*inner)


def holds_complex(kind: Kind) -> bool:
    """Say whether a value of a kind is, or holds, a complex number, as far as is known."""
    return any(isinstance(k, Unknown | Opaque) or is_complex(k) for k in leaves(kind))


def shares_nothing(kind: Kind) -> bool:
    """Say whether values of a kind have no memory that could be written."""
    if isinstance(kind, Array):
        return False
    if isinstance(kind, _NO_MEMORY):
        return True
    if isinstance(kind, Tuple | Union):
        return all(map(shares_nothing, kind.inside))
    return isinstance(kind, Unknown) and kind.cls in (slice, FLAGS)


_NO_MEMORY = (Num, Str, NoneKind, Known, LocalFunction, Choice, Unbound)


def may_hold(kind: Kind, owner: Kind) -> bool:
    """Say whether a value of a kind may be, or hold, a structure such as `owner`."""
    if isinstance(owner, OneOf):
        return any(may_hold(kind, option) for option in owner.options)
    cls = cls_of(owner) if owner.mutable else getattr(owner, "cls", None)
    found = reached(kind)
    return found is None or cls is None or cls in found


def describe(kind: Kind) -> str:
    """Return words for error messages."""
    if isinstance(kind, Num):
        return f"a {kind.type}" if kind.type != "int" else "an int"
    if isinstance(kind, Array):
        return f"a {kind.rank}-d array of {kind.dtype}"
    if isinstance(kind, Tuple):
        return kind.cls.__name__ if kind.cls else f"a tuple of {len(kind.items)}"
    if isinstance(kind, Obj | Opaque):
        return f"an instance of {kind.cls.__name__}"
    if kind.how == "option":
        return " or ".join(map(describe, kind.inside))
    words = {list: "a list", dict: "a dict", type(None): "None", str: "a string"}
    if (word := words.get(cls_of(kind))) is not None:
        return word
    if isinstance(kind, Choice):
        return "one of several functions"
    return getattr(kind, "why", "") or "a value of unknown type"


def join(left: Kind, right: Kind) -> Kind:
    """Return what is known where either kind may reach a point."""
    if left == right or isinstance(right, Unbound):
        return left
    if isinstance(left, Unbound):
        return right
    if isinstance(left, Union) or isinstance(right, Union):
        return union((*options(left), *options(right)))
    if isinstance(left, Num) and isinstance(right, Num):
        return _join_numbers(left, right)
    if isinstance(left, Str) and isinstance(right, Str):
        return Str(MISSING, left.keys if left.keys == right.keys else None)
    if isinstance(left, Array) and isinstance(right, Array):
        return _join_arrays(left, right)
    if isinstance(left, List) and isinstance(right, List):
        length = left.length if left.length == right.length else None
        if left.items is None or right.items is None or length is None:
            return List(join(left.item, right.item), length)
    pairs = paired(left, right)
    # Of a dict whose keys come in another order, the order is not known any more.
    if pairs is not None and (left.steps == right.steps or not isinstance(left, Dict)):
        if isinstance(left, Iterable_) and isinstance(right, Iterable_):
            left = replace(left, indexed=left.indexed and right.indexed)
        if isinstance(left, OpenDict) and isinstance(right, OpenDict):
            left = replace(left, key=join(left.key, right.key))
        return left.rebuilt(itertools.starmap(join, pairs))
    if isinstance(left, Dict | OpenDict) and isinstance(right, Dict | OpenDict):
        return join(opened(left), opened(right))
    elif isinstance(left, Obj) and isinstance(right, Obj):
        apart = set(left.steps) ^ set(right.steps)
        if left.cls is right.cls and apart:
            why = f"{describe(left)} that has the attribute {min(apart)} on one path only"
            return Unknown(why, None, registry.ON_ALL_PATHS)
        return _one_of_objects([left, right])
    elif isinstance(left, Obj | OneOf) and isinstance(right, Obj | OneOf):
        return _one_of_objects([*_objects(left), *_objects(right)])
    elif isinstance(left, Opaque) and isinstance(right, Opaque) and left.cls is right.cls:
        like = join(left.like, right.like)
        return Opaque(left.cls, like) if isinstance(like, Array) else Unknown("an object")
    one, other = _functions(left), _functions(right)
    if one and other:
        return _one_of([*one, *other])
    if type(left) is not type(right):
        return union((left, right))
    return _on_two_paths(left, right)


def _on_two_paths(left: Kind, right: Kind) -> Unknown:
    """Return what is known where two paths meet: nothing; one of them may say why, or both do."""
    for kind in (left, right):
        if isinstance(kind, Unknown) and (kind.error or (kind.instead and not kind.cls)):
            return kind
    advice = registry.ONE_LENGTH if isinstance(left, Tuple) else registry.ONE_KIND
    return Unknown(f"{_phrase(left)} on one path and {_phrase(right)} on another", None, advice)


def classes(kind: Obj | OneOf) -> list[type]:
    """Return the classes that an object may have."""
    return [k.cls for k in _objects(kind)]


def _objects(kind: Obj | OneOf) -> tuple[Obj, ...]:
    return kind.options if isinstance(kind, OneOf) else (kind,)


def one_of(found: Iterable[Kind]) -> Kind:
    """Return what is known of a value that has one of several kinds."""
    result: Kind = UNBOUND
    for kind in found:
        result = join(result, kind)
    return result


def _one_of_objects(found: list[Obj]) -> Kind:
    """Return the kind of one of several objects, each class once."""
    table: dict[type, Obj] = {}
    for kind in found:
        known = table.get(kind.cls)
        joined = kind if known is None else join(known, kind)
        if not isinstance(joined, Obj):
            return joined
        table[kind.cls] = joined
    order = sorted(table.values(), key=lambda k: (k.cls.__qualname__, k.cls.__module__))
    if len(order) == 1:
        return order[0]
    if any(is_enumerated(k.cls) for k in order):
        return _on_two_paths(order[0], order[1])
    return OneOf(tuple(order))


def opened(kind: AnyDict) -> OpenDict:
    """Return the kind of a dict of which the keys are not known any more."""
    if isinstance(kind, OpenDict):
        return kind
    keys = (key_kind(kind_of(key, "", literal=True)) for key in kind.steps)
    return OpenDict(one_of(keys), one_of(map(erase_value, kind.inside)))


def key_kind(kind: Kind) -> Kind:
    """Return the kind of a key that a dict of open keys remembers: no values, no lengths."""
    if isinstance(kind, Num):
        return Num(kind.type, kind.dtype)
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(key_kind, kind.items)), kind.cls)
    return Str() if isinstance(kind, Str) else kind


def list_of(found: list[Kind]) -> List:
    """Return the kind of a list with these items: of each, where they do not share one."""
    item = one_of(found)
    mixed = isinstance(item, Unknown | Union | OneOf)
    mixed = mixed or (isinstance(item, Num) and item.dtype == "any")
    if mixed and len(found) <= _LONGEST:
        return List(item, len(found), tuple(found))
    return List(item, len(found) or None)


_MOST = 4


def union(found: Iterable[Kind]) -> Kind:
    """Return what is known of a value that has one of several kinds; Unknown where too little is.

    Numbers and arrays go together where they have one precision; None goes with those, or with
    a tuple.
    """
    merged: list[Kind] = []
    for kind in found:
        if isinstance(kind, Unbound):
            continue
        for position, other in enumerate(merged):
            objects = isinstance(other, Obj | OneOf) and isinstance(kind, Obj | OneOf)
            if objects or (type(other) is type(kind) and not _apart(other, kind)):
                both = join(other, kind)
                if not isinstance(both, Unknown):
                    merged[position] = both
                    break
        else:
            merged.append(kind)
    if len(merged) > 1 and not _compatible(merged):
        return _on_two_paths(merged[0], merged[1])
    return _union_of(merged) if merged else UNBOUND


def _apart(left: Kind, right: Kind) -> bool:
    """Say whether two kinds of one class are two options: arrays of other ranks or dtypes."""
    if isinstance(left, Array) and isinstance(right, Array):
        return (left.rank, left.dtype, left.namespace) != (right.rank, right.dtype, right.namespace)
    return False


def _union_of(found: list[Kind]) -> Kind:
    return found[0] if len(found) == 1 else Union(tuple(sorted(found, key=_place_in_union)))


def _place_in_union(kind: Kind) -> tuple[int, int, str]:
    if isinstance(kind, Array):
        return 2, kind.rank, kind.dtype
    return (0 if isinstance(kind, NoneKind) else 1), 0, ""


def _compatible(found: list[Kind]) -> bool:
    some = [k for k in found if not isinstance(k, NoneKind)]
    alone = (Tuple, Obj, OneOf)
    if len(found) > _MOST or any(not isinstance(k, (Num, Array, *alone)) for k in some):
        return False
    if any(isinstance(k, alone) for k in some):
        return len(some) == 1
    active = [k for k in some if carriers(k)]
    dtypes = {k.dtype for k in active if isinstance(k, Num | Array)} - {None, "any"}
    spaces = {k.namespace for k in some if isinstance(k, Array)}
    return len({_AS_COMPLEX.get(d, d) for d in dtypes}) <= 1 and len(spaces) <= 1


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
            if same and option.node is known.node and option.applied == known.applied:  # type: ignore[attr-defined]
                wider = option if len(option.links) > len(known.links) else known  # type: ignore[attr-defined]
                found[i] = _with_defaults_of(wider, option, known)  # type: ignore[arg-type]
                break
            if known == option:
                break
        else:
            found.append(option)
    return found[0] if len(found) == 1 else Choice(tuple(found))


def _with_defaults_of(fn: Kind, one: LocalFunction, other: LocalFunction) -> Kind:
    """Return a function with the defaults that it has on both of two paths."""
    if one.defaults == other.defaults:
        return fn
    there = dict(other.defaults)
    defaults = tuple((p, v if there.get(p) == v else "") for p, v in one.defaults)
    return replace(fn, defaults=defaults, lost=tuple(sorted({*one.lost, *other.lost})))  # type: ignore[call-arg]


def _phrase(kind: Kind) -> str:
    return "an unknown value" if isinstance(kind, Unknown) else describe(kind)


def _join_numbers(left: Num, right: Num) -> Num:
    kind = max(left.type, right.type, key=("bool", "int", "float", "complex").index)
    dtype = left.dtype if left.dtype == right.dtype else "any"
    same = left.value is not MISSING and right.value is not MISSING
    same = same and type(left.value) is type(right.value) and left.value == right.value
    dim = left.dim if left.dim == right.dim else None
    value = left.value if same else MISSING
    apart = {left.type, right.type} == {"float", "complex"}
    apart = apart and left.value is MISSING and right.value is MISSING
    either = left.either or right.either or apart
    return Num(kind, dtype, value, dim, left.const and right.const, either)


def _join_arrays(left: Array, right: Array) -> Kind:
    if _apart(left, right):
        return union((left, right))
    dims = tuple(join_dim(a, b) for a, b in zip(left.dims, right.dims, strict=True))
    return Array(left.dtype, dims, left.namespace, left.const and right.const)


def erase_value(kind: Kind) -> Kind:
    """Forget literal values: what a parameter or a variable of a loop may have."""
    if isinstance(kind, Num):
        return kind if hasattr(kind, "lasting") else replace(kind, value=MISSING)
    if isinstance(kind, Str) and not hasattr(kind, "lasting"):
        return Str(MISSING, kind.keys)
    if isinstance(kind, Union):
        return union(map(erase_value, kind.options))
    return kind


# values to kinds


_DEPTH = 24


def kind_of(
    value: Any, path: str, literal: bool = False, around: frozenset[int] = frozenset()
) -> Kind:
    """Return the kind of a value met at `path` (a parameter's name): no lengths, no values.

    `around` are the ids of the structures that it is part of.
    """
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
    space = spaces.space_of(type(value))
    if space is not None:
        if value.dtype.hasobject or value.dtype.fields is not None:
            return Unknown("an array of objects or of records")
        dims = tuple(_dim_of(n, f"{path}.{axis}") for axis, n in enumerate(value.shape))
        return Array(value.dtype.name, dims, space)
    if path.count(".") + path.count("[") > _DEPTH or id(value) in around:
        return Unknown("a structure that is very deep, or contains itself")
    return _kind_of_structure(value, path, literal, around | {id(value)})


def _dim_of(length: int, symbol: str) -> Dim:
    return ONE if length == 1 else Dim(symbol, 0, many=length > 1, none=not length)


def _kind_of_numpy_scalar(value: Any) -> Kind:
    names = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
    kind = names.get(value.dtype.kind)
    return Num(kind, value.dtype.name) if kind else Unknown(f"a NumPy {value.dtype} scalar")


def _kind_of_structure(value: Any, path: str, literal: bool, around: frozenset[int]) -> Kind:
    if isinstance(value, tuple) and not is_function(value):
        names = getattr(type(value), "_fields", None)
        if type(value) is not tuple and names is None:
            return Unknown(an(type(value).__name__))
        items = tuple(kind_of(v, f"{path}[{i}]", literal, around) for i, v in enumerate(value))
        return Tuple(items, type(value) if names is not None else None)
    if type(value) is list:
        found = [kind_of(e, f"{path}[{i}]", literal, around) for i, e in enumerate(value)]
        made = list_of(found)
        numbers = all(isinstance(k, Num | NoneKind | Str) for k in found)
        return List(made.item) if made.items is None or numbers else made
    if type(value) is dict:
        entries = value.items()
        table = Dict(tuple((k, kind_of(v, f"{path}[{k!r}]", literal, around)) for k, v in entries))
        return table if literal else _told_by_keys(table)
    if is_function(value) or isinstance(value, dataclasses.Field):
        return Known(the_same(value))
    if isinstance(value, np.ndarray):
        return Unknown(f"{an(type(value).__name__)}, a subclass of ndarray")
    if is_enumerated(type(value)) or has_fields(type(value)):
        fields = vars(value) if is_enumerated(type(value)) else runtime.attributes(value)
        kinds = tuple((k, kind_of(v, f"{path}.{k}", literal, around)) for k, v in fields.items())
        return Obj(type(value), kinds)
    if (known := registry.objects_of(type(value))) is not None:
        like = kind_of(known.like(value), path)
        if isinstance(like, Array):
            # Lengths have names where a reader finds them by the name of the object.
            own = (
                like if known.of_data else replace(like, dims=tuple(fresh_dim() for _ in like.dims))
            )
            return Opaque(type(value), own)
    return Unknown(an(type(value).__name__), type(value), registry.advice_for(value))


def are_names(keys: Collection[Any]) -> bool:
    """Say whether the keys of a dict are a few words, as a program knows them by name."""
    return len(keys) <= _LONGEST and all(isinstance(key, str) for key in keys)


def _told_by_keys(kind: Dict) -> Dict | OpenDict:
    """Return the kind of a dict that is given.

    Words are names that the program knows. Other keys, and many words, differ from dict to dict:
    one source serves all where the values are of one kind.
    """
    if not kind.items or are_names([key for key, _ in kind.items]):
        return kind
    made = opened(kind)
    return kind if isinstance(made.item, Unknown | Union) else made


has_fields: Callable[[Any], bool] = functools.lru_cache(1024)(runtime.has_fields)


def is_enumerated(cls: type) -> bool:
    """Say whether a class is an Enum: its members are never copied."""
    return issubclass(cls, enum.Enum)
