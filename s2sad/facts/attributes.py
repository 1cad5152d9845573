"""Kinds of attributes: of values, of what a class has, of what a callable brings along."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.members import class_attribute, outcome_attribute
from s2sad.facts.passing import handed_back
from s2sad.facts.results import sample_call
from s2sad.facts.scope import Scope, are_names, is_known_method
from s2sad.facts.value_kinds import is_value, value_attribute
from s2sad.kinds import MISSING, Kind
from s2sad.known.code import brings


def attribute_kind(scope: Scope, owner: Kind, attr: str) -> Kind:
    """Return the kind of an attribute of a value."""
    if isinstance(owner, K.Known) and inspect.ismodule(owner.value):
        value = scope.held(owner.value, attr)
        return K.UNKNOWN if value is MISSING else scope.kind(value, f"{owner.value!r}.{attr}")
    if isinstance(owner, K.Known) and inspect.isclass(owner.value):
        return _of_class(scope, owner.value, attr)
    if isinstance(owner, K.Known) and isinstance(owner.value, property | functools.cached_property):
        found = getattr(owner.value, attr, None)
        return K.Known(found) if isinstance(found, types.FunctionType) else K.UNKNOWN
    if isinstance(owner, K.Known) and isinstance(owner.value, dataclasses.Field):
        return K.kind_of(getattr(owner.value, attr), attr, literal=True)
    if isinstance(owner, K.Known) and brings(owner.value, attr):
        # As long as nothing else is.
        return handed_back(K.kind_of(getattr(owner.value, attr), "bound"), {})
    if isinstance(owner, K.Known) and registry.held_by(owner.value) is not None:
        method = getattr(owner.value, attr, None)
        return K.Known(method) if is_known_method(owner.value, attr) else K.UNKNOWN
    if isinstance(owner, K.Known) and isinstance(owner.value, np.dtype) and attr == "type":
        return K.Known(owner.value.type)
    if is_value(owner):
        return value_attribute(owner, attr)
    if owner.how == "option":
        return owner.rebuilt(attribute_kind(scope, k, attr) for k in owner.inside)
    if isinstance(owner, K.Array):
        return _array_attribute(owner, attr)
    if isinstance(owner, K.Num):
        if attr in ("real", "imag"):
            real = "float" if owner.type == "complex" else owner.type
            return K.Num(real, owner.dtype if owner.type != "complex" else _real_name(owner.dtype))
        if attr == "dtype" and owner.dtype not in (None, "any"):
            return K.Known(np.dtype(owner.dtype))
        known = {"ndim": K.Num("int", None, 0), "shape": K.Tuple(()), "size": K.INT, "T": owner}
        return known.get(attr, K.UNKNOWN)
    if isinstance(owner, K.Tuple) and owner.cls is not None:
        names = K.names_of(owner)
        if attr in names:
            return owner.items[names.index(attr)]
        if issubclass(owner.cls, registry.Outcome):
            return outcome_attribute(owner.cls, attr)
        by_hidden = getattr(owner.cls, attr, None)
        return K.UNKNOWN if by_hidden is None else K.Unknown(f"the attribute {attr}")
    if isinstance(owner, K.Obj):
        fields = dict(owner.fields)
        if attr == "__class__":
            return K.Known(owner.cls)
        if K.is_enumerated(owner.cls):
            held = fields.get({"value": "_value_", "name": "_name_"}.get(attr, ""), K.UNKNOWN)
            return held if not K.differentiable(held) else K.Unknown(f"the attribute {attr}")
        if attr in fields and not isinstance(getattr(owner.cls, attr, None), property):
            return fields[attr]
        shared = class_attribute(scope, owner, attr)
        if shared is not MISSING:
            return scope.kind(shared, f"{owner.cls!r}.{attr}", are_names(shared))
        return K.Unknown(f"the attribute {attr} of {owner.cls.__name__}")
    return K.UNKNOWN


def _of_class(scope: Scope, cls: type, attr: str) -> Kind:
    """Return the kind of what a class itself has under a name: a function or data."""
    static = scope.member(cls, attr, MISSING)
    if isinstance(static, staticmethod | classmethod | types.FunctionType):
        return K.Known(getattr(cls, attr))
    if isinstance(static, property | functools.cached_property):
        return K.Known(static)
    if static is MISSING or hasattr(type(static), "__get__") or attr.startswith("__"):
        return K.UNKNOWN
    return scope.kind(static, f"{cls!r}.{attr}", are_names(static))


def _real_name(dtype: str | None) -> str | None:
    return {"complex64": "float32", "complex128": "float64", "any": "any"}.get(dtype or "")


def _array_attribute(owner: K.Array, attr: str) -> Kind:
    if attr == "shape":
        return K.Tuple(tuple(_dim_number(d) for d in owner.dims))
    if attr == "T":
        return K.Array(owner.dtype, owner.dims[::-1], owner.namespace)
    if attr == "ndim":
        return K.Num("int", None, owner.rank)
    if attr in ("size", "nbytes", "itemsize"):
        if attr == "size" and owner.rank == 1:
            return K.Num("int", None, MISSING, owner.dims[0])
        return K.INT
    if attr == "dtype":
        return K.Known(np.dtype(owner.dtype))
    if attr in ("real", "imag", "mT"):
        return sample_call(operator.attrgetter(attr), (owner,), ())
    if attr == "flags":
        return K.Unknown("the attribute flags of an array", cls=K.FLAGS)
    instead = "Use A.ravel(), which a loop can run over, or A.flat[i]." if attr == "flat" else ""
    stated = getattr(np.ndarray, attr, None)
    instead = instead or registry.instead_of(stated)
    if stated is None or (callable(stated) and not instead):
        return K.UNKNOWN
    return K.Unknown(f"the attribute {attr} of an array", instead=instead)


def _dim_number(dim: K.Dim) -> Kind:
    if dim.symbol.startswith("="):
        return K.Num("int", None, int(dim.symbol[1:]) - dim.cut)
    return K.Num("int", None, MISSING, dim)
