"""Programs built anew: other operands in an operation, other blocks in a region.

    z = Add(x, y)           with {x: 2.0}           z = Add(2.0, y)
    If(t): then, orelse     with a change           If(t): change(then), change(orelse)

A pass that replaces variables, or walks blocks, says what it changes; the rest is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var

Table = Mapping[Var, Operand]
Change = Callable[[P.Block], P.Block]


def operand(given: Operand, table: Table) -> Operand:
    """Return an operand, or what a table has in its place; one that is spread stays so."""
    if isinstance(given, Var):
        return table.get(given, given)
    if isinstance(given, P.Spread) and isinstance(given.value, Var):
        value = table.get(given.value, given.value)
        if isinstance(value, Var | P.Const | P.Outer):
            return P.Spread(value, given.named)
    return given


def operands(given: tuple[Operand, ...], table: Table) -> tuple[Operand, ...]:
    """Return operands with what a table has in the place of some."""
    return tuple(operand(v, table) for v in given)


def with_operands(operation: P.Operation, table: Table) -> P.Operation:
    """Return an operation that reads other operands; what stands in its blocks stays."""
    match operation:
        case Op():
            return op_with(operation, table)
        case P.If():
            return replace(operation, test=operand(operation.test, table))
        case P.For():
            over, starts = operand(operation.over, table), operands(operation.starts, table)
            return replace(operation, over=over, starts=starts)
        case P.While():
            return replace(operation, starts=operands(operation.starts, table))
        case P.Collect():
            return replace(operation, over=operand(operation.over, table))
        case P.With():
            return replace(operation, manager=operand(operation.manager, table))
        case P.Match():
            return replace(operation, subject=operand(operation.subject, table))
        case P.Try():
            return operation


def op_with(op: Op, table: Table) -> Op:
    """Return an operation that reads, and whose places are those of, other operands."""
    if table.keys().isdisjoint(_met(op)):
        return op
    given = operands(op.operands, table)
    settings = tuple(
        (word, operand(v, table) if isinstance(v, P.OPERANDS) else v) for word, v in op.settings
    )
    reads, writes = places(op.reads, table), places(op.writes, table)
    return replace(op, operands=given, settings=settings, reads=reads, writes=writes)


def _met(op: Op) -> Iterator[Var]:
    """Yield the variables that an operation reads, and those of its places."""
    steps = [s for p in (*op.reads, *op.writes) for s in p.path]
    given = [*P.operands(op), *(s.index for s in steps if isinstance(s, P.Item))]
    given += [p.object for p in (*op.reads, *op.writes)]
    yield from (v for v in map(P.variable, given) if v is not None)


def places(found: tuple[Place, ...], table: Table) -> tuple[Place, ...]:
    """Return places in other objects; a literal has no memory, and so no places."""
    return tuple(made for p in found for made in [_place(p, table)] if made is not None)


def _place(place: Place, table: Table) -> Place | None:
    owner = operand(place.object, table)
    if not isinstance(owner, Var | P.Outer):
        return None
    steps = [P.Item(operand(s.index, table)) if isinstance(s, P.Item) else s for s in place.path]
    return Place(owner, tuple(steps))


def with_end(block: P.Block, table: Table) -> P.Block:
    """Return a block that hands over other operands."""
    end = replace(block.end, results=operands(block.end.results, table))
    return P.Block(block.params, block.ops, end)


def with_blocks(region: P.Region, change: Change) -> P.Region:
    """Return a region whose blocks are changed, in the order in which they stand."""
    match region:
        case P.If():
            return replace(region, then=change(region.then), orelse=change(region.orelse))
        case P.For() | P.Collect() | P.With():
            return replace(region, body=change(region.body))
        case P.While():
            return replace(region, test=change(region.test), body=change(region.body))
        case P.Try():
            body = change(region.body)
            handlers = tuple(_handler(h, change) for h in region.handlers)
            orelse, final = change(region.orelse), change(region.final)
            return replace(region, body=body, handlers=handlers, orelse=orelse, final=final)
        case P.Match():
            return replace(region, cases=tuple(_case(c, change) for c in region.cases))


def _handler(handler: P.Handler, change: Change) -> P.Handler:
    kind = None if handler.kind is None else change(handler.kind)
    return replace(handler, kind=kind, body=change(handler.body))


def _case(case: P.Case, change: Change) -> P.Case:
    guard = None if case.guard is None else change(case.guard)
    return replace(case, guard=guard, body=change(case.body))


def substituted(block: P.Block, table: Table) -> P.Block:
    """Return a block in which a table's operands stand for variables, in all blocks in it."""

    def change(inner: P.Block) -> P.Block:
        return substituted(inner, table)

    ops = []
    for operation in block.ops:
        new = with_operands(operation, table)
        ops.append(new if isinstance(new, Op) else with_blocks(new, change))
    return with_end(P.Block(block.params, tuple(ops), block.end), table)
