"""Pullbacks as inner functions: they read values of the forward sweep by their names there.

Before: the block of a backward sweep. After: an operation of the forward sweep that defines a
function of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import gast

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.finished import text_of_sweeps
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.transpose import parted
from s2sad.names import Names
from s2sad.nodes import block_writes, names_read
from s2sad.primitives import language as L


def backward_block(
    found: BothSweeps, params: tuple[Var, ...], last: Sequence[P.Operation], result: Operand
) -> P.Block:
    """Return the block of a pullback, which computes what is cheap once more; `last` ends it."""
    block = P.Block(params, (*found.made.backward, *last), P.End("next", (result,)))
    return parted(found.made, found.table, block)


def pullback_of(found: BothSweeps, t: Tangents, inner: P.Block, captured: Mapping[Var, Var]) -> Var:
    """Add the definition of a pullback, which reads something else for each variable `captured`."""
    d = found.table.derivation
    outer = {o.name.partition(".")[0] for o in _named(inner)}
    names = Names({*d.refs.modules, *d.refs.functions, *outer})
    names.take(*(v.name for v in inner.params))
    words = {v: names.fresh(v.name or "t") for v in captured}
    table: dict[Var, Operand] = {v: P.Outer(word, v.kind) for v, word in words.items()}
    args = [gast.Name(v.name, gast.Param(), None, None) for v in inner.params]
    params = gast.arguments(args, [], None, [], [], None, [])
    program = P.Program("pullback", substituted(inner, table), None)
    body = text_of_sweeps(found, program).body
    node = gast.FunctionDef("pullback", params, body, [], None, None, [])
    free = names_read(node) - block_writes(body)  # what turned out not to be read has no name there
    read = {v: word for v, word in words.items() if word in free}
    out = Var("pullback", K.UNKNOWN)
    code = (("code", node), ("names", tuple(read.values())))
    given = tuple(captured[v] for v in read)
    t.add(Op((out,), L.CLOSURE, given, code, (), (), t.origin))
    return out


def _named(block: P.Block) -> Iterator[P.Outer]:
    """Yield what a block names outside."""
    for operation in P.every(block):
        yield from (o for o in P.operands(operation) if isinstance(o, P.Outer))
