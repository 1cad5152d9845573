"""What a backward sweep reads of globals and captured variables, by the names they have outside.

y = x * G        x_bar = y_bar * G                  G must not be stored in between
                 x_bar = y_bar * G_1                where the sweep runs later: G_1 is a copy
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.linear.tangent_table import NotYet, Tangents
from s2sad.nodes import dotted
from s2sad.primitives import language as L
from s2sad.steps.derivation import Analysed, Derivation

_CODE = (K.Known, K.LocalFunction, K.Choice)


def note_outside(d: Derivation, a: Analysed, backward: Iterable[P.Operation]) -> None:
    """Note what memory a backward sweep reads outside: stored in between, it is another one."""
    found = d.read_outside.setdefault(a, {})
    for o in data_outside(backward):
        if not K.shares_nothing(o.kind):
            found[o.name] = dotted(o.name)


def data_outside(operations: Iterable[P.Operation]) -> Iterator[P.Outer]:
    """Yield what operations read outside that is no function.

    Of what derived text itself names there, nothing is known.
    """
    for operation in operations:
        given = list(P.operands(operation))
        if not isinstance(operation, P.Op):
            for block in P.blocks(operation):
                yield from data_outside(block.ops)
                given += block.end.results
        for o in given:
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
        raise NotYet("a region of the backward sweep that reads what is outside")
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
