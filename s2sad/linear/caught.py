"""What a try catches, and whether that is what computing a tangent may raise.

try:                         y_dot = x_dot * 0.5 / y: 1.0 / 0.0 at x = 0, where math.sqrt is 0
    y = math.sqrt(x)
except ArithmeticError:      would catch it, and go another way than the plain function
    y = 1.0
"""

from __future__ import annotations

import builtins

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Node
from s2sad.stages import KindFacts

Raised = frozenset[type[BaseException]]

NOTHING: Raised = frozenset()
ANYTHING: Raised = frozenset(
    {ZeroDivisionError, OverflowError, ValueError, np.linalg.LinAlgError, FloatingPointError}
)


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
