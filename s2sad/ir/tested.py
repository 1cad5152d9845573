"""What the tests around an operation say of numbers there.

    if d > 0.0:
        r = math.sqrt(d)      d is positive here
    else:
        r = 0.0               and here it is not

It holds for numbers that are not nan: whether one may be is for `finite` to say. A variable is
bound once: what a test says of it holds wherever the test has been passed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var


@dataclass(frozen=True)
class Tested:
    """A number is at least `low`, and not `low` itself where that is `strict`; perhaps no zero."""

    low: float = -math.inf
    strict: bool = False
    nonzero: bool = False

    @property
    def positive(self) -> bool:
        """Whether the number is more than 0."""
        return self.low > 0 or (self.low == 0 and (self.strict or self.nonzero))

    def both(self, other: Tested) -> Tested:
        """Return what is known where both are."""
        first = max(self, other, key=lambda t: (t.low, t.strict))
        return replace(first, nonzero=self.nonzero or other.nonzero)


Env = Mapping[Var, Tested]


def tested(program: P.Program) -> Mapping[P.Operation, Env]:
    """Return, for every operation of a program, what tests say of numbers before it."""
    walk = _Walk()
    walk.block(program.block, {})
    return walk.found


@dataclass
class _Walk:
    """Walks blocks in order; `makers` says which operation binds a variable."""

    found: dict[P.Operation, Env] = field(default_factory=dict)
    makers: dict[Var, P.Operation] = field(default_factory=dict)

    def block(self, block: P.Block, env: Env) -> Env | None:
        """Return what is known after a block, None where nothing in this one comes after it."""
        for operation in block.ops:
            self.found[operation] = env
            self.makers |= dict.fromkeys(operation.outs, operation)
            if isinstance(operation, P.If):
                ends = [
                    self.block(operation.then, _with(env, self.says(operation.test, True))),
                    self.block(operation.orelse, _with(env, self.says(operation.test, False))),
                ]
                env = _meet(end for end in ends if end is not None)
            elif isinstance(operation, P.While):
                self.block(operation.test, env)
                (*_, test) = operation.test.end.results
                self.block(operation.body, _with(env, self.says(test, True)))
            elif not isinstance(operation, Op):
                for inner in P.blocks(operation):
                    self.block(inner, env)
        return env if block.end.how in ("next", "yield") else None

    def says(self, test: Operand, holds: bool) -> Env:
        """Return what it says of numbers that a test holds, or that it does not."""
        made = self.makers.get(test) if isinstance(test, Var) else None
        if isinstance(made, P.If):
            return self.both_say(made, holds)
        if not isinstance(made, Op):
            return {}
        if made.primitive.form == "prefix" and made.primitive.word == "Not":
            return self.says(made.operands[0], not holds)
        if made.primitive.form == "compare" and len(made.operands) == 2:
            return _compared(made, holds)
        return {}

    def both_say(self, region: P.If, holds: bool) -> Env:
        """Return what `a and b` says where it holds, and `a or b` where it does not."""
        arms = region.then.end.results, region.orelse.end.results
        kept = arms[1] if holds else arms[0]  # `a` itself decides there
        if region.style not in ("and", "or", "also") or kept != (region.test,):
            return {}
        (second,) = arms[0] if holds else arms[1]
        return _with(self.says(region.test, holds), self.says(second, holds))


def _compared(op: Op, holds: bool) -> Env:
    """Return what a comparison of a number with a literal says of the number."""
    (left, right), word = op.operands, op.primitive.word
    if isinstance(left, P.Const):
        left, word, right = right, _TURNED.get(word, word), left
    bound = right.value if isinstance(right, P.Const) else None
    if type(bound) not in (int, float) or not isinstance(left, Var):
        return {}
    if not isinstance(left.kind, K.Num) or left.kind.type == "complex":
        return {}
    assert isinstance(bound, int | float)
    word = word if holds else _OPPOSITE.get(word, word)
    if word in ("Gt", "GtE"):
        return {left: Tested(bound, word == "Gt")}
    if word == "Eq":
        return {left: Tested(bound, nonzero=bound != 0)}
    return {left: Tested(nonzero=True)} if word == "NotEq" and bound == 0 else {}


_TURNED = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}
_OPPOSITE = {"Lt": "GtE", "LtE": "Gt", "Gt": "LtE", "GtE": "Lt", "Eq": "NotEq", "NotEq": "Eq"}


def _with(env: Env, more: Env) -> Env:
    if not more:
        return env
    return {**env, **{v: t.both(env[v]) if v in env else t for v, t in more.items()}}


def _meet(ends: Iterable[Env]) -> Env:
    """Return what is known on all of several ways."""
    first, *others = [*ends] or [{}]
    if all(end is first for end in others):
        return first
    return {v: t for v, t in first.items() if all(end.get(v) == t for end in others)}
