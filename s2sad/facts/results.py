"""What operations, calls and reads give: kinds from kinds, by NumPy's own rules or by samples."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import logging
import operator
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.facts.by_content import decided_by_content
from s2sad.facts.helpers import helper_kind
from s2sad.facts.lengths import inhabited, own_lengths, renewed, shifted_length, without_some
from s2sad.facts.members import (
    copied_plainly,
    only_made,
)
from s2sad.facts.open_words import kind_by_words
from s2sad.facts.sampled import kills, two_runs
from s2sad.facts.value_kinds import given_by, is_value
from s2sad.kinds import MISSING, Kind
from s2sad.known import spaces
from s2sad.known.built import plain_fields
from s2sad.known.lifted import lifted, lowered, namespace_given, space_among
from s2sad.known.mixed import alternatives, each_choice, is_one_of, real_or_complex
from s2sad.known.open_dicts import keys_of
from s2sad.known.samples import Sampler, fitting, no_function, stacked
from s2sad.known.signature import by_position

OPERATORS: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
}

_SAFE_BUILTINS: frozenset[Any] = frozenset(
    {abs, min, max, sum, round, divmod, pow, float, int, bool, complex, str, sorted, hash, repr}
)
_LAZY: frozenset[Any] = frozenset({range, enumerate, zip, reversed, map, filter})


def shaped_kind(owner: Kind, shape: list[Kind]) -> Kind:
    """Return the kind of an array given a new shape, as far as the shape's items are known."""
    if len(shape) == 1 and isinstance(shape[0], K.Tuple):
        shape = list(shape[0].items)
    dtype = getattr(owner, "dtype", None) or "float64"
    if not isinstance(owner, K.Array | K.Num) or dtype == "any":
        return K.UNKNOWN
    dims = []
    for item in shape:
        if not isinstance(item, K.Num) or item.type != "int":
            return K.UNKNOWN
        if item.value is not MISSING and item.value >= 0:
            dims.append(K.Dim(f"={item.value}", 0, item.value != 1))
        elif item.value is MISSING and item.dim is not None:
            dims.append(item.dim)
        else:
            dims.append(K.fresh_dim())
    return K.Array(dtype, tuple(dims), space_among([owner]))


def _unbroadcast_kind(owner: Kind, shape: Kind) -> Kind:
    """Return the kind of a sum that has a given shape: of none it is a number."""
    kind = shaped_kind(owner, [shape]) if isinstance(shape, K.Tuple) else K.UNKNOWN
    if not isinstance(kind, K.Array) or kind.rank:
        return kind
    return owner if isinstance(owner, K.Num) else _array_or_scalar(kind.dtype or "float64", ())


def known_call(fn: Any, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    """Return the kind of a library call, or None where the function is the user's."""
    told = namespace_given(fn, args, keywords) or helper_kind(fn, args)
    if told is not None:
        return told
    space = spaces.home(fn)
    if space != spaces.NUMPY:
        here = registry.same_in_numpy(fn, len(args))
        if here is not fn and spaces.space_of_result(fn) == spaces.NUMPY:
            return known_call(here, [*map(lowered, args)], keywords)
        if here is not fn:
            made = known_call(here, args, keywords)
            return made if made is None else lifted(made, space)
    if registry.rule_for(fn) is not None and any(map(is_one_of, (*args, *keywords.values()))):
        found = [_known_call(fn, *chosen) for chosen in each_choice(args, keywords)]
        if any(k is None for k in found):
            return None
        return K.union(k for one in found if one is not None for k in K.options(one))
    return _known_call(fn, args, keywords)


_GIVES = {float: K.FLOAT, bool: K.BOOL, int: K.INT, ord: K.INT, hash: K.INT, len: K.INT}


def _known_call(fn: Any, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    if fn is len and len(args) == 1:
        return length_kind(args[0])
    if len(args) == 1 and isinstance(args[0], K.Str | K.Unknown) and _hashable(fn):
        if fn in _GIVES:  # whatever it is that is made a number
            return _GIVES[fn]
    if fn in _SEQUENCES:
        return _sequence_kind(fn, args)
    if fn is np.ndim and len(args) == 1 and isinstance(args[0], K.Num | K.Array):
        return K.Num("int", None, args[0].rank if isinstance(args[0], K.Array) else 0)
    if _hashable(fn) and fn in _LAZY:
        return _lazy_kind(fn, args)
    if fn is np.ndindex and not keywords:
        shape = args[0].items if len(args) == 1 and isinstance(args[0], K.Tuple) else tuple(args)
        if all(isinstance(k, K.Num) and k.type == "int" for k in shape):
            return K.Iterable_(K.Tuple((K.INT,) * len(shape)))
    if getattr(fn, "__module__", "") == "itertools":
        return _combined_kind(fn, args, keywords)
    if fn in (max, min, sorted) and (keywords.keys() & {"key", "default"} or fn is sorted):
        return _chosen_kind(fn, args, keywords)
    if fn in (max, min) and args:
        rows = len(args) == 1 and isinstance(args[0], K.Array)
        if rows and args[0].rank > 1:  # type: ignore[attr-defined]
            return K.Unknown("a row of an array, chosen by max or min")
        if not rows:
            return _one_of(args)
    if fn in (isinstance, issubclass, callable, any, all, hasattr):
        return K.BOOL
    if fn is print:
        return K.NONE
    if fn is slice:
        return K.Unknown("a slice", slice)
    if fn is logging.getLogger:
        return K.Unknown("a logger", logging.Logger)
    if fn is type and len(args) == 1 and isinstance(args[0], K.Obj):
        return K.Known(registry.stood_for(args[0].cls))
    if fn == dict.fromkeys and len(args) == 2 and not keywords:
        return K.OpenDict(K.key_kind(element_kind(args[0])), K.erase_value(args[1]))
    if fn is sum and len(args) == 1 and isinstance(args[0], K.Iterable_):
        if isinstance(args[0].item, K.Num):
            args = [K.List(args[0].item)]
    if fn in (copy.copy, copy.deepcopy) and len(args) == 1 and copied_plainly(args[0]):
        return args[0]
    if fn is dataclasses.replace and len(args) == 1 and isinstance(args[0], K.Obj):
        return replaced_kind(args[0], keywords)
    if registry.wants_arrays(fn):
        args = [_as_floats(a) for a in args]
    if fn is np.matmul:
        return matmul_kind(args[0], args[1])
    if fn is np.dot and not keywords and len(args) == 2:
        return dot_kind(args[0], args[1])
    told = without_some(fn, args, keywords)
    if told is not None:
        return told
    lengths = [*args[1:], *(keywords[n] for n in ("shape",) if n in keywords)]
    if fn in (np.reshape, np.broadcast_to) and len(lengths) == 1:
        return shaped_kind(args[0], lengths)
    if fn is runtime.unbroadcast and len(args) == 2:
        return _unbroadcast_kind(args[0], args[1])
    if fn is runtime.last_writes and len(args) == 2 and isinstance(args[0], K.Array):
        part = array_item(args[0], args[1])
        return dataclasses.replace(part, dtype="bool") if isinstance(part, K.Array) else K.UNKNOWN
    if fn is sum and args and isinstance(getattr(args[0], "item", None), K.Unbound):
        return K.UNBOUND
    if fn is sum and args and isinstance(args[0], K.Iterable_):
        args = [args[0] if K.differentiable(args[0].item) else K.List(args[0].item), *args[1:]]
    rule = registry.rule_for(fn)
    scalar = isinstance(fn, type) and issubclass(fn, np.integer | np.bool_)
    if rule is not None or scalar or (_hashable(fn) and fn in _SAFE_BUILTINS):
        if rule is not None and rule.partials is not None and not keywords:
            return elementwise_kind(fn, tuple(args))
        made = sample_call(fn, tuple(args), tuple(sorted(keywords.items())))
        return real_or_complex(made) if decided_by_content(fn, args) else made
    if isinstance(fn, type) and issubclass(fn, tuple) and hasattr(fn, "_fields"):
        given = {**getattr(fn, "_field_defaults", {}), **keywords}
        order = [*args, *(given[f] for f in fn._fields[len(args) :] if f in given)]
        order = [k if isinstance(k, Kind) else K.kind_of(k, "", literal=True) for k in order]
        if len(order) == len(fn._fields):
            return K.Tuple(tuple(order), fn)
    if fn is runtime.object_of:
        parts = tuple((n, K.erase_value(k)) for n, k in keywords.items())
        return K.Obj(args[0].value, parts) if isinstance(args[0], K.Known) else K.UNKNOWN
    if not args and not keywords and only_made(fn):
        return K.Obj(fn, ())
    fields = plain_fields(fn)
    if fields is not None:
        return _dataclass_kind(fn, fields, args, keywords)
    return None


def _as_floats(kind: Kind) -> Kind:
    """Return the kind of the array that NumPy makes of a list of floats; a shape stays one."""
    made = stacked(kind) if isinstance(kind, K.List | K.Tuple) else None
    return made if made is not None and K.is_float_dtype(made.dtype) else kind


def _dataclass_kind(
    cls: type, fields: tuple[str, ...], args: list[Kind], keywords: dict[str, Kind]
) -> Kind | None:
    """Return the kind of a new dataclass; what is not given has its default."""
    positional = by_position(cls)
    given = {**dict(zip(positional, args, strict=False)), **keywords}
    for f in dataclasses.fields(cls):
        if f.name not in given and f.default is not dataclasses.MISSING:
            given[f.name] = K.kind_of(f.default, f.name, literal=True)
    if set(given) != set(fields) or len(args) > len(positional):
        return None
    return K.Obj(cls, tuple((f, K.erase_value(given[f])) for f in fields))


def _hashable(fn: Any) -> bool:
    return getattr(type(fn), "__hash__", None) is not None


_SEQUENCES = (list, tuple)
_SOME = K.Unknown("a tuple whose length s2sad does not know", None, registry.LISTED)


def _chosen_kind(fn: Any, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
    """Return the kind of what max, min or sorted pick from numbers by a key."""
    one = len(args) == 1
    item = element_kind(args[0]) if one else item_kind(K.Tuple(tuple(args)), MISSING)
    lazy = one and isinstance(args[0], K.Iterable_) and K.differentiable(item)
    if fn is sorted and not lazy and not K.differentiable(item):
        return K.List(K.erase_value(item)) if shown_in_order(item) else K.UNKNOWN
    plain = not K.differentiable(item) and shown_in_order(item)
    if not (isinstance(item, K.Num) or plain) or lazy:
        return K.UNKNOWN
    item = K.erase_value(item)
    if fn is sorted:
        return K.List(item)
    return K.join(item, keywords["default"]) if "default" in keywords else item


def shown_in_order(kind: Kind) -> bool:
    """Say whether values of a kind are plain ones, which Python sorts."""
    if isinstance(kind, K.Tuple):
        return all(map(shown_in_order, kind.items))
    return isinstance(kind, K.Num | K.Str | K.Unbound)


def _one_of(args: list[Kind]) -> Kind:
    """Return the kind of one of several values, or of one of those in a sequence.

    Which one it is depends on their values, and so does the type: of 1 and x it may be an int.
    """
    found: Kind = K.UNBOUND
    for kind in args:
        found = K.join(found, K.erase_value(element_kind(kind) if len(args) == 1 else kind))
    if isinstance(found, K.Array) and found.rank:
        return K.Unknown("one of several arrays, chosen by max or min")
    return found if K.is_numeric(found) or isinstance(found, K.Str | K.Unbound) else K.UNKNOWN


def _sequence_kind(fn: Any, args: list[Kind]) -> Kind:
    if not args:
        return K.List(K.UNBOUND) if fn is list else K.Tuple(())
    given = args[0]
    if isinstance(given, K.Union):
        return K.UNKNOWN
    if fn is tuple:
        found = listed(given) if isinstance(given, K.List) else None
        if isinstance(given, K.Tuple):
            found = list(given.items)
        return _SOME if found is None else K.Tuple(tuple(found))
    if isinstance(given, K.Tuple):
        return K.list_of([K.erase_value(k) for k in given.items])
    if isinstance(given, K.List) and given.items is not None:
        return given
    return K.List(K.erase_value(element_kind(args[0])))


def _lazy_kind(fn: Any, args: list[Kind]) -> Kind:
    if not args:
        return K.UNKNOWN
    if fn is range:
        return K.Iterable_(K.INT, indexed=True)
    if fn is enumerate:
        return K.Iterable_(K.Tuple((K.INT, element_kind(args[0]))))
    if fn is zip:
        return K.Iterable_(K.Tuple(tuple(element_kind(a) for a in args)))
    if fn is reversed:
        return K.Iterable_(element_kind(args[0]))
    return K.UNKNOWN


def _combined_kind(fn: Any, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    """Return the kind of what itertools makes of its arguments, where it gives tuples of them."""
    each = [element_kind(a) for a in args]
    if fn is itertools.product and keywords.keys() <= {"repeat"}:
        times = getattr(keywords.get("repeat", K.Num("int", None, 1)), "value", MISSING)
        return K.Iterable_(K.Tuple(tuple(each) * times)) if type(times) is int else None
    if fn is itertools.pairwise and len(each) == 1 and not keywords:
        return K.Iterable_(K.Tuple((each[0], each[0])))
    if fn is itertools.chain and each and not keywords:
        return K.Iterable_(functools.reduce(K.join, map(K.erase_value, each)))
    if fn in _CHOOSING and len(args) == 2 and not keywords:
        count = getattr(args[1], "value", MISSING)
        if type(count) is int:
            return K.Iterable_(K.Tuple((each[0],) * count))
    return None


_CHOOSING = (
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
)


def replaced_kind(owner: Kind, keywords: dict[str, Kind]) -> Kind:
    """Return the kind of a named tuple or dataclass in which some fields are replaced."""
    names = K.names_of(owner)
    plain = isinstance(owner, K.Tuple) and bool(names)
    if isinstance(owner, K.Obj):
        plain = plain_fields(owner.cls) == names
    if not plain or not keywords.keys() <= set(names):
        return K.UNKNOWN
    inside = map(keywords.get, names, owner.inside)
    return owner.rebuilt(map(K.erase_value, inside) if isinstance(owner, K.Obj) else inside)


def item_kind(owner: Kind, index: Any) -> Kind:
    """Return the kind of one item of a sequence; index may be MISSING."""
    if isinstance(owner, K.Tuple):
        if isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
            return owner.items[index]
        return K.one_of(owner.items)
    if isinstance(owner, K.List) and owner.items is not None and isinstance(index, int):
        return item_kind(K.Tuple(owner.items), index)
    return element_kind(owner)


def element_kind(kind: Kind) -> Kind:
    """Return the kind of what a loop over a value binds."""
    if isinstance(kind, K.Unbound):
        return kind  # the result of a recursion that is being worked out
    if isinstance(kind, K.Union):
        arrays = [k for k in kind.options if not isinstance(k, K.Num | K.NoneKind)]
        return K.union(map(element_kind, arrays)) if arrays else K.UNKNOWN
    if isinstance(kind, K.Array):
        if kind.rank == 0:
            return K.UNKNOWN
        return array_item(kind, K.Num("int", None, 0))
    if isinstance(kind, K.List | K.Iterable_):
        return own_lengths(kind.item)
    if isinstance(kind, K.Tuple):
        return item_kind(kind, MISSING)
    if isinstance(kind, K.OpenDict):
        return kind.key
    if isinstance(kind, K.Known) and enumerated(kind.value):
        return K.one_of(K.kind_of(member, "") for member in kind.value)
    if isinstance(kind, K.Dict):
        return keys_of(kind)
    if isinstance(kind, K.Str):
        return K.Str()
    if isinstance(kind, K.Unknown) and kind.cls is None:
        return kind
    return K.UNKNOWN


def enumerated(value: Any) -> bool:
    """Say whether an object is an Enum: a class whose members a loop goes through."""
    return isinstance(value, type) and K.is_enumerated(value)


def length_kind(kind: Kind) -> Kind:
    """Return the kind of len(value)."""
    if isinstance(kind, K.Array) and kind.rank:
        return K.Num("int", None, MISSING, kind.dims[0])
    if isinstance(kind, K.Tuple):
        return K.Num("int", None, len(kind.items))
    return K.INT


def tuple_slice(owner: K.Tuple, part: Any) -> Kind:
    """Return the kind of a slice of a tuple, where its bounds are known."""
    values: list[int | None] = []
    for kind in (part.start, part.stop, part.step):
        if isinstance(kind, K.NoneKind):
            values.append(None)
        elif isinstance(kind, K.Num) and isinstance(kind.value, int):
            values.append(kind.value)
        else:
            return K.UNKNOWN
    return K.Tuple(owner.items[slice(*values)])


def _freeze(index: Any) -> Any:
    if isinstance(index, slice):
        return ("slice", index.start, index.stop, index.step)
    if isinstance(index, tuple):
        return ("tuple", *map(_freeze, index))
    if isinstance(index, K.Tuple) and any(map(K.is_slice, index.items)):
        return ("tuple", *map(_freeze, index.items))
    return ("slice", K.INT, K.INT, K.NONE) if K.is_slice(index) else index


def _array_item(owner: K.Array, frozen: Any) -> Kind:
    if owner.namespace != spaces.NUMPY:
        there = _map_frozen(lowered, frozen)
        return lifted(
            _array_item(dataclasses.replace(owner, namespace=spaces.NUMPY), there), owner.namespace
        )
    return _item_here(owner, frozen)


def _map_frozen(change: Callable[[Kind], Kind], frozen: Any) -> Any:
    if isinstance(frozen, tuple):
        return (frozen[0], *(_map_frozen(change, part) for part in frozen[1:]))
    return change(frozen) if isinstance(frozen, Kind) else frozen


@functools.lru_cache(4096)
def _item_here(owner: K.Array, frozen: Any) -> Kind:
    frozen = _near(_masks_as_long(owner, frozen))
    flat = list(_flat(frozen))

    def run(sampler: Sampler, content: float) -> Any:
        array = sampler.sample(owner, content)
        return array[_sample_index(frozen, sampler)]

    kind = two_runs(run, (owner, *flat))
    if isinstance(kind, K.Array) and _unsure(frozen):
        return K.Array(kind.dtype, tuple(K.fresh_dim() for _ in kind.dims))
    return kind


def _near(frozen: Any) -> Any:
    """Give elements far from the ends for one at an end: samples are short, and elements alike."""
    if isinstance(frozen, tuple):
        return ("tuple", *map(_near, frozen[1:])) if frozen[0] == "tuple" else frozen
    if isinstance(frozen, K.Num) and frozen.type == "int" and frozen.value is not MISSING:
        return dataclasses.replace(frozen, value=0 if frozen.value >= 0 else -1)
    return frozen


def _masks_as_long(owner: K.Array, frozen: Any) -> Any:
    """A mask is as long as the axes that it picks from: give it their lengths."""
    parts = frozen[1:] if isinstance(frozen, tuple) and frozen[0] == "tuple" else (frozen,)
    taken = [_axes(p) for p in parts]
    axis, out = 0, []
    for i, part in enumerate(parts):
        if part == K.Known(Ellipsis):
            axis = owner.rank - sum(taken[i + 1 :])
        elif isinstance(part, K.Array) and part.dtype == "bool" and axis + part.rank <= owner.rank:
            part = K.Array("bool", owner.dims[axis : axis + part.rank], part.namespace)
        axis += taken[i]
        out.append(part)
    return out[0] if parts == (frozen,) else ("tuple", *out)


def _axes(part: Any) -> int:
    """Return how many axes of an array a part of an index takes up."""
    if isinstance(part, K.Array) and part.dtype == "bool":
        return part.rank
    return 0 if isinstance(part, K.NoneKind) or part == K.Known(Ellipsis) else 1


def _unsure(frozen: Any) -> bool:
    """Say whether a sample may mislead: slices by variables, or beyond the samples' lengths."""
    if not isinstance(frozen, tuple):
        return isinstance(frozen, K.Array) and frozen.dtype == "bool"
    if frozen[0] == "slice":
        return any(map(_unsure_bound, frozen[1:]))
    return any(_unsure(p) for p in frozen[1:])


def _unsure_bound(kind: Any) -> bool:
    if isinstance(kind, K.Num):
        return kind.value is MISSING or abs(int(kind.value)) > 3
    return isinstance(kind, K.Array)


def _flat(frozen: Any) -> Any:
    if isinstance(frozen, tuple):
        for part in frozen[1:]:
            yield from _flat(part)
    elif isinstance(frozen, Kind):
        yield frozen


def _sample_index(frozen: Any, sampler: Sampler) -> Any:
    if isinstance(frozen, tuple):
        parts = [_sample_index(p, sampler) for p in frozen[1:]]
        if frozen[0] != "slice":
            return tuple(parts)
        start, stop, step = parts
        return slice(start, stop, 1 if step == 0 else step)  # no slice goes by steps of 0
    if frozen == K.Known(Ellipsis):
        return Ellipsis
    if isinstance(frozen, K.Num) and frozen.type == "int" and frozen.value is MISSING:
        return sampler.run
    return sampler.sample(frozen, 0.7)


def array_item(owner: K.Array, index: Any) -> Kind:
    """Return the kind of `array[index]`."""
    frozen = _freeze(index)
    return renewed(_array_item(inhabited(owner), frozen), (owner, *_flat(frozen)))


def _is_class(kind: Kind) -> bool:
    """Say whether a value is a class, or `int | float` of several, as isinstance takes it."""
    return isinstance(kind, K.Known) and isinstance(kind.value, type | types.UnionType)


def _scalar_value(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.value is not MISSING


def binary_kind(op: type, left: Kind, right: Kind) -> Kind:
    """Return the kind of `left op right`."""
    if is_one_of(left) or is_one_of(right):
        pairs = itertools.product(alternatives(left), alternatives(right))
        return K.union(k for pair in pairs for k in K.options(binary_kind(op, *pair)))
    fn = OPERATORS[op]
    if op is gast.MatMult:
        return matmul_kind(left, right)
    if is_value(left) or is_value(right):
        return given_by(fn, (left, right))
    classes = [k for k in (left, right) if _is_class(k)]
    if op is gast.BitOr and classes and all(_is_class(k) or k == K.NONE for k in (left, right)):
        return K.Known(fn(*(getattr(k, "value", None) for k in (left, right))))
    if _scalar_value(left) and _scalar_value(right):
        try:
            return K.kind_of(fn(left.value, right.value), "", literal=True)  # type: ignore[attr-defined]
        except (ArithmeticError, TypeError, ValueError):
            return binary_kind(op, K.erase_value(left), K.erase_value(right))
    numeric = (K.Num, K.Array)
    if isinstance(left, numeric) and isinstance(right, numeric):
        if op is gast.Pow and _int_power(left, right):
            return K.FLOAT if left.type == "float" else K.INT  # type: ignore[union-attr]
        if isinstance(left, K.Array) or isinstance(right, K.Array):
            return elementwise_kind(fn, (left, right))
        return scalar_kind(fn, (left, right))
    sequences, plain = (K.List, K.Tuple), K.Num
    for one, other in ((left, right), (right, left)):
        array = isinstance(other, K.Array) or (isinstance(other, plain) and other.dtype is not None)
        if array and isinstance(one, sequences):
            made = stacked(one)
            if made is None:
                return K.UNKNOWN
            return binary_kind(op, made if one is left else left, right if one is left else made)
    if isinstance(left, K.List) and op is gast.Add and isinstance(right, K.List):
        parts = [listed(left), listed(right)]
        if parts[0] is not None and parts[1] is not None:
            return K.list_of(parts[0] + parts[1])
        return K.List(K.join(left.item, right.item))
    if op is gast.Mult:
        for one, other in ((left, right), (right, left)):
            times = isinstance(other, K.Num) and other.type in ("int", "bool")
            if isinstance(one, K.List) and times:
                return K.List(one.item)
    if isinstance(left, K.Tuple) and isinstance(right, K.Tuple) and op is gast.Add:
        return K.Tuple(left.items + right.items)
    return _text_kind(op, left, right)


def _text_kind(op: type, left: Kind, right: Kind) -> Kind:
    """Return the kind of an operation that may be one on strings: joined, formatted, repeated."""
    times = [isinstance(k, K.Num) and k.type in ("int", "bool") for k in (left, right)]
    texts = [isinstance(k, K.Str) for k in (left, right)]
    if op is gast.Mult and ((texts[0] and times[1]) or (times[0] and texts[1])):
        return K.Str()
    joined = (op is gast.Mod and texts[0]) or (op is gast.Add and all(texts))
    return K.Str() if joined else K.UNKNOWN


def scalar_kind(fn: Any, operands: tuple[Kind, ...]) -> Kind:
    """Return the kind of an operation on numbers: those that may be Python's may make Python's."""
    length = shifted_length(fn, operands)
    if length is not None:
        return K.Num("int", None, MISSING, length)
    kind = sample_call(fn, operands, ())
    dtypes = {k.dtype for k in operands if isinstance(k, K.Num)}
    if isinstance(kind, K.Num) and "any" in dtypes and dtypes <= {None, "any"}:
        return dataclasses.replace(kind, dtype="any")
    return kind


def listed(kind: K.List) -> list[Kind] | None:
    """Return the kinds of a list's items, where its length is known."""
    if kind.items is not None:
        return list(kind.items)
    if kind.length is None or kind.length > 16:
        return None
    return [own_lengths(kind.item) for _ in range(kind.length)]


def _int_power(left: Kind, right: Kind) -> bool:
    return (
        isinstance(left, K.Num)
        and isinstance(right, K.Num)
        and left.dtype is None
        and right.dtype is None
        and right.type == "int"
        and left.type in ("int", "float")
        and right.value is MISSING
    )


@functools.lru_cache(4096)
def elementwise_kind(fn: Any, args: tuple[Kind, ...]) -> Kind:
    """Return the kind of an elementwise function: lengths by broadcasting, dtype by a sample."""
    if any(not isinstance(a, K.Num | K.Array | K.NoneKind) for a in args):
        return sample_call(fn, args, ())
    arrays = [a for a in args if isinstance(a, K.Array)]
    if not arrays:
        return sample_call(fn, args, ())
    space = space_among(arrays)
    if space != spaces.NUMPY:
        return lifted(elementwise_kind(fn, tuple(map(lowered, args))), space)
    small = tuple(
        K.Array(a.dtype, (K.ONE,) * a.rank) if isinstance(a, K.Array) else a for a in args
    )
    kind = sample_call(fn, small, ())
    if not isinstance(kind, K.Array):
        return kind
    dims: tuple[K.Dim, ...] = ()
    for a in arrays:
        dims = K.broadcast(dims, a.dims)
    if len(dims) != kind.rank:
        return K.UNKNOWN
    return K.Array(kind.dtype, dims, arrays[0].namespace)


def matmul_kind(left: Kind, right: Kind) -> Kind:
    """Return the kind of `left @ right`, of which one may be a list."""
    left, right = (stacked(k) or k if isinstance(k, K.List | K.Tuple) else k for k in (left, right))
    if not (isinstance(left, K.Array) and isinstance(right, K.Array)):
        return K.UNKNOWN
    if left.rank == 0 or right.rank == 0:
        return K.UNKNOWN
    dtype = np.result_type(left.dtype, right.dtype).name
    batch = K.broadcast(left.dims[:-2], right.dims[:-2])
    dims = batch + left.dims[-2:-1] + (right.dims[-1:] if right.rank > 1 else ())
    return lifted(_array_or_scalar(dtype, dims), space_among((left, right)))


def _array_or_scalar(dtype: str, dims: tuple[K.Dim, ...]) -> Kind:
    if dims:
        return K.Array(dtype, dims)
    names = {"f": "float", "c": "complex", "i": "int", "u": "int", "b": "bool"}
    return K.Num(names[np.dtype(dtype).kind], dtype)


def dot_kind(left: Kind, right: Kind) -> Kind:
    """Return the kind of np.dot, of which either may be a list."""
    left, right = (stacked(k) or k if isinstance(k, K.List | K.Tuple) else k for k in (left, right))
    if isinstance(left, K.List | K.Tuple) or isinstance(right, K.List | K.Tuple):
        return K.UNKNOWN
    if not (isinstance(left, K.Array) and isinstance(right, K.Array)):
        return elementwise_kind(operator.mul, (left, right))
    if left.rank == 0 or right.rank == 0:
        return elementwise_kind(np.multiply, (left, right))
    dtype = np.result_type(left.dtype, right.dtype).name
    dims = left.dims[:-1] + (right.dims[:-2] + right.dims[-1:] if right.rank > 1 else ())
    return lifted(_array_or_scalar(dtype, dims), space_among((left, right)))


def sample_call(fn: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    """Return the kind of a pure library function's result, by running it on small samples.

    Those of arrays on a device are made of NumPy's, where NumPy has such a function.
    """
    space = space_among((*args, *(k for _, k in keywords)))
    if space != spaces.NUMPY and spaces.home(fn) == spaces.NUMPY:
        named = tuple((n, lowered(k)) for n, k in keywords)
        return lifted(sample_call(fn, tuple(map(lowered, args)), named), space)
    rule = registry.rule_for(fn)
    if rule is not None and rule.calls:
        args = tuple(map(no_function, args))
        keywords = tuple((n, no_function(k)) for n, k in keywords)
    return renewed(_sample_call(fn, args, keywords), (*args, *(k for _, k in keywords)))


@functools.lru_cache(4096)
def _sample_call(fn: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]) -> Kind:
    rule = registry.rule_for(fn)

    stand_in = None if rule is None else rule.result
    words = stand_in is not None and registry.is_ours(stand_in)

    def sample(sampler: Sampler, kind: Kind, content: float) -> Any:
        """Return a value; to a stand-in of s2sad's own a word that is not known is empty."""
        return "" if words and kind == K.Str() else sampler.sample(kind, content)

    def run(sampler: Sampler, content: float) -> Any:
        values = [sample(sampler, a, content) for a in args]
        named = {k: sample(sampler, v, content) for k, v in keywords}
        if rule is not None and rule.derivative_of is not None:
            values = fitting(rule, values, named)
        elif rule is not None and rule.samples is not None:
            for n in registry.positional_names(rule.pullback, 2)[len(values) :]:
                if n in named:
                    values.append(named.pop(n))
            values = list(rule.samples(*values))
        elif kills(fn, [*values, *named.values()]):
            raise ValueError("no sample")
        if stand_in is None:
            return fn(*values, **named)
        try:
            return stand_in(*values, **named)
        except (AttributeError, TypeError):  # it is written for arrays
            return stand_in(*map(_as_array, values), **named)

    by_words = None if stand_in is not None else kind_by_words(_sample_call, fn, args, keywords)
    if by_words is not None:
        return by_words
    kind = two_runs(run, (*args, *(v for _, v in keywords)))
    if kind == K.UNKNOWN and not keywords and any(map(_scalar_value, args)):
        # A variable of a loop has a known value in the first round only, where none may exist.
        erased = tuple(map(K.erase_value, args))
        if erased != args and all(isinstance(a, K.Num) for a in args):
            return sample_call(fn, erased, ())
    return kind


def _as_array(value: Any) -> Any:
    """Return a list of numbers as the array that a function makes of it."""
    return np.asarray(value) if isinstance(value, list) and value else value


def sample_method(
    owner: Kind, attr: str, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]
) -> Kind:
    """Return the kind of an array method's result."""
    if any(map(is_one_of, (*args, *(k for _, k in keywords)))):
        found = [
            sample_method(owner, attr, tuple(chosen), tuple(named.items()))
            for chosen, named in each_choice(args, dict(keywords))
        ]
        return K.union(k for one in found for k in K.options(one))
    shorter = (
        without_some(np.squeeze, (owner, *args), dict(keywords)) if attr == "squeeze" else None
    )
    if shorter is not None:
        return shorter
    if attr == "get":  # what is on the device comes to the host
        return sample_call(np.array, (lowered(owner),), ())
    return sample_call(_method_caller(attr), (owner, *args), keywords)


@functools.cache
def _method_caller(attr: str) -> Callable[..., Any]:
    def call(self: Any, *values: Any, **settings: Any) -> Any:
        return getattr(self, attr)(*values, **settings)

    call.__name__ = attr
    return call
