"""What a test is known to be by kinds alone: isinstance, `is None`, ranks."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import MISSING, Kind
from s2sad.known.libraries import is_installed
from s2sad.known.open_dicts import surely_has
from s2sad.nodes import Node
from s2sad.syntax.decided import COMPARISONS, verdict


def truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    """Return what a test is known to be by kinds alone, or None."""
    known = verdict(kinds.get(test))
    if known is not None:
        return known
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, kinds)
        return None if inner is None else not inner
    if isinstance(test, gast.BoolOp):
        stop = isinstance(test.op, gast.Or)
        for value in test.values:
            inner = truth(value, kinds)
            if inner is not (not stop):
                return inner
        return not stop
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        return _compare_truth(test, kinds)
    if isinstance(test, gast.Call) and isinstance(test.func, gast.Name):
        if test.func.id == "isinstance" and len(test.args) == 2:
            return _isinstance_truth(kinds.get(test.args[0]), kinds.get(test.args[1]))
        if test.func.id == "hasattr" and len(test.args) == 2:
            return _hasattr_truth(kinds.get(test.args[0]), kinds.get(test.args[1]))
        if test.func.id == "callable" and len(test.args) == 1:
            kind = kinds.get(test.args[0], K.UNKNOWN)
            if K.is_numeric(kind) or isinstance(kind, K.NoneKind | K.Str):
                return False
            return True if isinstance(kind, K.Known | K.LocalFunction | K.Choice) else None
    if isinstance(test, gast.Call) and len(test.args) == 1 and not test.keywords:
        fn = getattr(kinds.get(test.func), "value", None)
        if fn is np.iscomplexobj or fn is np.isrealobj:
            return _complex_truth(kinds.get(test.args[0]), fn is np.iscomplexobj)
        if fn is np.isscalar:
            return _scalar_truth(kinds.get(test.args[0]))
    return _own_truth(kinds.get(test))


def _complex_truth(value: Kind | None, wanted: bool) -> bool | None:
    """Say whether a number or an array has a complex dtype, or a real one where not `wanted`."""
    found = K.options(value) if value is not None else ()
    if not found or not all(isinstance(k, K.Num | K.Array) for k in found):
        return None
    if any(isinstance(k, K.Num) and k.dtype == "any" and K.is_complex(k) for k in found):
        return None  # real on some paths, perhaps
    verdicts = {K.is_complex(k) is wanted for k in found}
    return verdicts.pop() if len(verdicts) == 1 else None


def _scalar_truth(value: Kind | None) -> bool | None:
    """Say whether a value is a number or a word, as np.isscalar does: no array is one."""
    found = [K.UNKNOWN] if value is None else K.options(value)
    if all(isinstance(k, K.Num | K.Str) for k in found):
        return True
    others = K.Array | K.Tuple | K.BuiltIn | K.NoneKind
    return False if all(isinstance(k, others) for k in found) else None


def _own_truth(kind: Kind | None) -> bool | None:
    """Say whether all values of a kind are true, or all false: None, functions, tuples."""
    if isinstance(kind, K.NoneKind):
        return False
    if isinstance(kind, K.Tuple) and kind.cls is None:
        return bool(kind.items)
    if isinstance(kind, K.LocalFunction):
        return True
    plain = isinstance(kind, K.Known) and (
        inspect.isroutine(kind.value) or isinstance(kind.value, np.ufunc)
    )
    return True if plain or (isinstance(kind, K.Known) and type(kind.value) is type) else None


def _compare_truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    left = kinds.get(test.left, K.UNKNOWN)
    right = kinds.get(test.comparators[0], K.UNKNOWN)
    op = test.ops[0]
    if isinstance(op, gast.In | gast.NotIn):
        has = surely_has(right, left)
        return has if has is None or isinstance(op, gast.In) else not has
    if isinstance(op, gast.Is | gast.IsNot):
        known = _is_truth(left, right)
        return known if known is None or isinstance(op, gast.Is) else not known
    if (
        isinstance(left, K.Tuple)
        and isinstance(right, K.Tuple)
        and isinstance(op, gast.Eq | gast.NotEq)
    ):
        if len(left.items) != len(right.items) or not left.items:
            return (len(left.items) == len(right.items)) is isinstance(op, gast.Eq)
    count = _count(test.left, left, kinds)
    if count is not MISSING and isinstance(right, K.Num):
        if right.value is MISSING:
            return None
        if isinstance(op, gast.In | gast.NotIn):
            return None
        return bool(COMPARISONS[type(op)](count, right.value))
    return None


def _count(node: Node, kind: Kind, kinds: dict[Any, Kind]) -> Any:
    """Return the number that `x.ndim`, or `len(t)` of a tuple, is known to be; else MISSING."""
    ranks = isinstance(node, gast.Attribute) and node.attr == "ndim"
    if isinstance(node, gast.Call):
        ranks = getattr(kinds.get(node.func), "value", None) is np.ndim
    if ranks and isinstance(kind, K.Num):
        return kind.value
    if (
        isinstance(node, gast.Call)
        and len(node.args) == 1
        and getattr(node.func, "id", "") == "len"
    ):
        of = kinds.get(node.args[0])
        return len(of.items) if isinstance(of, K.Tuple) else MISSING
    return MISSING


def _is_truth(left: Kind, right: Kind) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, K.NoneKind):
            if isinstance(other, K.NoneKind):
                return True
            if not any(isinstance(k, K.Unknown | K.Unbound | K.NoneKind) for k in K.options(other)):
                return False
    if isinstance(left, K.Known) and isinstance(right, K.Known):
        return left.value is right.value
    for one, other in ((left, right), (right, left)):
        if verdict(one) is not None and K.cls_of(other) is bool and _is_literal(other):
            return bool(one.value is other.value)  # type: ignore[attr-defined]
        if _is_literal(one) and K.cls_of(one) is bool and _never_bool(other):
            return False
    for one, other in ((left, right), (right, left)):
        actual = K.cls_of(other)
        if isinstance(one, K.Known) and actual is not None and actual is not type(one.value):
            return False
    return None


def _is_literal(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.value is not MISSING


def _never_bool(kind: Kind) -> bool:
    """Say whether no value of a kind is True or False: arrays and floats are neither."""
    sure = K.Array | K.Tuple | K.BuiltIn | K.Str | K.NoneKind
    return all(
        isinstance(k, sure) or (isinstance(k, K.Num) and k.type != "bool") for k in K.options(kind)
    )


def _isinstance_truth(value: Kind | None, cls: Kind | None) -> bool | None:
    if isinstance(value, K.OneOf | K.Union):
        verdicts = {_isinstance_truth(k, cls) for k in value.options}
        return verdicts.pop() if len(verdicts) == 1 else None
    if isinstance(value, K.Num) and value.dtype == "any":
        either = [K.Num(value.type), *(K.Num(value.type, d) for d in _SCALARS[value.type])]
        verdicts = {_isinstance_truth(k, cls) for k in either}
        return verdicts.pop() if len(verdicts) == 1 else None
    wanted: Any = None
    if isinstance(cls, K.Known):
        wanted = cls.value
    elif isinstance(cls, K.Tuple) and all(isinstance(k, K.Known) for k in cls.items):
        wanted = tuple(k.value for k in cls.items)  # type: ignore[attr-defined]
    if isinstance(value, K.Iterable_) and wanted is not None:
        asked = wanted if isinstance(wanted, tuple) else (wanted,)
        return False if set(asked) <= {list, tuple, dict, np.ndarray} else None
    actual = K.cls_of(value)
    if wanted is None or actual is None:
        return None
    try:
        return issubclass(registry.stood_for(actual), wanted)
    except TypeError:
        return None


# What NumPy's numbers may be that stand for a number of a type.
_SCALARS = {
    "bool": ("bool",),
    "int": ("int8", "int64", "uint8", "uint64"),
    "float": ("float16", "float32", "float64", "longdouble"),
    "complex": ("complex64", "complex128", "clongdouble"),
}


def _hasattr_truth(value: Kind | None, attr: Kind | None) -> bool | None:
    """Say whether an object has an attribute: one of its own, or one of its class."""
    word = getattr(attr, "value", MISSING) if isinstance(attr, K.Str) else MISSING
    if not isinstance(word, str):
        return None
    if isinstance(value, K.Known) and inspect.ismodule(value.value):
        file = getattr(value.value, "__file__", None)  # what is built in has none
        settled = file is None or is_installed(file)
        return hasattr(value.value, word) if settled else None
    if not isinstance(value, K.Obj):
        cls = K.cls_of(value)
        if cls is None or hasattr(cls, word):
            return None if cls is None else True
        return None if cls.__dictoffset__ else False
    if word in dict(value.fields):
        return True
    if inspect.getattr_static(value.cls, "__getattr__", None) is not None:
        return None
    static = inspect.getattr_static(value.cls, word, MISSING)
    if static is MISSING:
        return None if word.startswith("__") else False
    # A descriptor may raise: a property asks the object, a slot may be empty.
    return None if hasattr(type(static), "__set__") or isinstance(static, property) else True


def pattern_truth(pattern: Node, kind: Kind, class_of: Callable[[Node], Any]) -> bool | None:
    """Return whether values of a kind match a pattern: True and False where that is sure."""
    if isinstance(pattern, gast.MatchAs):
        return True if pattern.pattern is None else pattern_truth(pattern.pattern, kind, class_of)
    if isinstance(pattern, gast.MatchOr):
        verdicts = [pattern_truth(p, kind, class_of) for p in pattern.patterns]
        return False if all(v is False for v in verdicts) else None
    actual = K.cls_of(kind)
    if actual is None:
        return None
    if isinstance(pattern, gast.MatchSingleton):
        known = isinstance(kind, K.NoneKind) and pattern.value is None
        return True if known else (None if actual is bool else False)
    if isinstance(pattern, gast.MatchSequence):
        return _sequence_truth(pattern, kind, class_of)
    if not isinstance(pattern, gast.MatchClass):
        return None
    cls = class_of(pattern.cls)
    if not isinstance(cls, type):
        return None
    if not issubclass(actual, cls):
        return False
    args = getattr(cls, "__match_args__", ())
    names = [*args[: len(pattern.patterns)], *pattern.kwd_attrs]
    if len(args) < len(pattern.patterns):
        return None
    fields = dict(kind.fields) if isinstance(kind, K.Obj) else {}
    parts = zip(names, [*pattern.patterns, *pattern.kwd_patterns], strict=False)
    known_parts = [(fields[n], p) for n, p in parts if n in fields]
    inner = [pattern_truth(p, k, class_of) for k, p in known_parts]
    return False if False in inner else None


def _sequence_truth(pattern: Node, kind: Kind, class_of: Callable[[Node], Any]) -> bool | None:
    """Return whether values of a kind match a pattern of a sequence, where that is sure."""
    if isinstance(kind, K.Num | K.NoneKind | K.Str | K.Obj | K.AnyDict):
        return None if isinstance(kind, K.Obj) else False
    starred = any(isinstance(p, gast.MatchStar) for p in pattern.patterns)
    if not isinstance(kind, K.Tuple) or starred:
        return None
    if len(kind.items) != len(pattern.patterns):
        return False
    parts = zip(pattern.patterns, kind.items, strict=True)
    inner = [pattern_truth(p, k, class_of) for p, k in parts]
    return False if False in inner else None


def narrowed(test: Node, verdict: bool, env: dict[str, Kind], kinds: dict[Any, Kind]) -> None:
    """Note in `env` what is known of the variables of a test where it came out as `verdict`."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        narrowed(test.operand, not verdict, env, kinds)
    elif isinstance(test, gast.BoolOp):
        if isinstance(test.op, gast.And) is verdict:
            for value in test.values:
                narrowed(value, verdict, env, kinds)
    elif isinstance(test, gast.Name):
        if verdict:
            _keep(test, env, lambda k: not isinstance(k, K.NoneKind))
    elif isinstance(test, gast.Compare) and len(test.ops) == 1:
        op = test.ops[0]
        none = isinstance(kinds.get(test.comparators[0]), K.NoneKind)
        if none and isinstance(op, gast.Is | gast.IsNot):
            wanted = verdict is isinstance(op, gast.Is)
            _keep(test.left, env, lambda k: isinstance(k, K.NoneKind) is wanted)
        asked = _class_asked(test, kinds)
        if asked is not None:
            whole, is_it = asked
            _keep(whole, env, lambda k: is_it(K.cls_of(k)) in (None, verdict))
    elif isinstance(test, gast.Call) and len(test.args) == 2:
        if isinstance(test.func, gast.Name) and test.func.id == "isinstance":
            cls = kinds.get(test.args[1])
            _keep(test.args[0], env, lambda k: _isinstance_truth(k, cls) is not (not verdict))


def _class_asked(
    test: Node, kinds: dict[Any, Kind]
) -> tuple[Node, Callable[[type | None], bool | None]] | None:
    """Return of what a test asks the class, and what tells whether a class is the one.

    Such tests are `type(x) is C` and `type(x).__name__ == "C"`.
    """
    made, right = test.left, kinds.get(test.comparators[0])
    is_not = isinstance(test.ops[0], gast.IsNot | gast.NotEq)
    word = None
    if isinstance(made, gast.Attribute) and made.attr == "__name__":
        made, word = made.value, getattr(right, "value", None)
    wanted = right.value if isinstance(right, K.Known) else None
    if not isinstance(made, gast.Call) or getattr(made.func, "id", "") != "type":
        return None
    if len(made.args) != 1 or not isinstance(word if word is not None else wanted, str | type):
        return None

    def is_it(cls: type | None) -> bool | None:
        if cls is None:
            return None
        return (cls.__name__ == word if word is not None else cls is wanted) is not is_not

    return made.args[0], is_it


def _keep(node: Node, env: dict[str, Kind], test: Callable[[Kind], bool]) -> None:
    """Leave a variable, or a part of one, only those of its kinds that pass a test."""
    if isinstance(node, gast.Name) and node.id in env:
        env[node.id] = _passing(env[node.id], test)
    part = isinstance(node, gast.Attribute | gast.Subscript)
    if not part or not isinstance(node.value, gast.Name):
        return
    owner = env.get(node.value.id)
    field = isinstance(node, gast.Attribute)
    if isinstance(owner, K.Obj if field else K.Dict):
        step = node.attr if field else getattr(node.slice, "value", K.MISSING)
        kept = (_passing(k, test) if known == step else k for known, k in owner.by_step)
        env[node.value.id] = owner.rebuilt(kept)


def _passing(kind: Kind, test: Callable[[Kind], bool]) -> Kind:
    return kind.rebuilt(filter(test, kind.inside)) if kind.how == "option" else kind
