"""Functions of the user's that get a cotangent in the backward sweep, and may give another one.

hook y_dot, clip               y_bar = hooked(clip, y_bar)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from s2sad import kinds as K
from s2sad.emitted import hooks
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.linear.by_identity import act, holds_numbers, is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents, owner_of
from s2sad.linear.sweep_state import Sweep, in_place
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.primitives import language as L


def turned_hook(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Give a cotangent that is complete to a function, and go on with what that gives."""
    dot, *given = op.operands
    assert isinstance(dot, Var)
    t, kind = acc.t, sweep.values[dot].kind
    if t.table.derivation.for_reading:
        raise t.cannot(
            "adjoint_hook stands in a function that is derived again, and its effect has no "
            "derivative.",
            "Leave the hook out where second derivatives are asked for.",
        )
    if not acc.has(dot):
        return
    fn = given[0] if not op.settings else _lambda(t, op, given)
    if acc.shadows is not None and acc.is_shadowed(dot):
        _check_alone(sweep.values[dot], op, t)
        v = sweep.values[dot]
        if is_structure(kind) and not holds_numbers(kind):
            raise t.cannot(
                "adjoint_hook is given a structure of arrays that other names show, too.",
                "Hook into the arrays, or into a copy of the structure.",
            )
        if is_structure(kind):
            sweep.look(v, t, acc.shadows, op)
        acc.shadows.add(t, v, _hooked(t, fn, acc.shadows.taken(t, v), kind))
        return
    memory = dot in acc.refs or in_place(sweep, dot)
    bar = acc.buffer(dot) if memory else acc.whole(dot)
    out = _hooked(t, fn, bar, kind)
    if not memory:
        acc.of[dot] = Bar(out, isinstance(kind, K.Array))
    elif isinstance(kind, K.Array) and isinstance(bar, Var):
        everywhere = P.Const(...)
        places = (Place(bar, (P.Item(everywhere),)),)
        t.add(Op((), L.PUT_ITEM, (bar, everywhere, out), (), (), places, op.origin))
    else:
        act(t, hooks.refilled, (bar, out), K.NONE)


def _hooked(t: Tangents, fn: Operand, bar: Operand, kind: Kind) -> Var:
    """Call a hook; return what it gives, or the copy that it has changed."""
    helper = hooks.hooked if K.is_numeric(kind) else hooks.hooked_structure
    unknown = P.Outer(t.table.refs.function(helper), K.UNKNOWN)  # of it nothing is foreseen
    out = Var("", tangent_kind(kind))
    places = (Place(bar, (P.Anywhere(),)),) if isinstance(bar, Var) else ()
    t.add(Op((out,), L.CALL, (unknown, fn, bar), (), places, (), t.origin))
    return out


def _check_alone(v: Var, op: Op, t: Tangents) -> None:
    """Stop at a hook of memory that has another name which somebody reads later."""
    if not v.name or t.table.facts.aliases.partners(op.origin, v.name) != {v.name}:
        raise t.cannot(
            "adjoint_hook is given memory that is written in place and has another name.",
            "Hook into a copy: adjoint_hook(x.copy(), fn).",
        )


def _lambda(t: Tangents, op: Op, captured: list[Operand]) -> Var:
    """Return a lambda that reads what it read where it stood."""
    out = Var("", K.UNKNOWN)
    t.add(Op((out,), L.CLOSURE, tuple(captured), op.settings, (), (), op.origin))
    return out


def is_known_elsewhere(block: P.Block, refs: Mapping[Var, Op], sweep: Sweep) -> bool:
    """Say whether others use memory that has a hook: it would get what they contribute, too.

    Memory has one cotangent, whoever reads it.
    """
    every = list(P.every(block))
    for at, op in enumerate(every):
        if not isinstance(op, Op) or op.primitive is not L.HOOK:
            continue
        dot = op.operands[0]
        assert isinstance(dot, Var)
        if dot not in refs and not in_place(sweep, dot):
            continue
        own = list(_owners(refs, dot))
        around = [o for o in every if not isinstance(o, Op) and _holds(o, op)]
        behind = every[at + 1 :]
        if any(isinstance(o, P.For | P.While) for o in around):
            behind = [o for o in every if o is not op]
        for other in behind:
            for v in filter(None, map(P.variable, P.operands(other))):
                chain = list(_owners(refs, v))
                if chain[-1] is own[-1] and dot not in chain and not _leads(refs, other, own):
                    return True
    return False


def _owners(refs: Mapping[Var, Op], dot: Var) -> Iterator[Var]:
    """Yield a tangent, and those of the memory that it is a part of."""
    yield dot
    while dot in refs:
        dot = owner_of(refs[dot])
        yield dot


def _holds(region: P.Region, op: Op) -> bool:
    return any(op is o for b in P.blocks(region) for o in P.every(b))


def _leads(refs: Mapping[Var, Op], other: P.Operation, own: list[Var]) -> bool:
    """Say whether an operation reads one of these parts, or a part beside it."""
    if any(v in own for v in other.outs):
        return True
    if not isinstance(other, Op) or other.primitive is not L.ITEM:
        return False
    whole, index = other.operands
    parts = [refs[v] for v in own if v in refs and owner_of(refs[v]) is whole]
    steps = [part.operands[1] for part in parts if part.primitive is L.ITEM]
    literal = isinstance(index, P.Const) and all(isinstance(s, P.Const) for s in steps)
    return bool(steps) and len(steps) == len(parts) and literal and index not in steps
