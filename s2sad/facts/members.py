"""What the class of an object makes of its attributes and of operators: the user's functions."""

from __future__ import annotations

import abc
import dataclasses
import inspect
import types
from collections.abc import Sequence
from typing import Any, Protocol

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.facts.scope import Scope
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import walk
from s2sad.stages import KindFacts, Write


def class_function(scope: Scope, owner: Kind, attr: str) -> Any:
    """Return the function that a method of an object is, or None."""
    cls = owner.cls if isinstance(owner, K.Obj | K.Tuple) else None
    if cls is None or (isinstance(owner, K.Obj) and attr in dict(owner.fields)):
        return None
    static = scope.member(cls, attr)
    return static if isinstance(static, types.FunctionType) else None


def method_unknown(scope: Scope, owner: Kind, attr: str) -> Kind:
    """Return what is not known of a method's result, where it is no function of the class."""
    cls = owner.cls if isinstance(owner, K.Obj | K.Tuple) else None
    static = MISSING if cls is None else scope.member(cls, attr, MISSING)
    if cls is None or not hasattr(type(static), "__get__"):
        return K.UNKNOWN
    what = f"the result of .{attr}(), which is a {type(static).__name__} of {cls.__name__}"
    return K.Unknown(what, None, f"Make {attr} a method: a function in the class.")


OF_GENERIC = (
    "the result of a functools.singledispatch function, which chooses by the class of its argument",
    None,
    "Choose by isinstance, or call the chosen function by its own name.",
)


def is_generic(fn: Any) -> bool:
    """Say whether a function is a functools.singledispatch."""
    made = isinstance(fn, types.FunctionType) and "dispatch" in vars(fn)
    return made and isinstance(vars(fn).get("registry"), types.MappingProxyType)


_PLAIN: dict[type, tuple[type, ...]] = {
    K.Str: (str,),
    K.List: (list,),
    K.Dict: (dict,),
    K.OpenDict: (dict,),
    K.NoneKind: (type(None),),
}
_NUMBERS = {
    "float": (float, np.float64),
    "int": (int, np.int64),
    "bool": (bool, np.bool_),
    "complex": (complex, np.complex128),
}


def dispatched(fn: Any, args: Sequence[Kind]) -> tuple[Any, type] | None:
    """Return the function that a singledispatch calls, and the class that decides it.

    None where it is not known: of a number it may be Python's class or NumPy's.
    """
    first = args[0] if args else K.UNKNOWN
    classes = _PLAIN.get(type(first), ())
    if isinstance(first, K.Obj | K.Tuple):
        classes = (first.cls or tuple,)
    elif isinstance(first, K.Num):
        plain, other = _NUMBERS[first.type]
        if first.dtype is None or first.dtype == "any":
            classes = (plain, other)[: 1 + (first.dtype is not None)]
        else:
            classes = (np.dtype(first.dtype).type,)
    elif isinstance(first, K.Array) and first.namespace == "numpy":
        classes = (np.ndarray,)
    found = [fn.dispatch(cls) for cls in classes]
    same = found and all(f is found[0] for f in found)
    return (found[0], classes[0]) if same else None


def class_attribute(scope: Scope, owner: Kind, attr: str) -> Any:
    """Return the data that an object has from its class under a name, or MISSING."""
    if not isinstance(owner, K.Obj) or attr in dict(owner.fields):
        return MISSING
    if inspect.getattr_static(owner.cls, "__getattr__", None) is not None:
        return MISSING
    static = scope.member(owner.cls, attr, MISSING)
    return MISSING if hasattr(type(static), "__get__") or attr.startswith("__") else static


def unbound_function(scope: Scope, owner: Kind, attr: str) -> Any:
    """Return the static or class method that an object has under a name, or MISSING."""
    if not isinstance(owner, K.Obj | K.Tuple) or owner.cls is None:
        return MISSING
    if isinstance(owner, K.Obj) and attr in dict(owner.fields):
        return MISSING
    static = scope.member(owner.cls, attr)
    if isinstance(static, staticmethod | classmethod):
        return getattr(owner.cls, attr)
    return MISSING


_BINARY = {
    gast.Add: "add",
    gast.Sub: "sub",
    gast.Mult: "mul",
    gast.Div: "truediv",
    gast.FloorDiv: "floordiv",
    gast.Mod: "mod",
    gast.Pow: "pow",
    gast.MatMult: "matmul",
}
_UNARY = {gast.USub: "neg", gast.UAdd: "pos"}


def outcome_attribute(cls: type, attr: str) -> Kind:
    """Return the kind of an attribute of a library's result which carries no derivative."""
    example = getattr(cls, attr, MISSING)
    if example is MISSING or callable(example):
        advice = str(getattr(cls, "advice", "")) if attr in ("fun", "cost") else ""
        return K.Unknown(
            f"the attribute `{attr}` of a result, which has no known derivative", None, advice
        )
    return K.erase_value(K.kind_of(example, attr))


def operator_method(scope: Scope, op: Any, left: Kind, right: Kind) -> tuple[Any, bool] | None:
    """Return the function of the user's that an operator calls, and whether the left has it.

    None where it is nothing of the user's, or where Python would ask the right operand first.
    """
    word = _BINARY.get(type(op))
    if word is None:
        return None
    forward = class_function(scope, left, f"__{word}__")
    reflected = class_function(scope, right, f"__r{word}__")
    if forward is not None:
        one, other = getattr(left, "cls", object), getattr(right, "cls", None) or object
        return None if reflected is not None and one in other.__mro__[1:] else (forward, True)
    if reflected is not None and isinstance(left, K.Num):
        return reflected, False
    return None


def in_place_method(scope: Scope, op: Any, left: Kind, right: Kind) -> Any:
    """Return the function of the user's that `left += right` calls with these two, or None."""
    own = class_function(scope, left, in_place_word(op))
    if own is not None:
        return own
    found = operator_method(scope, op, left, right)
    return found[0] if found is not None and found[1] else None


def in_place_word(op: Any) -> str:
    """Return the name of the method that does an operation in place: `__iadd__`."""
    other = {gast.BitOr: "or", gast.BitAnd: "and", gast.BitXor: "xor"}
    word = {**_BINARY, **other, gast.LShift: "lshift", gast.RShift: "rshift"}[type(op)]
    return f"__i{word}__"


_COMPARE = {
    gast.Eq: "__eq__",
    gast.NotEq: "__ne__",
    gast.Lt: "__lt__",
    gast.LtE: "__le__",
    gast.Gt: "__gt__",
    gast.GtE: "__ge__",
}


def compare_methods(scope: Scope, kind: Kind, ops: list[Any]) -> list[Any]:
    """Return the functions of the user that comparisons with a value may call."""
    names = [_COMPARE[type(op)] for op in ops if type(op) in _COMPARE]
    found = [class_function(scope, kind, n) for n in names]
    return [f for f in found if f is not None and f.__code__.co_filename != "<string>"]


def unary_method(scope: Scope, op: Any, operand: Kind) -> Any:
    """Return the function of the user's that a unary operator calls, or None."""
    word = _UNARY.get(type(op))
    return None if word is None else class_function(scope, operand, f"__{word}__")


def only_made(cls: Any) -> bool:
    """Say whether making an object of a class does nothing else: it has no attributes then."""
    if not isinstance(cls, type) or type(cls) not in (type, abc.ABCMeta, type(Protocol)):
        return False
    for hook in ("__init__", "__new__"):
        if inspect.getattr_static(cls, hook) is not inspect.getattr_static(object, hook):
            return False
    return K.has_fields(cls) and not dataclasses.is_dataclass(cls)


_COPYING = ("__copy__", "__deepcopy__", "__getstate__", "__setstate__", "__reduce__", "__new__")


def copied_plainly(kind: Kind) -> bool:
    """Say whether a copy is of the same kind: of an object, its class and attributes, and no more.

    So are not those of classes that say how they are copied.
    """
    if isinstance(kind, K.OneOf):
        return all(map(copied_plainly, kind.options))
    if not isinstance(kind, K.Obj):
        return isinstance(kind, K.Array | K.Num | K.BuiltIn)
    return not K.is_enumerated(kind.cls) and all(
        inspect.getattr_static(kind.cls, hook, None) is inspect.getattr_static(object, hook, None)
        for hook in _COPYING
    )


SETTING: tuple[Any, ...] = (setattr, delattr, object.__setattr__, object.__delattr__)


def sets_attributes(cls: type, method: str) -> bool:
    """Say whether a method of a class is object's own that sets attributes by name."""
    found = getattr(cls, method, None)
    return any(found is fn for fn in SETTING)


_READING = ("items", "values", "keys", "get", "copy")
_LOOKING = ("print", "len", "repr", "str", "sorted", "list", "dict", "tuple")


def sets_by_name(kinds: KindFacts, w: Write) -> bool:
    """Say whether a write sets attributes of an object by names that only the run knows."""
    fn = kinds.objects.get(getattr(getattr(w.statement, "value", None), "func", None))
    return any(fn is f for f in (*SETTING, vars))


def writes_dict(node: Any, word: str) -> bool:
    """Say whether a variable that is the dict of an object may be written, here or elsewhere."""
    reads = 0
    for n in walk(node):
        if isinstance(n, gast.Subscript) and getattr(n.value, "id", "") == word:
            reads += isinstance(n.ctx, gast.Load)
        elif isinstance(n, gast.Attribute) and getattr(n.value, "id", "") == word:
            reads += n.attr in _READING
        elif isinstance(n, gast.Call) and getattr(n.func, "id", "") in _LOOKING:
            reads += sum(getattr(a, "id", "") == word for a in n.args)
        elif isinstance(n, gast.Compare) and isinstance(n.ops[0], gast.In | gast.NotIn):
            reads += getattr(n.comparators[0], "id", "") == word
    all_ = sum(
        isinstance(n, gast.Name) and n.id == word and not isinstance(n.ctx, gast.Store)
        for n in walk(node)
    )
    return bool(all_ != reads)
