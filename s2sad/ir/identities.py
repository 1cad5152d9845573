"""What arithmetic says of one operation: a literal that changes nothing, a sign that moves out.

    x * 1.0        x                 a + (-b)       a - b
    x + 0.0        x                 (-a) * b       -(a * b)
    2.0 + 3.0      5.0               2.0 * (0.5 * x)    x

Tables say which; the conditions on kinds stand here once. 0.0 * x is not 0.0 where x is infinite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.kinds import Kind
from s2sad.known import spaces

Number = int | float


@dataclass(frozen=True)
class Neutral:
    """A literal that changes nothing as the operand at `at` of an operator."""

    at: int
    literal: int


# `kept`: a * 1, 1 * a, a / 1, a + 0, 0 + a, a - 0, a ** 1
NEUTRAL: Mapping[str, tuple[Neutral, ...]] = {
    "Mult": (Neutral(0, 1), Neutral(1, 1)),
    "Div": (Neutral(1, 1),),
    "Add": (Neutral(0, 0), Neutral(1, 0)),
    "Sub": (Neutral(1, 0),),
    "Pow": (Neutral(1, 1),),
}


@dataclass(frozen=True)
class Sign:
    """An operand at `at` that is negated: the operator without the minus sign, its operands in
    their order or `turned`; the result is negated where the sign goes `out`.
    """

    at: int
    word: str
    turned: bool = False
    out: bool = False


SIGNS: Mapping[str, tuple[Sign, ...]] = {
    "Add": (Sign(1, "Sub"), Sign(0, "Sub", turned=True)),  # a + (-b), (-a) + b
    "Sub": (Sign(1, "Add"),),  # a - (-b)
    "Mult": (Sign(0, "Mult", out=True), Sign(1, "Mult", out=True)),
    "Div": (Sign(0, "Div", out=True), Sign(1, "Div", out=True)),
}

_FOLDED: Mapping[str, Callable[[Number, Number], object]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
_LARGEST = 2**53


def number_of(given: P.Operand) -> Number | None:
    """Return the number that a literal is; a truth value is none."""
    if isinstance(given, P.Const) and type(given.value) in (int, float):
        return given.value  # type: ignore[return-value]
    return None


def folded(word: str, left: Number, right: Number) -> P.Const | None:
    """Return what Python gives for two literals, if that prints as a literal."""
    fold = _FOLDED.get(word)
    if fold is None or (word == "Pow" and abs(right) > 8):
        return None
    try:
        value = fold(left, right)
    except ArithmeticError:
        return None
    return P.Const(value) if prints(value) else None


def prints(value: object) -> bool:
    """Say whether a value is a literal that reads well: no infinity, no long integer."""
    if isinstance(value, int):
        return abs(value) <= _LARGEST
    return isinstance(value, float) and math.isfinite(value)


def negated(given: P.Operand) -> P.Const | None:
    """Return a literal number with the other sign."""
    value = number_of(given)
    return None if value is None else P.Const(-value)


def holds(given: P.Operand) -> bool | None:
    """Say of a literal, as a test, whether it holds; None of what is no literal."""
    if isinstance(given, P.Const) and isinstance(given.value, int | float | str | None):
        return bool(given.value)
    return None


def elements(kind: Kind) -> str:
    """Return of which numbers a kind is: "float", "int", "bool", "complex"; "" if that is open."""
    if isinstance(kind, K.Num):
        return "" if kind.either else kind.type
    if not isinstance(kind, K.Array):
        return ""
    if K.is_complex(kind):
        return "complex"
    if K.is_float_dtype(kind.dtype):
        return "float"
    return {"bool": "bool"}.get(kind.dtype, "int" if "int" in kind.dtype else "")


def stays(kind: Kind, literal: Number, word: str) -> bool:
    """Say whether a number joins a Python literal without a change of type, dtype or shape.

    A float takes both kinds of literals; an integer becomes a float by 1.0, and by any division.
    """
    if elements(kind) in ("float", "complex"):
        return True
    return elements(kind) == "int" and type(literal) is int and word != "Div"


def is_signed(kind: Kind) -> bool:
    """Say whether a sign may be taken off a number, put elsewhere, and nothing wraps."""
    of_python = isinstance(kind, K.Num) and kind.type == "int" and kind.dtype is None
    return elements(kind) in ("float", "complex") or of_python


def function_of(callee: P.Operand) -> object | None:
    """Return the function that is called, if it is known: NumPy's for its twin on a device."""
    known = callee.kind if isinstance(callee, P.Outer) else None
    return spaces.twin(known.value) if isinstance(known, K.Known) else None


def kept(op: P.Op) -> P.Operand | None:
    """Return the array of real numbers that a function gives as it is: np.conj(x) is x."""
    if op.primitive.form != "call" or len(op.operands) != 2 or op.settings:
        return None
    callee, given = op.operands
    fn = function_of(callee)
    if fn is None or not registry.numbers_of(fn).keeps_real or not isinstance(given, P.Var):
        return None
    return given if isinstance(given.kind, K.Array) and elements(given.kind) == "float" else None


def is_power_of_two(value: Number) -> bool:
    """Say whether a product by a number is exact: it moves the exponent alone."""
    return value > 0 and math.isfinite(value) and math.frexp(value)[0] == 0.5
