"""The tangents of what calls give: of library functions, of structures, of the user's functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.known.generators import draws
from s2sad.linear.constructed import constructed, replaced
from s2sad.linear.handed_functions import called_with_functions
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_refusals import label_of
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.linear.tangents_of import as_array, computed
from s2sad.linear.user_calls import call_with_tangents, user_call
from s2sad.linear.zero_tangents import tangent_of
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
        by = f"by `{callee.name}`" if isinstance(callee, P.Outer) else "by this call"
        raise t.cannot(
            f"The result depends on `{writes[0].name}`, which is written in place {by}; s2sad "
            "cannot differentiate this write yet.",
            "Build a new value instead: np.where, np.concatenate, or a list and np.array.",
        )
    t.add(op)
    fn, kind = _function(callee), kind_of(callee)
    if fn is None and isinstance(kind, K.Opaque):
        fn, args = registry.object_function(kind.cls, "__call__"), [callee, *args]
    if fn is reversed and t.has(args[0]):
        shadow = t.maybe(args[0])
        t.add(dataclasses.replace(op, outs=(t.bind(out),), operands=(callee, shadow)))
        return
    if not t.table.carries(out):
        return
    if fn is runtime.twin_of and t.has(args[0]):  # the table holds it already, or does from now on
        given = (callee, t.maybe(args[0]), out)
        t.give(out, t.emit(L.CALL, given, tangent_kind(out.kind)))
        return
    if fn is None:
        raise t.without_rule(
            "s2sad does not know which function is called here.",
            "Call the function by a name that always means the same function.",
        )
    if fn in (list, tuple, float, complex, dict) and len(args) == 1 and not op.settings:
        if isinstance(kind_of(args[0]), K.Iterable_ | K.Unknown) and not t.has(args[0]):
            raise t.cannot(
                "s2sad has no tangents for the iterable that is made a list here.",
                "Write a loop that appends to a list.",
            )
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
    if rule is not None and rule.nested and not named and not t.table.backward:
        if len(args) == 1 and t.has(args[0]) and _is_listed(t.kind(args[0]), out.kind):
            t.give(out, t.emit(L.CALL, (callee, t.maybe(args[0])), out.kind))
            return
    if rule is not None and rule.calls:
        called_with_functions(t, op, fn, args, named)
        return
    if fn in (max, min) and (named or len(args) > 1) and _chosen(t, out, fn, args, dict(named)):
        return
    total = registry.numbers_of(fn).form == "total" and not registry.wants_arrays(fn)
    _check_followed(t, args)
    if total and len(args) == 1 and _homogeneous(t, args[0]) and not named:
        t.give(out, t.emit(L.CALL, (callee, tangent_of(t, args[0])), out.kind))
        return
    if rule is not None and not registry.effects_of(fn).sequences:
        args = [as_array(t, fn, o) for o in args]
        named = [(n, as_array(t, fn, o)) for n, o in named]
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
        raise t.cannot(
            f"s2sad cannot differentiate this call of {label_of(fn)}.",
            "Give it one list, and no other setting than key=.",
        )
    if t.table.backward:
        xs, dots = _as_list(t, args[0])
        at = t.call(t.table.helper(held_numbers.chosen_at), (out, xs, named["key"]), K.INT)
        t.give(out, t.emit(L.ITEM, (dots, at), tangent_kind(out.kind)))
        return True
    helper = t.table.helper(runtime.push_chosen)
    t.give(out, t.call(helper, (out, args[0], t.maybe(args[0]), named["key"]), out.kind))
    return True


def _is_listed(kind: K.Kind, out: K.Kind) -> bool:
    """Say whether an array is made of a list of numbers: its tangent is made of their tangents."""
    is_wide = isinstance(out, K.Array) and out.dtype == "float64"
    return is_wide and isinstance(kind, K.List | K.Tuple) and _holds_numbers(kind)


def _holds_numbers(kind: K.Kind) -> bool:
    if isinstance(kind, K.List | K.Tuple):
        return all(map(_holds_numbers, kind.inside))
    return kind == K.FLOAT or (isinstance(kind, K.Num | K.Array) and K.differentiable(kind))


def _as_list(t: Tangents, given: Operand) -> tuple[Operand, Operand]:
    """Return what an item is chosen of, and its tangent; of a tuple a list of its items."""
    kind = kind_of(given)
    if not isinstance(kind, K.Tuple):
        return given, t.maybe(given)
    listed = P.Outer("list", K.Known(list))
    xs = t.call(listed, (given,), K.List(K.union(kind.items)))
    t.give(xs, t.call(listed, (t.maybe(given),), xs.kind))
    return xs, t.maybe(xs)


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
            raise t.cannot(
                "s2sad has no tangents for the iterable that this function goes through.",
                "Make it a list first: list(...).",
            )


def _function(callee: Operand) -> object | None:
    kind = kind_of(callee)
    if not isinstance(kind, K.Known):
        return None
    drawn: object | None = draws(kind.value, None, "")
    return kind.value if drawn is None else drawn
