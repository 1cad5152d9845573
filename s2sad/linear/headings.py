"""Each group of the backward sweep is headed by the statement of the user's that it undoes.

# total += out**2
out_bar = 2.0 * out
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.tangent_table import Table
from s2sad.nodes import clone, stand_in
from s2sad.stages import Comment, SourceLike
from s2sad.steps.joining import answers
from s2sad.write.printer import statement_text
from s2sad.write.without_ours import denoted_in, handed_on, mentions, without_ours

_HOLD_OTHERS = (gast.For, gast.While, gast.If, gast.With, gast.Try, gast.Match)


def headed(ops: Iterable[P.Operation], table: Table) -> tuple[P.Operation, ...]:
    """Return the operations of a backward sweep, each with the statement that it undoes."""
    return _Headings(table).all(ops)


def crossing(block: P.Block) -> frozenset[P.Var]:
    """Return what is computed by undoing one statement and read by undoing another, or at last."""
    undone: dict[P.Var, P.Code] = {}
    for op in P.every(block):
        if isinstance(op, Op) and isinstance(op.origin, P.Undone):
            known = (v for v in op.outs if not isinstance(v.kind, K.Unknown))
            numbers = (v for v in known if K.differentiable(v.kind))
            undone |= dict.fromkeys(numbers, op.origin.statement)
    found = [r for b in _blocks(block) for r in map(P.variable, b.end.results) if r in undone]
    for op in P.every(block):
        there = op.origin.statement if isinstance(op.origin, P.Undone) else None
        read = filter(None, map(P.variable, P.operands(op)))
        found += [v for v in read if v in undone and undone[v] is not there]
    return frozenset(v for v in found if v is not None)


def _blocks(block: P.Block) -> Iterator[P.Block]:
    yield block
    for op in P.every(block):
        yield from () if isinstance(op, Op) else P.blocks(op)


@dataclass
class _Headings:
    table: Table
    known: dict[int, P.Undone] = field(default_factory=dict)

    @cached_property
    def told(self) -> dict[str, bool]:
        """What within_gradient() decides."""
        return answers(self.table.facts.analysed)

    def all(self, ops: Iterable[P.Operation]) -> tuple[P.Operation, ...]:
        return tuple(map(self.operation, ops))

    def operation(self, operation: P.Operation) -> P.Operation:
        if isinstance(operation, Op):
            return replace(operation, origin=self.undone(operation.origin))
        made = replace(operation, origin=P.Undone(None, self.statement(operation.origin)))
        return with_blocks(made, lambda b: P.Block(b.params, self.all(b.ops), b.end))

    def undone(self, origin: P.Code) -> P.Undone:
        statement = self.statement(origin)
        if id(statement) not in self.known:
            self.known[id(statement)] = P.Undone(self.heading(statement), statement)
        return self.known[id(statement)]

    def statement(self, origin: P.Code) -> P.Code:
        return self.table.facts.analysed.function.origins.get(origin)

    def heading(self, statement: P.Code) -> P.Code:
        if statement is None or isinstance(statement, _HOLD_OTHERS):
            return None
        source = self.table.facts.analysed.function.source
        comment = Comment(_heading_of(source, self.told, statement))
        comment.origin = statement
        return stand_in(comment, statement, source)


def _heading_of(source: SourceLike, answers: dict[str, bool], origin: Any) -> str:
    """Return the user's statement as a heading of the backward sweep, without s2sad's own calls."""
    fn: Any = getattr(origin, "home", source).fn
    shown = gast.Return(origin.value) if getattr(origin, "returns", False) else origin
    denoted = denoted_in(fn, dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)))
    if answers or mentions(shown, denoted):
        shown = without_ours(clone(shown), denoted, handed_on, answers=answers)
    return statement_text(shown)
