"""Which variables of a derived program differ from direction to direction: the tangents.

    y_dot = x_dot * c          y_dot does: it is made of x_dot
    h_dot = zeros_like(h)      h_dot does: linearise has made it for a tangent
    c = np.cos(x)              c does not

Before: a program with tangents written out, and the tangents that linearise knows. After: all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.tangent_table import Table

Passed = Mapping[str, tuple[str, ...]]
"""The names of the tangents that derived functions take, by the names of these."""


@dataclass(frozen=True)
class _Known:
    """What is no tangent: the `values`; and what makes each variable."""

    table: Table
    values: frozenset[Var]
    passed: Passed
    makers: Mapping[Var, P.Operation]

    def mixed(self, at: object) -> Exception:
        """Return an error about what is a value and a tangent."""
        return self.table.cannot(
            at,
            "s2sad cannot tell what is computed here from its derivative, of which several "
            "directions are asked for.",
            "Use s2sad.jvp, which follows one direction, or a gradient.",
        )


def tangents_of(
    table: Table, program: P.Program, known: Iterable[Var], values: frozenset[Var], passed: Passed
) -> frozenset[Var]:
    """Return the variables that differ from direction to direction; those of `values` do not."""
    found = set(known)
    values |= frozenset(program.block.params) - found
    makers = {v: op for op in P.every(program.block) for v in op.outs}
    sure = _Known(table, values, passed, makers)
    count = -1
    while count != len(found):
        count = len(found)
        _spread(program.block, found, sure)
    mixed = found & values
    if mixed:
        raise sure.mixed(table.binds(min(mixed, key=lambda v: v.name)))
    return frozenset(found)


def _spread(block: P.Block, found: set[Var], sure: _Known) -> None:
    for operation in P.every(block):
        if isinstance(operation, Op):
            if found.isdisjoint(read(operation)) or derived(operation, sure.passed) is not None:
                continue
            if not _is_pair(operation, block):
                found.update(operation.outs)
            for place in operation.writes:
                _written(operation, place.object, found, sure)
        else:
            _through(operation, found)
            if isinstance(operation, P.For):
                _bound(operation.over, operation.target, found, sure.makers)


def _bound(
    over: Operand, target: P.Target, found: set[Var], makers: Mapping[Var, P.Operation]
) -> None:
    """Note what a loop binds to tangents, beside values: `for x, x_dot in zip(xs, xs_dot)`."""
    v = P.variable(over)
    if v is None or v not in found:
        return
    made = makers.get(v)
    fn = made.operands[0] if isinstance(made, Op) and made.primitive.form == "call" else None
    called = fn.kind.value if isinstance(fn, P.Outer) and isinstance(fn.kind, K.Known) else None
    if isinstance(made, Op) and called in (zip, enumerate) and isinstance(target, tuple):
        sources = made.operands[1:]
        targets = target if called is zip else target[1:]
        for source, part in zip(sources, targets, strict=False):
            _bound(source, part, found, makers)
        return
    found.update(P.flat(target))


def _is_pair(op: Op, block: P.Block) -> bool:
    """Say whether an operation makes what the function gives: a value, and its tangent."""
    return op.outs == block.end.results


def _written(op: Op, owner: Var | P.Outer, found: set[Var], sure: _Known) -> None:
    """Note memory that tangents are written into, and what that is a part of.

    A function of a rule's, of which nothing is known, writes no values.
    """
    if owner in found:
        return
    if isinstance(owner, P.Outer) or owner in sure.values:
        if op.primitive.effect == "writes":
            raise sure.mixed(op.origin)
        return
    found.add(owner)
    made = sure.makers.get(owner)
    if isinstance(made, Op) and made.primitive.effect in ("reads", "any"):
        for v in read(made):
            if not K.shares_nothing(v.kind):
                _written(op, v, found, sure)


def _through(region: P.Region, found: set[Var]) -> None:
    """Note what regions hand on."""
    match region:
        case P.If():
            if P.variable(region.test) in found:
                found.update(region.outs)
            for block in (region.then, region.orelse):
                _handed(region.outs, block, found)
        case P.For() | P.While():
            carried = region.body.params if isinstance(region, P.For) else region.carried
            _given(carried, region.starts, found)
            _handed(carried, region.body, found)
            _given(region.outs, carried, found)
        case P.Collect():
            if not found.isdisjoint(read(region)):
                found.update(region.outs)
        case P.With():
            _handed(region.outs, region.body, found)
        case P.Match():
            for case in region.cases:
                _handed(region.outs, case.body, found)
        case P.Try():
            for block in (region.orelse, *(h.body for h in region.handlers)):
                _handed(region.of_arms, block, found)
            _handed(region.of_final, region.final, found)


def _handed(outs: Iterable[Var], block: P.Block, found: set[Var]) -> None:
    if block.end.how == "next":
        _given(outs, block.end.results, found)


def _given(outs: Iterable[Var], results: Iterable[Operand], found: set[Var]) -> None:
    found.update(v for v, r in zip(outs, results, strict=False) if P.variable(r) in found)


def read(operation: P.Operation) -> list[Var]:
    """Return the variables that an operation reads, and all blocks in it."""
    return [v for v in map(P.variable, _operands(operation)) if v is not None]


def _operands(operation: P.Operation) -> Iterator[Operand]:
    yield from P.operands(operation)
    for block in () if isinstance(operation, Op) else P.blocks(operation):
        for inner in block.ops:
            yield from _operands(inner)
        yield from block.end.results


def derived(operation: P.Operation, passed: Passed) -> tuple[str, ...] | None:
    """Return the names of the tangents of the derived function that is called, if one is."""
    if not isinstance(operation, Op) or operation.primitive.form != "call":
        return None
    callee = operation.operands[0]
    return passed.get(callee.name) if isinstance(callee, P.Outer) else None
