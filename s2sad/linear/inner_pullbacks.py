"""Pullbacks as inner functions: they read values of the forward sweep by their names there.

Before: the block of a backward sweep. After: an operation of the forward sweep that defines a
function of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.forward_entry import text_of
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tape import again, met_in
from s2sad.names import Names
from s2sad.nodes import block_writes, names_read
from s2sad.primitives import language as L


def backward_block(
    found: BothSweeps, params: tuple[Var, ...], last: Sequence[P.Operation], result: Operand
) -> P.Block:
    """Return the block of a pullback, in which indices are computed again; `last` stands behind."""
    ops = (*found.between, *found.made.backward, *last)
    makers = {v: op for op in found.made.forward if isinstance(op, Op) for v in op.outs}
    block = again(P.Block(params, ops, P.End("next", (result,))), makers)
    return _on_own_shadows(found, block) if found.made.start else block


def _on_own_shadows(found: BothSweeps, block: P.Block) -> P.Block:
    """Return a pullback that begins with copies of the shadows, as the function begins with them.

    shadows = apart(shadows_0)
    """
    held = found.made.shadows
    assert held is not None
    own = Var(held.name, held.kind)
    given = (found.table.helper(runtime.apart), held)
    places = (P.Place(held, (P.Anywhere(),)),)
    made = substituted(block, {held: own})
    first = Op((own,), L.CALL, given, (), places, ())
    return P.Block(made.params, (first, *made.ops), made.end)


def read_in(block: P.Block, forward: Sequence[P.Operation], params: Sequence[Var]) -> list[Var]:
    """Return what a pullback reads of the forward sweep, or of the parameters."""
    here = {*params, *(v for o in forward for v in o.outs)}
    return [v for v in dict.fromkeys(met_in(block)) if v in here]


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
    body = text_of(found.table, found.linear, program)
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
