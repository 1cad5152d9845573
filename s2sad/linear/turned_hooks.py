"""Functions of the user's that get a cotangent in the backward sweep, and may give another one.

hook y_dot, clip               y_bar = hooked(clip, y_bar)

In text that is read and derived again stands the plain call, `y_bar = clip(y_bar.copy())`: then the
function is differentiated, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted import hooks
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.built import built_like
from s2sad.linear.by_identity import act, holds_numbers, is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents, owners_of
from s2sad.linear.sweep_state import Sweep, in_place
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.primitives import language as L


def turned_hook(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Give a cotangent that is complete to a function, and go on with what that gives."""
    dot, *given = op.operands
    assert isinstance(dot, Var)
    t, kind = acc.t, sweep.values[dot].kind
    if not acc.has(dot):
        return
    fn = _lambda(t, op, given) if "code" in dict(op.settings) else given[0]
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
        acc.shadows.add(t, v, _given(t, op, fn, acc.shadows.taken(t, v), kind))
        return
    memory = dot in acc.refs or in_place(sweep, dot)
    bar = acc.buffer(dot) if memory else acc.whole(dot)
    if in_place(sweep, dot) and t.table.derivation.for_reading and _gives_none(op):
        _run(t, fn, bar)
        return
    out = _given(t, op, fn, bar, kind)
    if not memory:
        ours = not t.table.derivation.for_reading or _gives_none(op)
        acc.of[dot] = Bar(out, ours and isinstance(kind, K.Array))
    elif isinstance(kind, K.Array) and isinstance(bar, Var):
        _put(t, bar, P.Const(...), out)
    elif t.table.derivation.for_reading:
        _refill(t, bar, out, kind)
    else:
        act(t, hooks.refilled, (bar, out), K.NONE)


def _given(t: Tangents, op: Op, fn: Operand, bar: Operand, kind: Kind) -> Var:
    """Return what a hook gives for a cotangent."""
    if not t.table.derivation.for_reading:
        return _hooked(t, fn, bar, kind)
    result = dict(op.settings)["gives"]
    assert isinstance(result, Kind)
    if not _gives_none(op) and not built_like(result, kind):
        raise t.cannot(
            "s2sad does not know the type of what this hook returns, so it cannot differentiate "
            "the hook again.",
            "Let the hook return a value built like the adjoint, on all paths.",
        )
    own = bar
    if isinstance(kind, K.Array):
        own = t.emit(L.method("copy"), (bar,), tangent_kind(kind))
    elif not K.shares_nothing(kind):
        own = t.call(t.table.helper(runtime.private), (bar,), tangent_kind(kind))
    if not _gives_none(op):
        return _called(t, fn, own, tangent_kind(kind))
    _run(t, fn, own)
    out = Var("", tangent_kind(kind))  # what was given may have been changed in place
    t.add(Op((out,), L.SAME, (own,), (), (), (), op.origin))
    return out


def _gives_none(op: Op) -> bool:
    """Say whether a hook gives nothing, but changes what it is given, or looks at it."""
    return isinstance(dict(op.settings)["gives"], K.NoneKind)


def _run(t: Tangents, fn: Operand, bar: Operand) -> None:
    """Call a hook that gives nothing."""
    t.add(Op((), L.DISCARD, (_called(t, fn, bar, K.NONE),), (), (), (), t.origin))


def _called(t: Tangents, fn: Operand, bar: Operand, kind: Kind) -> Var:
    """Call a function of the user's, of which nothing is foreseen."""
    out = Var("", kind)
    places = (Place(bar, (P.Anywhere(),)),) if isinstance(bar, Var) else ()
    t.add(Op((out,), L.CALL, (fn, bar), (), places, places, t.origin))
    return out


def _refill(t: Tangents, bar: Operand, given: Operand, kind: Kind) -> None:
    """Put what a hook gives for a dict in its places, a statement each."""
    for step, part in kind.by_step:
        key = P.Const(step)
        made = t.emit(L.ITEM, (given, key), tangent_kind(part))
        if K.shares_nothing(part) or isinstance(part, K.Tuple):
            _put(t, bar, key, made)
            continue
        inner = t.emit(L.ITEM, (bar, key), tangent_kind(part))
        if is_structure(part):
            _refill(t, inner, made, part)
        else:
            _put(t, inner, P.Const(...), made)


def _put(t: Tangents, bar: Operand, key: Operand, value: Operand) -> None:
    places = (Place(bar, (P.Item(key),)),) if isinstance(bar, Var) else ()
    t.add(Op((), L.PUT_ITEM, (bar, key, value), (), (), places, t.origin))


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
            "adjoint_hook is given memory that has another name.",
            "Hook into a copy: adjoint_hook(x.copy(), fn).",
        )


def _lambda(t: Tangents, op: Op, captured: list[Operand]) -> Var:
    """Return a lambda that reads what it read where it stood."""
    out = Var("", K.UNKNOWN)
    t.add(Op((out,), L.CLOSURE, tuple(captured), op.settings, (), (), op.origin))
    return out


def is_known_elsewhere(block: P.Block, refs: Mapping[Var, Op], sweep: Sweep) -> bool:
    """Say whether others use memory that has a hook: it would get what they contribute, too.

    Memory has one cotangent, whoever reads it; parts of it that surely are apart have one each.
    """
    every = list(P.every(block))
    for at, op in enumerate(every):
        if not isinstance(op, Op) or op.primitive is not L.HOOK:
            continue
        dot = op.operands[0]
        assert isinstance(dot, Var)
        if dot not in refs and not in_place(sweep, dot):
            continue
        own = list(owners_of(refs, dot))
        around = [o for o in every if not isinstance(o, Op) and _holds(o, op)]
        behind = every[at + 1 :]
        if any(isinstance(o, P.For | P.While) for o in around):
            behind = [o for o in every if o is not op]
        path = _path(refs, dot)
        for other in behind:
            if any(v in refs for v in other.outs):
                continue  # it only gives a name to a part
            for v in filter(None, map(P.variable, P.operands(other))):
                chain = list(owners_of(refs, v))
                if chain[-1] is not own[-1] or dot in chain:
                    continue
                steps = _path(refs, v)
                if isinstance(other, Op) and other.primitive is L.ITEM and v is other.operands[0]:
                    steps = (*steps, other)
                if not _are_apart(path, steps, sweep):
                    return True
    return False


def _holds(region: P.Region, op: Op) -> bool:
    return any(op is o for b in P.blocks(region) for o in P.every(b))


def _path(refs: Mapping[Var, Op], dot: Var) -> tuple[Op, ...]:
    """Return the operations that lead from memory to a part of it."""
    steps = [refs[v] for v in owners_of(refs, dot) if v in refs]
    return tuple(op for op in reversed(steps) if op.primitive is not L.SAME)


def _are_apart(left: Sequence[Op], right: Sequence[Op], sweep: Sweep) -> bool:
    """Say whether two parts of one memory surely have nothing in common."""
    for one, other in zip(left, right, strict=False):
        if L.TANGENT in (one.primitive, other.primitive) and one is not other:
            return False  # what one view shows, another may show, too
        if one.primitive is not other.primitive:
            return one.primitive.form == other.primitive.form == "field"
        if one.primitive is L.ITEM and one.operands[1] != other.operands[1]:
            return _are_disjoint(*(_bounds(op.operands[1], sweep) for op in (one, other)))
    return False


def _bounds(index: Operand, sweep: Sweep) -> tuple[int, float] | str | None:
    """Return a literal word, or the bounds of literal places; None of what is not known."""
    made = sweep.makers.get(index) if isinstance(index, Var) else None
    bounds: tuple[object, ...] = ()
    if isinstance(index, P.Const):
        if isinstance(index.value, str):
            return index.value
        bounds = (index.value, index.value + 1) if isinstance(index.value, int) else ()
    elif made is not None and made.primitive is L.SLICE:
        first, behind, step = (o.value if isinstance(o, P.Const) else -1 for o in made.operands)
        ahead = step is None or (isinstance(step, int) and step > 0)
        bounds = (first or 0, math.inf if behind is None else behind) if ahead else ()
    match bounds:
        case (int() as start, (int() | float()) as stop) if start >= 0 and stop >= 0:
            return start, stop
    return None


def _are_disjoint(
    left: tuple[int, float] | str | None, right: tuple[int, float] | str | None
) -> bool:
    """Say whether literal words differ, or literal places have none in common."""
    match left, right:
        case (int() as a, float() | int() as b), (int() as c, float() | int() as d):
            return b <= c or d <= a
        case str(), str():
            return left != right
    return False
