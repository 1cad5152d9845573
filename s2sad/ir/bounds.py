"""What is known of integers in loops: one is never less than another, in a round or across rounds.

    for t in range(n - 1, -1, -1):
        u[t + 1] = u_0                0 <= t + 1, and what t + 1 is in later rounds is less
        u_bar[t] += v                 t < t + 1

An integer is a sum of symbols, each times a literal. A symbol is a variable, where it stands in the
round at hand or in a later one of some loop. What bounds it are the range that a loop goes through,
and that no length is negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir import program as P
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.primitives import language as L
from s2sad.rulebook.facts import numbers_of

_DEPTH = 5  # so many bounds are put in one after the other


@dataclass(frozen=True)
class Symbol:
    """An integer that a variable holds, in the round at hand or in one that is `later`."""

    of: Var
    later: bool = False


@dataclass(frozen=True)
class Sum:
    """A literal and symbols, each times a literal that is not zero."""

    literal: int
    symbols: frozenset[tuple[Symbol, int]] = frozenset()

    def plus(self, other: Sum, times: int = 1) -> Sum:
        """Return the sum with so many times another one added."""
        found = dict(self.symbols)
        for s, count in other.symbols:
            found[s] = found.get(s, 0) + count * times
        kept = frozenset((s, c) for s, c in found.items() if c)
        return Sum(self.literal + other.literal * times, kept)


ZERO, ONE = Sum(0), Sum(1)


@dataclass(frozen=True)
class _Range:
    """The numbers that a loop goes through, from the first that runs to the last, by a step."""

    loop: P.For
    least: tuple[Operand, int]
    most: tuple[Operand, int]
    down: bool


@dataclass
class Bounds:
    """The integers of a program; `around` are the loops in which each variable is bound."""

    makers: dict[Var, Op] = field(default_factory=dict)
    around: dict[Var, tuple[P.Region, ...]] = field(default_factory=dict)
    loops: dict[Var, P.For] = field(default_factory=dict)
    _ranges: dict[Var, _Range | None] = field(default_factory=dict)

    def sum_of(self, given: Operand, later: P.Region | None = None) -> Sum | None:
        """Return an integer as a sum; in a round that is later in a loop, if one is given."""
        if isinstance(given, P.Const):
            return Sum(given.value) if type(given.value) is int else None
        if not isinstance(given, Var) or given.cell or not _is_integer(given):
            return None
        op = self.makers.get(given)
        parts = None if op is None else self._parts(op, later)
        if parts is not None:
            return parts
        moved = later is not None and later in self.around.get(given, ())
        return Sum(0, frozenset({(Symbol(given, moved), 1)}))

    def _parts(self, op: Op, later: P.Region | None) -> Sum | None:
        word = op.primitive.word
        if op.primitive.form not in ("infix", "same", "prefix"):
            return None
        found = [self.sum_of(o, later) for o in op.operands]
        if op.primitive.form == "same":
            return found[0]
        match word, found:
            case "USub", [Sum() as one]:
                return Sum(0).plus(one, -1)
            case "Add" | "Sub", [Sum() as one, Sum() as other]:
                return one.plus(other, 1 if word == "Add" else -1)
            case "Mult", [Sum() as one, Sum() as other] if not (one.symbols and other.symbols):
                many, times = (one, other) if one.symbols else (other, one)
                return Sum(0).plus(many, times.literal)
        return None

    def never_less(self, one: Sum, other: Sum, later: P.Region | None = None) -> bool:
        """Say whether one integer is surely not less than another."""
        return self._holds(one.plus(other, -1), later, _DEPTH)

    def _holds(self, total: Sum, later: P.Region | None, depth: int) -> bool:
        """Say whether a sum is surely not negative: bounds stand in the place of its symbols."""
        if not total.symbols:
            return total.literal >= 0
        for s, count in sorted(total.symbols, key=lambda pair: pair[1]) if depth else ():
            rest = total.plus(Sum(0, frozenset({(s, 1)})), -count)
            for bound in self._bounds(s, count > 0, later):
                if self._holds(rest.plus(bound, count), later, depth - 1):
                    return True
        return False

    def _bounds(self, s: Symbol, below: bool, later: P.Region | None) -> Iterator[Sum]:
        """Yield what a symbol is at least, if `below`, or at most."""
        if below and (self._is_length(s.of) or self._is_quotient(s, later)):
            yield Sum(0)
        loop = self.loops.get(s.of)
        found = None if loop is None else self._range(s.of, loop)
        if found is None:
            return
        operand, shift = found.least if below else found.most
        end = self.sum_of(operand, later if s.later else None)
        if end is not None:
            yield end.plus(ONE, shift)
        if found.loop is later and s.later is (below is not found.down):
            yield Sum(1 if below else -1, frozenset({(Symbol(s.of, not s.later), 1)}))

    def _range(self, target: Var, loop: P.For) -> _Range | None:
        if target not in self._ranges:
            self._ranges[target] = self._read_range(loop)
        return self._ranges[target]

    def _read_range(self, loop: P.For) -> _Range | None:
        over, down = self._call(loop.over), False
        while over is not None and I.function_of(over.operands[0]) is reversed:
            over, down = self._call(over.operands[1]), not down
        if over is None or I.function_of(over.operands[0]) is not range:
            return None
        given = list(over.operands[1:])
        if any(isinstance(o, P.Spread) for o in given):
            return None
        if len(given) == 1:
            given.insert(0, P.Const(0))
        first, stop, *steps = given
        step = steps[0] if steps else P.Const(1)
        if not isinstance(step, P.Const) or type(step.value) is not int or not step.value:
            return None
        if step.value > 0:
            return _Range(loop, (first, 0), (stop, -1), down)
        return _Range(loop, (stop, 1), (first, 0), not down)

    def _call(self, given: Operand) -> Op | None:
        op = self.makers.get(given) if isinstance(given, Var) else None
        called = op is not None and op.primitive.form == "call" and len(op.operands) > 1
        return op if called and op is not None and not op.settings else None

    def _is_quotient(self, s: Symbol, later: P.Region | None) -> bool:
        """Say whether a symbol is n % 2, or n // 2 of an n that is surely not negative."""
        op = self.makers.get(s.of)
        if op is None or op.primitive not in (L.INFIX["FloorDiv"], L.INFIX["Mod"]):
            return False
        one, by = op.operands
        if not isinstance(by, P.Const) or type(by.value) is not int or by.value < 1:
            return False
        total = self.sum_of(one, later if s.later else None)
        if op.primitive is L.INFIX["Mod"]:
            return total is not None  # of integers
        return total is not None and self._holds(total, later, 1)

    def _is_length(self, v: Var) -> bool:
        """Say whether a variable is a length, or a number of axes or elements, of an array."""
        op = self.makers.get(v)
        if op is not None and op.primitive.form == "item" and isinstance(op.operands[0], Var):
            op = self.makers.get(op.operands[0])
        if op is None:
            return False
        if op.primitive.form == "field":  # the integers of an array count something
            return isinstance(kind_of(op.operands[0]), K.Array)
        fn = I.function_of(op.operands[0]) if op.primitive.form == "call" else None
        return fn is len or (fn is not None and numbers_of(fn).of_shape)


def _is_integer(v: Var) -> bool:
    """Say whether a variable is one of Python's own integers, which never wrap."""
    kind = v.kind
    return isinstance(kind, K.Num) and kind.type == "int" and kind.dtype is None and not kind.either
