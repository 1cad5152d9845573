"""A program with other variables in the place of its own: the same operations, in the same order.

y = x * x        mapped(program, change)        change(y) = change(x) * change(x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var


def mapped(program: P.Program, change: Callable[[Var], Var]) -> P.Program:
    """Return a program whose variables are others; `change` is asked once for each."""
    return replace(program, block=_Mapping(change, {}).block(program.block))


class _Mapping:
    def __init__(self, change: Callable[[Var], Var], found: dict[Var, Var]) -> None:
        self.change = change
        self.found = found

    def var(self, v: Var) -> Var:
        if v not in self.found:
            self.found[v] = self.change(v)
        return self.found[v]

    def all(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(map(self.var, variables))

    def operand(self, operand: Operand) -> Operand:
        if isinstance(operand, P.Spread):
            inner = operand.value
            return replace(operand, value=self.var(inner) if isinstance(inner, Var) else inner)
        return self.var(operand) if isinstance(operand, Var) else operand

    def operands(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(map(self.operand, operands))

    def place(self, place: P.Place) -> P.Place:
        path = tuple(
            P.Item(self.operand(s.index)) if isinstance(s, P.Item) else s for s in place.path
        )
        held = place.object
        return P.Place(self.var(held) if isinstance(held, Var) else held, path)

    def target(self, target: P.Target) -> P.Target:
        return self.var(target) if isinstance(target, Var) else tuple(map(self.target, target))

    def block(self, block: P.Block) -> P.Block:
        params = self.all(block.params)
        ops = tuple(self.op(o) if isinstance(o, Op) else self.region(o) for o in block.ops)
        return P.Block(params, ops, replace(block.end, results=self.operands(block.end.results)))

    def op(self, op: Op) -> Op:
        given = [(w, self.operand(v) if isinstance(v, P.OPERANDS) else v) for w, v in op.settings]
        return replace(
            op,
            outs=self.all(op.outs),
            operands=self.operands(op.operands),
            settings=tuple(given),
            reads=tuple(map(self.place, op.reads)),
            writes=tuple(map(self.place, op.writes)),
        )

    def region(self, region: P.Region) -> P.Region:
        outs = self.all(region.outs)
        match region:
            case P.If(test=test, then=then, orelse=orelse):
                then, orelse = self.block(then), self.block(orelse)
                return replace(region, outs=outs, test=self.operand(test), then=then, orelse=orelse)
            case P.For():
                return replace(
                    region,
                    outs=outs,
                    over=self.operand(region.over),
                    target=self.target(region.target),
                    starts=self.operands(region.starts),
                    body=self.block(region.body),
                )
            case P.While():
                return P.While(
                    outs,
                    self.all(region.carried),
                    self.operands(region.starts),
                    self.block(region.test),
                    self.block(region.body),
                    region.origin,
                )
            case P.Collect():
                over, target = self.operand(region.over), self.target(region.target)
                body = self.block(region.body)
                return replace(region, outs=outs, over=over, target=target, body=body)
            case P.With():
                manager = self.operand(region.manager)
                bound = None if region.target is None else self.target(region.target)
                body = self.block(region.body)
                return replace(region, outs=outs, manager=manager, target=bound, body=body)
            case P.Try():
                handlers = tuple(map(self.handler, region.handlers))
                blocks = map(self.block, (region.body, region.orelse, region.final))
                body, orelse, final = blocks
                return P.Try(outs, body, handlers, orelse, final, region.origin)
            case P.Match():
                subject = self.operand(region.subject)
                cases = tuple(map(self.case, region.cases))
                return P.Match(outs, subject, cases, region.origin)

    def handler(self, handler: P.Handler) -> P.Handler:
        kind = None if handler.kind is None else self.block(handler.kind)
        caught = None if handler.caught is None else self.var(handler.caught)
        return P.Handler(kind, caught, self.block(handler.body))

    def case(self, case: P.Case) -> P.Case:
        guard = None if case.guard is None else self.block(case.guard)
        return P.Case(case.pattern, self.all(case.bound), guard, self.block(case.body))
