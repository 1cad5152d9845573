"""What computing a tangent may raise, where computing the value has raised nothing.

try:                         y_dot = x_dot * 0.5 / y: 1.0 / 0.0 at x = 0, where math.sqrt is 0
    y = math.sqrt(x)
except ArithmeticError:      would catch it, and go another way than the plain function
    y = 1.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand
from s2sad.linear.caught import ANYTHING, NOTHING, Raised, is_caught
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tangents_of import OPERATORS, Computed

_DIVIDES = ("Div", "Mod", "FloorDiv")


def refuse_caught(t: Tangents, raised: Raised, caught: tuple[type[BaseException], ...]) -> None:
    """Stop at a tangent whose computation may raise what the program catches."""
    if is_caught(raised, caught):
        raise t.table.cannot(
            t.origin,
            "The computation of the derivative may raise an exception here that this try "
            "catches, where the plain function raises none; s2sad cannot separate the two.",
            "Catch fewer exceptions, test with an if, or use s2sad.grad.",
        )


def may_raise(made: Iterable[P.Operation], told: Computed) -> Raised:
    """Return what operations that compute a tangent may raise, where the value raised nothing."""
    arrays = isinstance(told.out.kind, K.Array)
    found = NOTHING
    for operation in made:
        if isinstance(operation, Op):
            found |= _by_one(operation, told, arrays)
        else:
            for block in P.blocks(operation):
                found |= may_raise(block.ops, told)
    return found


def _by_one(op: Op, told: Computed, arrays: bool) -> Raised:
    if op.primitive.form == "infix" and not arrays:
        return _by_operator(op, told)
    fn = kind_of(op.operands[0]) if op.primitive.form == "call" else K.UNKNOWN
    if op.primitive.form != "call":
        return NOTHING
    if not isinstance(fn, K.Known):
        return ANYTHING
    return _by_call(fn.value, "." in getattr(op.operands[0], "name", ""), told, arrays)


def _by_operator(op: Op, told: Computed) -> Raised:
    _, right = op.operands
    number = right.value if isinstance(right, P.Const) else None
    number = number if isinstance(number, int | float) else None
    if op.primitive.word in _DIVIDES:
        safe = number or right in _divisors(told)
        return NOTHING if safe else frozenset({ZeroDivisionError})
    if op.primitive.word == "Pow" and (number is None or number < 0):
        return frozenset({ZeroDivisionError, OverflowError})
    return NOTHING


def _divisors(told: Computed) -> tuple[Operand, ...]:
    """Return what was not zero, or the operation would have raised something."""
    if told.fn in [OPERATORS[word] for word in _DIVIDES]:
        return told.given[1:2]
    return told.given[:1] if registry.numbers_of(told.fn).form == "logarithm" else ()


def _by_call(fn: object, dotted: bool, told: Computed, arrays: bool) -> Raised:
    """Return what a call may raise; the operation itself would have raised the same, or not."""
    same = registry.numbers_of(told.fn).raises == "the same"
    home = str(getattr(fn, "__module__", None) or "")
    calm = registry.numbers_of(fn).raises == "nothing"
    singular: Raised = frozenset() if same else frozenset({np.linalg.LinAlgError})
    if not dotted and not (registry.is_foreign(fn) or home == math.__name__):
        return NOTHING if calm else singular if arrays else ANYTHING
    if home == math.__name__:
        return NOTHING if calm else frozenset({ValueError, OverflowError})
    return singular if home.endswith("linalg") or ".linalg." in home else NOTHING
