"""Functions that stand for derivatives; s2sad derives their source when it needs it.

grad(f) is a callable, but the analyses need a function with parameters, defaults and annotations.
Its stand-in is such a function, with the signature of f, and is never called. When the analyses
would read its source, s2sad writes the derivative for the kinds of the arguments and reads that.
"""

from __future__ import annotations

import inspect
import threading
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from s2sad.names import Names

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Applied:
    """The request to an operator: a mode and its options."""

    mode: str
    wrt: Any = None
    has_aux: bool = False
    given: int | None = None


@dataclass(frozen=True)
class Derivative:
    """A function and the derivative asked of it.

    The first `skipped` parameters and the parameters named in `fixed` are bound. `declared` is the
    wrt of a decorator around the function.
    """

    fn: types.FunctionType
    applied: Applied
    skipped: int = 0
    fixed: frozenset[str] = frozenset()
    declared: Any = None


_derivatives: weakref.WeakKeyDictionary[types.FunctionType, Derivative]
_derivatives = weakref.WeakKeyDictionary()
_codes: weakref.WeakKeyDictionary[types.CodeType, dict[Any, types.CodeType]]
_codes = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def derivative_of(fn: object) -> Derivative | None:
    """Return the derivative that a function stands for; None for any other function."""
    if type(fn) is not types.FunctionType:
        return None
    return _derivatives.get(fn)


def is_operator(value: object) -> bool:
    """Return whether an object is the result of an operator, as grad(f) is."""
    return getattr(type(value), "__s2sad_operator__", False) is True


def is_decorated(value: object) -> bool:
    """Return whether an object is a function that carries its derivatives."""
    return getattr(type(value), "__s2sad_decorated__", False) is True


def applies(fn: Any) -> str:
    """Return the name of an operator, empty for anything else."""
    return getattr(fn, _APPLIES, "") if type(fn) is types.FunctionType else ""


def operator(fn: F) -> F:
    """Mark a function as an operator, so that s2sad knows the result of its calls."""
    setattr(fn, _APPLIES, fn.__name__)
    return fn


_APPLIES = "__s2sad_applies__"


def stand_in(derivative: Derivative) -> types.FunctionType:
    """Return a function that stands for a derivative, with the globals of the primal.

    Stand-ins of functions that share a code object share a code object, too.
    """
    fn, applied = derivative.fn, derivative.applied
    # 1, 1.0 and True are equal, but name different parameters, or none.
    wrt = repr(applied.wrt)
    key = (applied.mode, wrt, applied.has_aux, applied.given, derivative.skipped, derivative.fixed)
    with _lock:
        known = _codes.setdefault(fn.__code__, {})
        code = known.get(key)
        if code is None:
            code = known[key] = _code(fn, applied.mode)
    cell = types.CellType(fn)
    made = types.FunctionType(code, fn.__globals__, code.co_name, fn.__defaults__, (cell,))
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__annotations__ = fn.__annotations__
    made.__module__ = fn.__module__
    _derivatives[made] = derivative
    return made


def _code(fn: types.FunctionType, mode: str) -> types.CodeType:
    name = fn.__name__
    found = inspect.signature(fn, follow_wrapped=False)
    plain = [
        p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else None)
        for p in found.parameters.values()
    ]
    head = str(inspect.Signature(plain))
    name = f"{name if name.isidentifier() else 'lambda_'}_{mode}"
    primal = Names((*found.parameters, name)).fresh("primal")
    # All is mentioned, so that nothing counts as unread.
    words = ", ".join([primal, *found.parameters])
    text = (
        f"def made({primal}):\n    def {name}{head}:\n        return {words}\n    return {name}\n"
    )
    whole = compile(text, fn.__code__.co_filename, "exec")
    factory = next(c for c in whole.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in factory.co_consts if isinstance(c, types.CodeType))
    return code.replace(co_firstlineno=fn.__code__.co_firstlineno, co_qualname=code.co_name)
