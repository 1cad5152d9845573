"""What a backward sweep reads of globals and captured variables, by the names they have outside.

y = x * G        x_bar = y_bar * G                  G must not be stored in between
                 x_bar = y_bar * G_1                where the sweep runs later: G_1 is a copy
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.fence import check_managers
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.tangent_table import Tangents
from s2sad.nodes import dotted
from s2sad.primitives import language as L
from s2sad.steps.derivation import Analysed, Derivation, memory_of

_CODE = (K.Known, K.LocalFunction, K.Choice)


def note_outside(
    d: Derivation, a: Analysed, program: P.Program, backward: Iterable[P.Operation]
) -> None:
    """Note what memory a backward sweep reads outside: stored in between, it is another one.

    Variables of the forward sweep may show such memory. What a manager may change when its block
    is left is not read at all.
    """
    backward = tuple(backward)
    makers = {v: o for o in P.every(program.block) if isinstance(o, P.Op) for v in o.outs}
    bound = (v for o in P.every(program.block) for v in (*o.outs, *P.bound(o)))
    known = {*program.block.params, *bound}
    read = [v for v in read_in(backward) if v in known and not K.shares_nothing(v.kind)]
    outside = [o for o in data_outside(backward) if not K.shares_nothing(o.kind)]
    shown: tuple[Operand, ...] = (*outside, *read)
    paths = sorted({path for o in shown for path in _paths(o, makers)})
    d.read_outside.setdefault(a, {}).update((path, dotted(path)) for path in paths)
    check_managers(a.function, a.kinds, memory_of(d, a), {v.name for v in read})


def read_in(operations: Iterable[P.Operation]) -> Iterator[Var]:
    """Yield the variables that operations read, at any depth."""
    yield from filter(None, map(P.variable, _given(operations)))


def _given(operations: Iterable[P.Operation]) -> Iterator[Operand]:
    """Yield what operations are given, and what blocks in them hand over, at any depth."""
    for operation in operations:
        if not isinstance(operation, P.Op):
            for block in P.blocks(operation):
                yield from _given(block.ops)
                yield from block.end.results
        yield from P.operands(operation)


def _paths(operand: Operand, makers: Mapping[Var, P.Op]) -> Iterator[str]:
    """Yield the dotted names of what a value is, or is a part of."""
    if isinstance(operand, P.Outer | Var) and operand.name:
        yield operand.name
    maker = makers.get(operand) if isinstance(operand, Var) else None
    if maker is not None and maker.primitive.form in ("item", "field", "same"):
        for path in _paths(maker.operands[0], makers):
            yield f"{path}.{maker.primitive.word}" if maker.primitive.form == "field" else path


def data_outside(operations: Iterable[P.Operation]) -> Iterator[P.Outer]:
    """Yield what operations read outside that is no function.

    Of what derived text itself names there, nothing is known.
    """
    for o in _given(operations):
        value = o.value if isinstance(o, P.Spread) else o
        if isinstance(value, P.Outer) and not isinstance(value.kind, (*_CODE, K.Unknown)):
            yield value


def kept_outside(t: Tangents, block: P.Block) -> P.Block:
    """Return a block that reads copies of what is outside, which are made where `t` is."""
    table: dict[P.Outer, Var] = {}
    for o in data_outside(block.ops):
        if o not in table:
            if K.shares_nothing(o.kind):
                table[o] = t.emit(L.SAME, (o,), o.kind)
            else:
                table[o] = t.call(t.table.helper(runtime.private), (o,), o.kind)
    made = _reading(block, table) if table else block
    if any(True for _ in data_outside(made.ops)):
        raise t.cannot("s2sad cannot keep what a derivative of this reads outside the function.")
    return made


def _reading(block: P.Block, table: Mapping[P.Outer, Var]) -> P.Block:
    def read(given: Operand) -> Operand:
        return table.get(given, given) if isinstance(given, P.Outer) else given

    ops: list[P.Operation] = []
    for operation in block.ops:
        if isinstance(operation, P.Op):
            settings = tuple(
                (w, read(v) if isinstance(v, P.OPERANDS) else v) for w, v in operation.settings
            )
            operands = tuple(map(read, operation.operands))
            ops.append(dataclasses.replace(operation, operands=operands, settings=settings))
            continue
        if isinstance(operation, P.For):
            operation = dataclasses.replace(operation, over=read(operation.over))
        ops.append(with_blocks(operation, lambda inner: _reading(inner, table)))
    results = tuple(map(read, block.end.results))
    return P.Block(block.params, tuple(ops), dataclasses.replace(block.end, results=results))
