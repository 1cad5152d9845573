"""The tangents of what calls give: of library functions, of structures, of the user's functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.known.generators import draws
from s2sad.known.samples import stacked
from s2sad.linear.constructed import constructed, replaced
from s2sad.linear.handed_functions import with_functions
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Tangents
from s2sad.linear.tangents_of import computed
from s2sad.linear.user_calls import call_with_tangents, user_call
from s2sad.linear.zero_tangents import tangent_of
from s2sad.modes.structured import CONVERSIONS
from s2sad.primitives import language as L


def called(t: Tangents, op: Op) -> None:
    """Add a call with the tangent of what it gives."""
    (out,) = op.outs
    callee, *args = op.operands
    ours = user_call(t, op)
    if ours is not None:
        call_with_tangents(t, op, ours)
        return
    writes = [p.object for p in op.writes if isinstance(p.object, Var) and t.has(p.object)]
    if writes:
        raise NotYet("a call that writes memory with a shadow")
    t.add(op)
    fn = _function(callee)
    if fn is reversed and t.has(args[0]):
        shadow = t.maybe(args[0])
        t.add(dataclasses.replace(op, outs=(t.bind(out),), operands=(callee, shadow)))
        return
    if not t.table.carries(out):
        return
    if fn is None:
        raise NotYet("a call of a function that is not known")
    if fn in (*CONVERSIONS, dict) and len(args) == 1 and not op.settings:
        if isinstance(kind_of(args[0]), K.Iterable_ | K.Unknown) and not t.has(args[0]):
            raise NotYet("an iterable made a list")
        if kind_of(args[0]) == K.FLOAT and t.has(args[0]):
            t.give(out, t.maybe(args[0]))
            return
        t.give(out, t.emit(L.CALL, (callee, tangent_of(t, args[0])), out.kind))
        return
    named = [(n, v) for n, v in op.settings if isinstance(v, P.OPERANDS)]
    if fn is dataclasses.replace and isinstance(kind_of(args[0]), K.Obj):
        replaced(t, out, args[0], named, kind_of(args[0]))
        return
    made = isinstance(fn, type) and registry.rule_for(fn) is None
    if made or fn is runtime.object_of:
        constructed(t, out, callee, args, named)
        return
    rule = registry.rule_for(fn)
    if rule is not None and rule.calls:
        args, named = with_functions(t, op, fn, args, named)
        computed(t, out, fn, args, named)
        return
    if fn in (max, min) and (named or len(args) > 1) and _chosen(t, out, fn, args, dict(named)):
        return
    total = registry.numbers_of(fn).form == "total" and not registry.wants_arrays(fn)
    _check_followed(t, args)
    if total and len(args) == 1 and _homogeneous(t, args[0]) and not named:
        t.give(out, t.emit(L.CALL, (callee, tangent_of(t, args[0])), out.kind))
        return
    if rule is not None and not registry.effects_of(fn).sequences:
        args = [_as_array(t, fn, o) for o in args]
        named = [(n, _as_array(t, fn, o)) for n, o in named]
    computed(t, out, fn, args, named)


def _chosen(
    t: Tangents,
    out: Var,
    fn: object,
    args: Sequence[Operand],
    named: Mapping[str, Operand],
) -> bool:
    """Give max or min by a key, or with a default, its tangent: that of the item chosen."""
    if named.keys() == {"default"} and not t.has(named["default"]):
        computed(t, out, fn, args)
        return True
    if named.keys() != {"key"}:
        return False
    if len(args) != 1 or not t.has(args[0]):
        raise NotYet("max or min of several by a key")
    helper = t.table.helper(runtime.push_chosen)
    t.give(out, t.call(helper, (out, args[0], t.maybe(args[0]), named["key"]), out.kind))
    return True


def _homogeneous(t: Tangents, operand: Operand) -> bool:
    """Say whether an operand is a list, or goes through one, whose items all have tangents."""
    kind = kind_of(operand)
    if isinstance(kind, K.Iterable_):
        return t.has(operand) and isinstance(kind.item, K.Num | K.Array)
    return isinstance(kind, K.List)


def _check_followed(t: Tangents, args: Sequence[Operand]) -> None:
    """Stop at a function that goes through what is active and has no tangent."""
    for v in filter(None, map(P.variable, args)):
        if isinstance(v.kind, K.Iterable_) and v in t.table.facts.active and not t.has(v):
            raise NotYet("a function of an iterable")


def _as_array(t: Tangents, fn: object, operand: Operand) -> Operand:
    """Return an operand as the array that a library function makes of a list or a tuple."""
    kind = t.kind(operand)
    listed = K.List | K.Tuple if registry.wants_arrays(fn) else K.List
    if not isinstance(kind, listed) or not K.differentiable(kind):
        return operand
    if not registry.wants_arrays(fn) and not registry.tells_tuples(fn):
        return operand
    array = stacked(kind)
    if array is None:
        raise NotYet(f"an array that is made of {K.describe(kind)}")
    made = t.call(t.table.outer(np, "asarray"), (operand,), array)
    if t.has(operand):
        t.of[made] = t.call(t.table.outer(np, "asarray"), (t.maybe(operand),), array)
    return made


def _function(callee: Operand) -> object | None:
    kind = kind_of(callee)
    if not isinstance(kind, K.Known):
        return None
    drawn: object | None = draws(kind.value, None, "")
    return kind.value if drawn is None else drawn
