"""What is built like a structure: the kind of its tangent, and its display of other parts.

tangent_kind(K.Tuple((K.FLOAT, K.INT)))         K.Tuple((K.FLOAT, K.NONE))
read(name("d"), part)                           d["w"]
display(K.Dict((("w", K.FLOAT),)), [node])      {"w": node}
plain_fields(Rates)                             ("birth", "death"), of a dataclass
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
import types
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.known.libraries import of_standard_library
from s2sad.nodes import Node, attribute, clone, constant, subscript, tuple_
from s2sad.stages import sets_plainly


def tangent_kind(kind: Kind) -> Kind:
    """Return the kind of a tangent of a value: None beside what carries no derivative."""
    if kind.structure and not isinstance(kind, K.Iterable_):
        return kind.over(tangent_kind)
    return kind if K.differentiable(kind) or isinstance(kind, K.Unbound) else K.NONE


def read(whole: Node, part: K.Part) -> Node:
    """Return the expression of a part of a structure."""
    if part.how == "field":
        return attribute(clone(whole), part.step)
    return subscript(clone(whole), constant(part.step))


def display(kind: Kind, parts: list[Node]) -> Node:
    """Return the display of a dict, list or tuple such as this one, with other parts."""
    if isinstance(kind, K.Dict):
        return gast.Dict([constant(key) for key in kind.steps], parts)
    return gast.List(parts, gast.Load()) if isinstance(kind, K.List) else tuple_(parts)


def is_few(kind: Kind) -> bool:
    """Return whether a structure is a dict, or an object of a dataclass, with a few known parts.

    The text for one of these can be written out: `{"k": 0.0}`, `type(p)(0.0, 0.0)`.
    """
    if not has_few(kind) or isinstance(kind, K.Dict):
        return has_few(kind)
    if not isinstance(kind, K.Obj) or plain_fields(kind.cls) != kind.steps:
        return False
    return _only_stores(kind.cls) and not any(f.kw_only for f in dataclasses.fields(kind.cls))


def has_few(kind: Kind) -> bool:
    """Say whether a structure is a dict, or an object, with a few known parts."""
    if not 0 < len(kind.inside) <= _FEW or not isinstance(kind, K.Dict | K.Obj):
        return False
    return isinstance(kind, K.Obj) or all(isinstance(key, str | int) for key in kind.steps)


def is_frozen(kind: Kind) -> bool:
    """Say whether the class of an object does more, or less, than setting its attributes."""
    known = K.classes(kind) if isinstance(kind, K.Obj | K.OneOf) else ()
    return not all(map(sets_plainly, known))


def built_like(given: Kind, kind: Kind) -> bool:
    """Say whether a value of one kind is surely a cotangent of one of another kind."""
    if isinstance(given, K.Num) and isinstance(kind, K.Num):
        return given.type == kind.type
    if isinstance(given, K.Array) and isinstance(kind, K.Array):
        return K.same_shape(given.dims, kind.dims) and given.dtype == kind.dtype
    pairs = K.paired(given, kind) if isinstance(given, K.Tuple | K.Dict) else None
    return pairs is not None and all(built_like(*pair) for pair in pairs)


def _only_stores(cls: Any) -> bool:
    """Return whether nothing of a dataclass's own runs while one of its objects is made."""
    hooks = [inspect.getattr_static(cls, word) for word in ("__new__", "__setattr__")]
    plain = [inspect.getattr_static(object, word) for word in ("__new__", "__setattr__")]
    if hooks[0] is not plain[0] or not (hooks[1] is plain[1] or cls.__dataclass_params__.frozen):
        return False
    held = [inspect.getattr_static(cls, f.name, None) for f in dataclasses.fields(cls)]
    return type(cls) in (type, abc.ABCMeta) and not any(isinstance(h, property) for h in held)


_FEW = 6


def plain_fields(cls: Any) -> tuple[str, ...] | None:
    """Return the fields of a dataclass that its constructor only stores, or None."""
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        return None
    made = cls.__dict__.get("__init__")
    every = dataclasses.fields(cls)
    simple = all(f.init for f in every)
    if not is_generated(made) or not simple or hasattr(cls, "__post_init__"):
        return None
    return tuple(f.name for f in every)


_MAKERS = ("__new__", "__init__")


def run_by_making(cls: type) -> list[Any]:
    """Return the user's functions that run where an object of a class is made."""
    found = [inspect.getattr_static(type(cls), "__call__"), *(_static(cls, w) for w in _MAKERS)]
    if dataclasses.is_dataclass(cls) and is_generated(found[-1]):
        found += [_static(cls, w) for w in ("__post_init__", "__setattr__")]
        held = [_static(cls, f.name) for f in dataclasses.fields(cls)]
        found += [h for h in held if hasattr(type(h), "__set__")]
    return [fn for fn in found if not (is_generated(fn) or _is_known(fn))]


def _static(cls: type, word: str) -> Any:
    found = inspect.getattr_static(cls, word, None)
    return found.__func__ if isinstance(found, staticmethod) else found


def is_generated(fn: Any) -> bool:
    """Say whether Python has made a function: those of dataclasses and named tuples."""
    return getattr(getattr(fn, "__code__", None), "co_filename", "") == "<string>"


def _is_known(fn: Any) -> bool:
    """Say whether something is none of the user's functions."""
    plain = fn is None or isinstance(fn, _WRITTEN_IN_C)
    return plain or registry.is_foreign(fn) or of_standard_library(str(fn.__module__))


_WRITTEN_IN_C = (
    *(types.WrapperDescriptorType, types.BuiltinFunctionType, types.MethodDescriptorType),
    *(types.MemberDescriptorType, types.GetSetDescriptorType),
)
