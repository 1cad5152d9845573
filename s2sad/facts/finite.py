"""Which values may be infinite or nan although the inputs are finite, and what is known of signs.

    d = x * x + 1.0      positive
    r = np.sqrt(x)       may be nan, and its derivative infinite
    y = np.log(d)        finite, and regular: d is never 0

One walk over all assignments, repeated until nothing changes; a variable stands for all values it
takes. Overflow is no singular point: exp counts as finite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.tested import Tested, tested
from s2sad.known import spaces
from s2sad.nodes import Block, Node, blocks_of, name, names_read, names_written, number
from s2sad.rulebook.facts import Form
from s2sad.stages import Function, KindFacts


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
CalleeIsWild = Callable[[Any, Any, frozenset[str]], bool | None]

OPERATORS: dict[type, Any] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
}


def finite(
    function: Function,
    kinds: KindFacts,
    wild: frozenset[str],
    callee: CalleeIsWild,
    writers: Mapping[Any, frozenset[str]] = MappingProxyType({}),
    touched: frozenset[str] = frozenset(),
) -> Finite:
    """Return the facts of a function of which the parameters `wild` may be infinite or nan.

    `callee` says whether the result of a call of a user's function may be, for given wild names;
    None where the call is a library's. `writers` are the calls that write arrays, and which;
    `touched` are the names of arrays whose content statements change: no sign of these is sure.
    """
    facts = Finite(kinds, {n: WILD if n in wild else ANY for n in function.params}, callee)
    facts.touched = touched
    facts.tested = tested(function, kinds)
    found = list(assignments(function, facts))
    found += [(s, tuple(sorted(names)), s.value) for s, names in writers.items()]
    facts.signs &= not writers
    facts.assigned = frozenset(n for _, targets, _ in found for n in targets)
    changed = True
    while changed:
        changed = False
        for s, targets, value in found:
            changed = facts.assign(s, targets, value) or changed
    return facts


class Finite:
    """What is known of every variable of a function.

    A variable in `assigned` without a value holds nothing yet: the walk has not come to it.
    """

    def __init__(self, kinds: KindFacts, values: dict[str, Value], callee: CalleeIsWild) -> None:
        self.kinds = kinds
        self.values = values
        self.callee = callee
        self.assigned: frozenset[str] = frozenset()
        self.made: dict[Any, K.Kind] = {}
        self.reads: dict[Any, set[str]] = {}
        self.signs = True
        self.touched: frozenset[str] = frozenset()
        self.tested: Mapping[Any, Mapping[str, Tested]] = {}

    def assign(self, s: Node, targets: tuple[str, ...], value: Node) -> bool:
        """Note one more value of some variables; says whether that is new."""
        found = self.of(s, value)
        if found is None:
            return False
        before = [self.values.get(n) for n in targets]
        after = self.kinds.after.get(s, {})
        for n in targets:
            known = self.values.get(n)
            kind = after.get(n, K.UNKNOWN)
            wild = found.wild and (isinstance(kind, K.Unknown) or K.differentiable(kind))
            sure = self.signs and n not in self.touched
            new = Value(found.sign if sure else Sign.ANY, wild)
            self.values[n] = new if known is None else known.join(new)
        return before != [self.values.get(n) for n in targets]

    def wild(self) -> frozenset[str]:
        """Return the variables that may be infinite or nan."""
        return frozenset(n for n, v in self.values.items() if v.wild)

    def of(self, s: Node, node: Node) -> Value | None:
        """Return what is known of an expression; None where nothing has reached its names yet."""
        if isinstance(node, gast.Name):
            kind = self.kinds.of.get(node)
            literal = getattr(kind, "value", None)
            if isinstance(kind, K.Num) and isinstance(literal, int | float):
                return _of_number(literal)
            return self._seen(s, node.id)
        literal = number(node)
        if literal is not None:
            return _of_number(literal)
        inner: list[Value] = []
        for n in self._reads(node):
            known = self._held(n)
            if known is None:
                return None
            inner.append(known)
        verdict = self._called(s, node)
        if verdict is not None:
            return WILD if verdict else ANY
        operation = self.operation(node)
        if operation is None:
            return Value(Sign.ANY, any(p.wild for p in inner))
        fn, args = operation
        return self._of_operation(s, fn, args)

    def _seen(self, s: Node, n: str) -> Value | None:
        """Return what is known of a variable where a statement stands, by the tests around it."""
        known, told = self._held(n), self.tested.get(s, {}).get(n)
        if known is None or known.wild or told is None:
            return known
        if told.positive or (told.nonzero and known.sign < Sign.ANY):
            return Value(Sign.POSITIVE)
        return Value(min(known.sign, Sign.NONNEGATIVE)) if told.low >= 0 else known

    def _held(self, n: str) -> Value | None:
        return self.values.get(n, None if n in self.assigned else ANY)

    def _reads(self, node: Node) -> set[str]:
        found = self.reads.get(node)
        if found is None:
            found = self.reads[node] = names_read(node)
        return found

    def _called(self, s: Node, node: Node) -> bool | None:
        if not isinstance(node, gast.Call | gast.Attribute):
            return None
        return self.callee(s, node, frozenset(n for n in self._reads(node) if self._is_wild(n)))

    def _is_wild(self, n: str) -> bool:
        return self.values.get(n, ANY).wild

    def operation(self, node: Node) -> tuple[Any, list[Node]] | None:
        """Return the library function that an expression applies, and to what."""
        if isinstance(node, gast.BinOp):
            fn = OPERATORS.get(type(node.op))
            return None if fn is None else (fn, [node.left, node.right])
        if isinstance(node, gast.Call):
            fn = self.kinds.objects.get(node.func)
            if fn is None and isinstance(node.func, gast.Attribute):
                fn = registry.method_function(node.func.attr)
                return None if fn is None else (fn, [node.func.value, *node.args])
            return None if fn is None else (fn, list(node.args))
        if isinstance(node, gast.Attribute):
            fn = registry.property_function(node.attr)
            return None if fn is None else (fn, [node.value])
        if isinstance(node, gast.Subscript) and isinstance(self.kind(node.value), K.Array):
            return np.copy, [node.value]
        return None

    def kind(self, node: Node) -> K.Kind:
        """Return the kind of an expression, also of one that was made up."""
        known = self.kinds.of.get(node)
        return self.made.get(node, K.UNKNOWN) if known is None else known

    def augmented(self, s: Node) -> Node:
        """Return `x op y` for the statement `x op= y`."""
        if not isinstance(s.target, gast.Name):
            return gast.BinOp(s.target, s.op, s.value)
        value = gast.BinOp(name(s.target.id), s.op, s.value)
        self.made[value.left] = self.kind(s.target)
        return value

    def _of_operation(self, s: Node, fn: Any, args: list[Node]) -> Value:
        inner = [self.of(s, a) or ANY for a in args if not isinstance(a, gast.Starred)]
        wild = any(v.wild for v in inner)
        if len(inner) != len(args) or any(K.is_complex(self.kind(a)) for a in args):
            return Value(Sign.ANY, wild or self.singular(s, fn, args))
        sign = self._sign(s, fn, args, inner) if not wild else Sign.ANY
        return Value(sign, wild or self._leaves(s, fn, args))

    def _leaves(self, s: Node, fn: Any, args: list[Node]) -> bool:
        """Say whether an operation makes something infinite of what is finite: logarithms do.

        A quotient may as well, but then nearly every value might, and every product would need a
        guard: that a divisor vanishes is answered at the division alone.
        """
        if registry.numbers_of(fn).form not in _LOGARITHMS:
            return False
        if not isinstance(spaces.twin(fn), np.ufunc):  # Python's own raise there
            return False
        return not all(_is_python_number(self.kind(a)) for a in args) and self.singular(s, fn, args)

    def _sign(self, s: Node, fn: Any, args: list[Node], inner: list[Value]) -> Sign:
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
        return self._sign_of_two(s, form, args, signs) if count == 2 else Sign.ANY

    def _sign_of_two(self, s: Node, form: Form, args: list[Node], signs: list[Sign]) -> Sign:
        left, right = signs
        known = max(left, right) < Sign.ANY
        if form == "inner":
            square = _same_name(*args) and all(getattr(self.kind(a), "rank", 0) == 1 for a in args)
            return Sign.NONNEGATIVE if square or known else Sign.ANY
        if form == "product":
            product = max(left, right, Sign.TINY)
            return min(product, Sign.NONNEGATIVE) if _same_name(*args) else product
        if form == "power":
            exponent = self._literal(args[1])
            even = exponent is not None and exponent >= 0 and exponent % 2 == 0
            power = max(left, Sign.TINY)
            return min(power, Sign.NONNEGATIVE) if even else power
        if form == "sum":
            return min(left, right) if known else Sign.ANY
        if form == "difference":
            return self._sign_of_difference(s, *args)
        if form == "quotient":
            return max(left, Sign.TINY) if right == Sign.POSITIVE else Sign.ANY
        return Sign.ANY

    def _sign_of_difference(self, s: Node, left: Node, right: Node) -> Sign:
        """Return the sign of `x - 1.0` where x was compared with a number."""
        known = self.tested.get(s, {}).get(getattr(left, "id", ""), Tested())
        less = self._literal(right)
        rest = -math.inf if less is None else known.low - less
        if rest > 0 or (rest == 0 and known.strict):
            return Sign.POSITIVE
        return Sign.NONNEGATIVE if rest == 0 else Sign.ANY

    def singular(self, s: Node, fn: Any, args: list[Node]) -> bool:
        """Say whether a function or its derivative may be infinite or nan at finite operands."""
        rule = registry.rule_for(fn)
        if rule is None or not rule.regular:
            return False
        if not args or any(isinstance(a, gast.Starred) for a in args):
            return True
        form = registry.numbers_of(fn).form
        if form in ("quotient", "remainder"):
            return self._may_vanish(s, args)
        first = self.of(s, args[0]) or ANY
        if form == "power" and len(args) == 2:
            return self._singular_power(first, args)
        if form == "logarithm of one plus":
            return first.sign > Sign.NONNEGATIVE
        return form not in _SINGULAR_AT_ZERO or first.sign > Sign.POSITIVE

    def steep(self, s: Node, fn: Any, args: list[Node], active: frozenset[str]) -> bool:
        """Say whether the derivative by an active operand may be infinite and the value finite."""
        rule = registry.rule_for(fn)
        if rule is None or not rule.steep or not self.singular(s, fn, args):
            return False
        named = registry.array_names(rule)
        still = {p for p, a in zip(named, args, strict=False) if not names_read(a) & active}
        if still >= set(rule.steep):
            return False
        form = registry.numbers_of(fn).form
        at_zero = form in ("root", "power")
        if at_zero and args and (self.of(s, args[0]) or ANY).sign <= Sign.TINY:
            return False
        return form != "power" or len(args) != 2 or self._may_be_root(args[1])

    def _may_be_root(self, exponent: Node) -> bool:
        """Say whether an exponent may be between 0 and 1."""
        known = self._literal(exponent)
        if known is not None:
            return 0 < known < 1
        kind = self.kind(exponent)
        return isinstance(kind, K.Unknown) or K.differentiable(kind)

    def _may_vanish(self, s: Node, args: list[Node]) -> bool:
        """Say whether a divisor may be 0. Python numbers raise where they are divided by it."""
        kinds = [self.kind(a) for a in args]
        divisor = self._literal(args[-1])
        if divisor is not None and divisor != 0:
            return False
        if isinstance(kinds[-1], K.Num) and kinds[-1].type in ("int", "bool"):
            return False
        if all(_is_python_number(k) for k in kinds):
            return False
        return (self.of(s, args[-1]) or ANY).sign > Sign.POSITIVE

    def _singular_power(self, base: Value, args: list[Node]) -> bool:
        exponent = self._literal(args[1])
        if exponent is not None and exponent >= 0 and exponent == int(exponent):
            return False
        if base.sign == Sign.POSITIVE:
            return False
        return not (exponent is not None and exponent >= 1 and base.sign < Sign.ANY)

    def is_factor(self, node: Node) -> bool:
        """Say whether a number is a literal that is finite and not 0."""
        known = self._literal(node)
        return known is not None and known != 0 and math.isfinite(known)

    def _literal(self, node: Node) -> float | int | None:
        value = number(node)
        if value is None:
            value = getattr(self.kind(node), "value", None)
        return value if isinstance(value, int | float) else None


def _same_name(left: Node, right: Node) -> bool:
    """Say whether two operands are one variable."""
    named = isinstance(left, gast.Name) and isinstance(right, gast.Name)
    return named and bool(left.id == right.id)


def _is_python_number(kind: K.Kind) -> bool:
    """Say whether a value is a Python number: there Python raises where NumPy goes on with nan."""
    return isinstance(kind, K.Num) and kind.dtype is None


def _of_number(value: float) -> Value:
    if not math.isfinite(value):
        return WILD
    if value > 0:
        return Value(Sign.POSITIVE)
    return Value(Sign.NONNEGATIVE) if value == 0 else ANY


def assignments(function: Function, facts: Finite) -> Iterator[tuple[Node, tuple[str, ...], Node]]:
    """Yield every statement that gives values to variables: statement, variables, expression.

    Where something other than an array is written another name may see the change: then no sign is
    sure.
    """
    return _assignments_in(function.node.body, function, facts, False)


def _assignments_in(
    block: Block, function: Function, facts: Finite, bindings: bool
) -> Iterator[tuple[Node, tuple[str, ...], Node]]:
    for s in block:
        if not bindings and s not in facts.kinds.before:
            continue
        if isinstance(s, gast.Assign):
            for target in s.targets:
                facts.signs &= not _in_structure(target, facts.kinds)
                if isinstance(target, gast.Subscript | gast.Attribute):
                    facts.touched |= {*_bound(target)}
                yield s, _bound(target), s.value
        elif isinstance(s, gast.AugAssign):
            plain = isinstance(s.target, gast.Name)
            scalar = plain and isinstance(facts.kinds.of.get(s.target), K.Num)
            facts.signs &= scalar or not (plain or _in_structure(s.target, facts.kinds))
            if not plain:
                facts.touched |= {*_bound(s.target)}
            yield s, _bound(s.target), facts.augmented(s) if plain else s.value
        elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            if isinstance(s.value.func, gast.Attribute):
                facts.signs &= s.value.func.attr == "append"
                yield s, _bound(s.value.func.value), s.value
        elif isinstance(s, gast.For):
            plan = function.loops[s]
            if plan.bounds is not None:
                yield from _assignments_in(list(plan.bindings), function, facts, True)
            else:
                yield s, _bound(s.target), s.iter
        elif isinstance(s, gast.With):
            for item in s.items:
                if item.optional_vars is not None:
                    yield s, _bound(item.optional_vars), item.context_expr
        elif isinstance(s, gast.Match):
            for case in s.cases:
                for n in sorted(names_written(case.pattern)):
                    yield s, (n,), s.subject
        for part in blocks_of(s):
            yield from _assignments_in(part, function, facts, bindings)


def _in_structure(target: Node, kinds: KindFacts) -> bool:
    """Say whether an assignment changes something that is not surely an array."""
    if not isinstance(target, gast.Subscript | gast.Attribute):
        return False
    return not isinstance(kinds.of.get(target.value), K.Array)


def _bound(target: Node) -> tuple[str, ...]:
    """Return the variables that an assignment to a target changes."""
    if isinstance(target, gast.Tuple | gast.List):
        return tuple(n for e in target.elts for n in _bound(e))
    while isinstance(target, gast.Subscript | gast.Attribute | gast.Starred):
        target = target.value
    return (target.id,) if isinstance(target, gast.Name) else ()
