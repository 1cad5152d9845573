"""Which values may be infinite or nan although the inputs are finite, and what is known of signs.

    d = x * x + 1.0      positive
    r = np.sqrt(x)       may be nan, and its derivative infinite
    y = np.log(d)        finite, and regular: d is never 0

One walk over the program, repeated until nothing changes. What may be the same memory, some of
which is written, has one value, and no sign. Overflow is no singular point: exp counts as finite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.deeds import deed, kind_of
from s2sad.ir.handings import Step, caught, handings
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.tested import Env, Tested, tested
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.primitives import language as L
from s2sad.rulebook.facts import Form


class Sign(IntEnum):
    """What is known of all entries of a value; each includes those before it.

    What is TINY is positive but where it is rounded to 0, as exp(-1000) is.
    """

    POSITIVE = 0
    TINY = 1
    NONNEGATIVE = 2
    ANY = 3


@dataclass(frozen=True)
class Value:
    """The sign of a value, and whether it may be infinite or nan. A sign excludes nan."""

    sign: Sign = Sign.ANY
    wild: bool = False

    def join(self, other: Value) -> Value:
        """Return what holds of both."""
        return Value(max(self.sign, other.sign), self.wild or other.wild)


ANY = Value()
WILD = Value(Sign.ANY, True)
_LOGARITHMS: tuple[Form, ...] = ("logarithm", "logarithm of one plus")
_SINGULAR_AT_ZERO: tuple[Form, ...] = ("logarithm", "root", "cube root", "reciprocal")

IsWild = Callable[[Var], bool]
CalleeIsWild = Callable[[Op, IsWild], "bool | None"]
Applied: TypeAlias = "tuple[object, tuple[Operand, ...]]"

OPERATORS: Mapping[str, object] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "MatMult": operator.matmul,
}


def applied(op: Op) -> Applied | None:
    """Return the library function that an operation applies, and to what."""
    form, word = op.primitive.form, op.primitive.word
    fn: object | None = None
    given = op.operands
    if form in ("infix", "augmented"):
        fn = OPERATORS.get(word)
    elif form == "augmented item":
        fn, given = OPERATORS.get(word), (op.operands[0], op.operands[-1])
    elif form == "call":
        kind = kind_of(op.operands[0])
        fn, given = (kind.value if isinstance(kind, K.Known) else None), op.operands[1:]
    elif form == "method":
        fn = registry.method_function(word)
    elif form == "field":
        fn = registry.property_function(word)
    elif form == "item" and isinstance(kind_of(op.operands[0]), K.Array):
        fn, given = np.copy, op.operands[:1]
    return None if fn is None else (fn, given)


@dataclass
class Finite:
    """What is known of every variable of a program.

    Variables that may be the same memory, some of which is written, are one `class`. A variable
    without a value holds nothing yet: the walk has not come to it. `parts` of
    arrays are told by what is read, and by how many operations may have written before.
    """

    classes: Mapping[Var, str]
    told: Mapping[P.Operation, Env]
    values: dict[Var | str, Value] = field(default_factory=dict)
    parts: dict[Var, tuple[tuple[Operand, ...], int]] = field(default_factory=dict)

    def is_wild(self, v: Var) -> bool:
        """Say whether a variable may be infinite or nan."""
        return self.values.get(self.classes.get(v, v), ANY).wild

    def of(self, op: Op, operand: Operand) -> Value | None:
        """Return what is known of an operand; None where nothing has reached it yet."""
        literal = literal_of(operand)
        if literal is not None:
            return _of_number(literal)
        v = P.variable(operand)
        if v is None:
            return None if isinstance(operand, P.Unbound) else ANY
        known = self.values.get(self.classes.get(v, v))
        test = self.told.get(op, {}).get(v)
        if isinstance(operand, P.Spread) and known is not None:
            return Value(Sign.ANY, known.wild)
        if known is None or known.wild or test is None:
            return known
        if test.positive or (test.nonzero and known.sign < Sign.ANY):
            return Value(Sign.POSITIVE)
        return Value(min(known.sign, Sign.NONNEGATIVE)) if test.low >= 0 else known

    def sign(self, op: Op, operand: Operand) -> Sign:
        """Return what is known of the sign of an operand."""
        return (self.of(op, operand) or ANY).sign

    def of_operation(self, op: Op, fn: object, given: Sequence[Operand]) -> Value:
        """Return what is known of what a library function gives."""
        inner = [self.of(op, o) or ANY for o in given]
        wild = any(v.wild for v in inner)
        spread = any(isinstance(o, P.Spread) for o in given)
        if spread or any(K.is_complex(kind_of(o)) for o in given):
            return Value(Sign.ANY, wild or self.singular(op, fn, given))
        sign = self._sign(op, fn, given, inner) if not wild else Sign.ANY
        return Value(sign, wild or self._leaves(op, fn, given))

    def _leaves(self, op: Op, fn: object, given: Sequence[Operand]) -> bool:
        """Say whether an operation makes something infinite of what is finite: logarithms do.

        A quotient may as well, but then nearly every value might, and every product would need a
        guard: that a divisor vanishes is answered at the division alone.
        """
        if registry.numbers_of(fn).form not in _LOGARITHMS:
            return False
        if not isinstance(spaces.twin(fn), np.ufunc):  # Python's own raise there
            return False
        return not all(map(is_python_number, given)) and self.singular(op, fn, given)

    def _sign(self, op: Op, fn: object, given: Sequence[Operand], inner: Sequence[Value]) -> Sign:
        signs = [v.sign for v in inner]
        form, count = registry.numbers_of(fn).form, len(signs)
        match form:
            case "exponential" if count:
                return Sign.TINY
            case "magnitude" if count:
                return min(max(signs[0], Sign.TINY), Sign.NONNEGATIVE)
            case "size" if count:
                return Sign.NONNEGATIVE
            case "root" | "entries" | "mean" | "running total" | "identity" if count:
                return signs[0]
            case "total" if count:
                return max(signs[0], Sign.TINY)
            case "smallest" if count:
                return max(signs)
            case "largest" if count == 2:
                return min(signs)
            case "choice" if count == 3:
                return max(signs[1:])
            case "clip" if count == 3:
                return max(min(signs[:2]), signs[2])
        if count != 2:
            return Sign.ANY
        return self._sign_of_two(op, form, (given[0], given[1]), (signs[0], signs[1]))

    def _sign_of_two(
        self, op: Op, form: Form, given: tuple[Operand, Operand], signs: tuple[Sign, Sign]
    ) -> Sign:
        left, right = signs
        known = max(left, right) < Sign.ANY
        same = self._same(*given)
        if form == "inner":
            square = same and all(getattr(kind_of(o), "rank", 0) == 1 for o in given)
            return Sign.NONNEGATIVE if square or known else Sign.ANY
        if form == "product":
            product = max(left, right, Sign.TINY)
            return min(product, Sign.NONNEGATIVE) if same else product
        if form == "power":
            exponent = literal_of(given[1])
            even = exponent is not None and exponent >= 0 and exponent % 2 == 0
            power = max(left, Sign.TINY)
            return min(power, Sign.NONNEGATIVE) if even else power
        if form == "sum":
            return min(left, right) if known else Sign.ANY
        if form == "difference":
            return self._sign_of_difference(op, *given)
        if form == "quotient":
            return max(left, Sign.TINY) if right == Sign.POSITIVE else Sign.ANY
        return Sign.ANY

    def _same(self, left: Operand, right: Operand) -> bool:
        """Say whether two operands are one value, as `x[i]` and `x[i]` are."""
        if not isinstance(left, Var) or not isinstance(right, Var):
            return False
        return left is right or (left in self.parts and self.parts[left] == self.parts.get(right))

    def _sign_of_difference(self, op: Op, left: Operand, right: Operand) -> Sign:
        """Return the sign of `x - 1.0` where x was compared with a number."""
        v, less = P.variable(left), literal_of(right)
        known = self.told.get(op, {}).get(v, Tested()) if v is not None else Tested()
        rest = -math.inf if less is None else known.low - less
        if rest > 0 or (rest == 0 and known.strict):
            return Sign.POSITIVE
        return Sign.NONNEGATIVE if rest == 0 else Sign.ANY

    def singular(self, op: Op, fn: object, given: Sequence[Operand]) -> bool:
        """Say whether a function or its derivative may be infinite or nan at finite operands."""
        rule = registry.rule_for(fn)
        if rule is None or not rule.regular:
            return False
        if not given or any(isinstance(o, P.Spread) for o in given):
            return True
        form = registry.numbers_of(fn).form
        if form in ("quotient", "remainder"):
            return self._may_vanish(op, given)
        sign = self.sign(op, given[0])
        if form == "power" and len(given) == 2:
            whole = isinstance(kind := kind_of(given[1]), K.Num) and kind.type == "int"
            if whole and all(map(is_python_number, given)):
                return False  # where the power has a value, so has its derivative: Python raises
            return _is_singular_power(sign, literal_of(given[1]))
        if form == "logarithm of one plus":
            return sign > Sign.NONNEGATIVE
        return form not in _SINGULAR_AT_ZERO or sign > Sign.POSITIVE

    def steep(self, op: Op, fn: object, given: Sequence[Operand], active: frozenset[Var]) -> bool:
        """Say whether the derivative by an active operand may be infinite and the value finite."""
        rule = registry.rule_for(fn)
        if rule is None or not rule.steep or not self.singular(op, fn, given):
            return False
        named = registry.array_names(rule)
        still = {p for p, o in zip(named, given, strict=False) if P.variable(o) not in active}
        if still >= set(rule.steep):
            return False
        form = registry.numbers_of(fn).form
        at_zero = form in ("root", "power")
        if at_zero and given and self.sign(op, given[0]) <= Sign.TINY:
            return False
        return form != "power" or len(given) != 2 or _may_be_root(given[1])

    def _may_vanish(self, op: Op, given: Sequence[Operand]) -> bool:
        """Say whether a divisor may be 0. Python numbers raise where they are divided by it."""
        divisor, kind = literal_of(given[-1]), kind_of(given[-1])
        if divisor is not None and divisor != 0:
            return False
        if isinstance(kind, K.Num) and kind.type in ("int", "bool"):
            return False
        if all(map(is_python_number, given)):
            return False
        return self.sign(op, given[-1]) > Sign.POSITIVE


def finite(
    program: P.Program,
    classes: Mapping[Var, str],
    wild: Iterable[str],
    callee: CalleeIsWild,
) -> Finite:
    """Return the facts of a program of which the parameters `wild` may be infinite or nan.

    `classes` says which variables may be memory that is written. `callee` says whether what a
    call of a user's function gives may be wild; None where the call is a library's.
    """
    facts = Finite(classes, tested(program))
    walk = _Walk(facts, callee)
    names = frozenset(wild)
    for v in program.block.params:
        walk.give(v, WILD if v.name in names else ANY)
    for v, _ in caught(program.block):
        walk.give(v, ANY)
    steps = handings(program.block)
    while walk.changed:
        walk.changed = False
        for step in steps:
            walk.step(step)
    return facts


@dataclass
class _Walk:
    """Gives variables what they may be; `written` counts what may have written something."""

    facts: Finite
    callee: CalleeIsWild
    changed: bool = True
    written: int = 0

    def give(self, v: Var, found: Value | None) -> None:
        """Note one more value of a variable."""
        if found is None:
            return
        key = self.facts.classes.get(v, v)
        wild = found.wild and (v.cell or isinstance(v.kind, K.Unknown) or K.differentiable(v.kind))
        new = Value(found.sign if key is v and not v.cell else Sign.ANY, wild)
        known = self.facts.values.get(key)
        joined = new if known is None else known.join(new)
        if joined != known:
            self.facts.values[key] = joined
            self.changed = True

    def held(self, operand: Operand) -> Value | None:
        """Return what is known of an operand, whatever tests around say of it."""
        return self.facts.of(_NOWHERE, operand)

    def part(self, whole: Operand) -> Value | None:
        """Return what is known of a part of an operand."""
        known = self.held(whole)
        return None if known is None else Value(Sign.ANY, known.wild)

    def step(self, step: Step) -> None:
        if isinstance(step, Op):
            self.op(step)
        else:
            self.give(step.target, self.part(step.source) if step.part else self.held(step.source))

    def op(self, op: Op) -> None:
        found = self.of(op)
        for v in op.outs:
            self.give(v, found)
        owner = op.operands[0] if op.primitive.form == "item" else None
        if isinstance(owner, Var) and isinstance(owner.kind, K.Array):
            self.facts.parts |= dict.fromkeys(op.outs, (op.operands, self.written))
        known = deed(op)
        self.written += known.acts or bool(known.writes or op.writes)
        stored = op.operands[-1] if op.primitive.form in _STORES else None
        for place in op.writes:
            if isinstance(place.object, Var):
                self.give(place.object, found if stored is None else self.part(stored))

    def of(self, op: Op) -> Value | None:
        """Return what is known of what an operation gives."""
        inner = [self.facts.of(op, o) for o in P.operands(op)]
        if any(v is None for v in inner):
            return None
        if op.primitive.form in ("same", "look", "discard"):
            return inner[0]
        verdict = None
        if op.primitive.form in ("call", "method", "field"):
            verdict = self.callee(op, self.facts.is_wild)
        if verdict is not None:
            return WILD if verdict else ANY
        function = applied(op)
        if function is None:
            return Value(Sign.ANY, any(v is not None and v.wild for v in inner))
        return self.facts.of_operation(op, *function)


_NOWHERE = Op((), L.SAME, ())
_STORES = ("put item", "put field", "augmented item", "augmented field", "each item", "bind")


def literal_of(operand: Operand) -> float | int | None:
    """Return the real number that an operand surely is, if it is known."""
    kind = None if isinstance(operand, P.Const | P.Spread) else kind_of(operand)
    value = operand.value if isinstance(operand, P.Const) else getattr(kind, "value", None)
    known = isinstance(operand, P.Const) or isinstance(kind, K.Num)
    return value if known and isinstance(value, int | float) else None


def is_factor(operand: Operand) -> bool:
    """Say whether a number is a literal that is finite and not 0."""
    known = literal_of(operand)
    return known is not None and known != 0 and math.isfinite(known)


def is_python_number(operand: Operand) -> bool:
    """Say whether a value is a Python number: there Python raises where NumPy goes on with nan."""
    kind: Kind = kind_of(operand)
    return isinstance(kind, K.Num) and kind.dtype is None


def _of_number(value: float) -> Value:
    if not math.isfinite(value):
        return WILD
    if value > 0:
        return Value(Sign.POSITIVE)
    return Value(Sign.NONNEGATIVE) if value == 0 else ANY


def _may_be_root(exponent: Operand) -> bool:
    """Say whether an exponent may be between 0 and 1."""
    known = literal_of(exponent)
    if known is not None:
        return 0 < known < 1
    kind = kind_of(exponent)
    return isinstance(kind, K.Unknown) or K.differentiable(kind)


def _is_singular_power(base: Sign, exponent: float | int | None) -> bool:
    if exponent is not None and exponent >= 0 and exponent == int(exponent):
        return False
    if base == Sign.POSITIVE:
        return False
    return not (exponent is not None and exponent >= 1 and base < Sign.ANY)
