"""What computing a tangent may raise, where computing the value has raised nothing.

try:                         y_dot = x_dot * 0.5 / y: 1.0 / 0.0 at x = 0, where math.sqrt is 0
    y = math.sqrt(x)
except ArithmeticError:      would catch it, and go another way than the plain function
    y = 1.0
"""

from __future__ import annotations

import builtins
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, names_read, number, walk
from s2sad.stages import KindFacts

Raised = frozenset[type[BaseException]]

NOTHING: Raised = frozenset()
ANYTHING: Raised = frozenset(
    {ZeroDivisionError, OverflowError, ValueError, np.linalg.LinAlgError, FloatingPointError}
)
_CALM = frozenset(
    "sin cos tanh atan fabs copysign floor ceil trunc sinh cosh hypot erf erfc degrees radians "
    "isfinite isnan isinf atan2 asinh".split()
)
_SAME = frozenset({"cholesky", "solve", "inv", "lstsq", "eigh", "svd", "qr", "eig", "pinv"})


def caught_by(attempt: Node, facts: KindFacts) -> tuple[type[BaseException], ...]:
    """Return the classes of exceptions that a try catches; all where that is not known."""
    found: list[type[BaseException]] = []
    for handler in attempt.handlers:
        kinds = [] if handler.type is None else [facts.of.get(handler.type, K.UNKNOWN)]
        if isinstance(handler.type, gast.Tuple):
            kinds = [facts.of.get(e, K.UNKNOWN) for e in handler.type.elts]
        classes = [_class_of(k, n) for k, n in zip(kinds, _nodes(handler.type), strict=False)]
        found += [c if c is not None else BaseException for c in classes] or [BaseException]
    return tuple(found)


def _nodes(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return list(node.elts) if isinstance(node, gast.Tuple) else [node]


def _class_of(kind: Kind, node: Node) -> type[BaseException] | None:
    value = getattr(kind, "value", None)
    if value is None and isinstance(node, gast.Name):
        value = getattr(builtins, node.id, None)
    known = isinstance(value, type) and issubclass(value, BaseException)
    return value if known else None


def is_caught(raised: Raised, caught: tuple[type[BaseException], ...]) -> bool:
    """Say whether one of some exceptions would be caught."""
    return any(issubclass(r, c) for r in raised for c in caught)


def may_raise(code: Block, value: Node, kind: Kind, modules: Any) -> Raised:
    """Return what a tangent's code may raise, where an operation on values has raised nothing."""
    arrays = isinstance(kind, K.Array)
    found: set[type[BaseException]] = set()
    safe = _divisors(value)
    primal = getattr(getattr(value, "func", None), "attr", "")
    for statement in code:
        for n in walk(statement):
            if isinstance(n, gast.BinOp) and not arrays:
                if isinstance(n.op, gast.Div | gast.Mod | gast.FloorDiv):
                    plain = number(n.right)
                    if not plain and not (isinstance(n.right, gast.Name) and n.right.id in safe):
                        found.add(ZeroDivisionError)
                elif isinstance(n.op, gast.Pow):
                    exponent = number(n.right)
                    if exponent is None or exponent < 0:
                        found |= {ZeroDivisionError, OverflowError}
            elif isinstance(n, gast.Call):
                found |= _called(n, arrays, primal, modules)
    return frozenset(found)


def _divisors(value: Node) -> set[str]:
    """Return the names that were not zero, or the operation would have raised something."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Div | gast.Mod | gast.FloorDiv):
        return names_read(value.right)
    func = getattr(value, "func", None)
    if isinstance(func, gast.Attribute) and func.attr in ("log", "log2", "log10"):
        return names_read(value.args[0])
    return set()


def _called(node: Node, arrays: bool, primal: str, modules: Any) -> set[type[BaseException]]:
    func = node.func
    if isinstance(func, gast.Name):
        if func.id in ("float", "list", "tuple", "zip", "sum", "len", "dict"):
            return set()
        if arrays:
            return set() if primal in _SAME else {np.linalg.LinAlgError}
        return set(ANYTHING)
    path = func
    names = []
    while isinstance(path, gast.Attribute):
        names.append(path.attr)
        path = path.value
    module = modules.get(getattr(path, "id", ""))
    if getattr(module, "__name__", "") == "math":
        return set() if func.attr in _CALM else {ValueError, OverflowError}
    if "linalg" in names:
        return set() if primal in _SAME else {np.linalg.LinAlgError}
    return set()
