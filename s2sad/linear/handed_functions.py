"""Functions that are handed to a library: its rule gets their values and pullbacks.

    sol = root(residual, x0)      sol_dot = tangent of root(sol, residual_vjp, x0; (k_dot,), None)

Before: a call whose rule calls what it is given. After: what it is given in the place of each
function, and, as the tangent of that, the tangents of what the function captures.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Literal

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.linear.handed_vjps import FunctionVjp, function_vjp
from s2sad.linear.operand_binding import Bound, bound_to
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_calls import Called, called_with
from s2sad.linear.rule_refusals import without
from s2sad.linear.tangent_table import NOTHING, Tangents
from s2sad.linear.tangents_of import Computed, computed
from s2sad.linear.user_calls import captured_here, kinds_given
from s2sad.nodes import Node, name
from s2sad.primitives import language as L

Named = list[tuple[str, Operand]]


def with_functions(
    t: Tangents, op: Op, fn: object, args: list[Operand], named: Named
) -> tuple[list[Operand], Named]:
    """Return what a call is given, with values and pullbacks in the place of functions."""
    (out,) = op.outs
    given = (*args, *(v for _, v in named))
    words = tuple(n for n, _ in named)
    told = Computed(fn, out, given, tuple(map(t.maybe, given)), words, False, ())
    by_place, by_name = kinds_given(t, op, args, dict(named))
    kinds = zip(given, (*by_place, *(by_name[n] for n in words)), strict=True)
    made = _functions(t, told, dict(kinds))
    return [made.get(o, o) for o in args], [(n, made.get(o, o)) for n, o in named]


def called_with_functions(
    t: Tangents, op: Op, fn: object, args: list[Operand], named: Named
) -> None:
    """Give what a library's function computes its tangent; functions may be among what it gets."""
    (out,) = op.outs
    rule = registry.rule_for(fn)
    if rule is not None and rule.calls:
        args, named = with_functions(t, op, fn, args, named)
    computed(t, out, fn, args, named)


def _functions(
    t: Tangents, told: Computed, known: Mapping[Operand, Kind]
) -> dict[Operand, Operand]:
    """Return what stands for the functions that are given; its tangent is of what they capture."""
    bound = _bound(t, told)
    nodes: dict[str, Node] = {n: name(n) for n in bound.arrays}
    kinds = {nodes[n]: known.get(o) or t.kind(o) for n, (o, _) in bound.arrays.items()}
    found: dict[Operand, Operand] = {}
    for n, node, how in called_with(told.fn, told.out.kind, nodes, kinds.__getitem__):
        made = _derived(t, node, kinds[node], how)
        operand = _pullback(t, made.node)
        dots = _tangents(t, made.captured)
        if isinstance(dots, Var):
            t.of[operand] = dots
        found[bound.arrays[n][0]] = operand
    return found


def _bound(t: Tangents, told: Computed) -> Bound:
    """Return what is given as the parameters of the rule that is asked for what is derived."""
    word: Literal["pullback", "pushforward"] = "pullback" if t.table.backward else "pushforward"
    rule = registry.rule_for(told.fn)
    assert rule is not None
    made = rule.pullback if t.table.backward else rule.pushforward
    if made is None:
        raise t.without_rule(*without(told.fn, word))
    return bound_to(t, told, made, word)


def _derived(t: Tangents, node: Node, kind: Kind, how: Called) -> FunctionVjp:
    """Return the function of value and pullback of a function that is given."""
    t.table.facts.analysed.kinds.of[node] = kind
    return function_vjp(t, node, how)


def _pullback(t: Tangents, node: Node) -> Var:
    """Return the function that gives value and pullback, with what it captures bound."""
    if isinstance(node, gast.Name):
        out = Var("", K.UNKNOWN)
        t.add(Op((out,), L.SAME, (P.Outer(node.id, K.UNKNOWN),), (), (), (), t.origin))
        return out
    out = Var("", K.UNKNOWN)
    partial = t.table.outer(functools, "partial")
    function = P.Outer(node.args[0].id, K.UNKNOWN)
    settings = tuple((k.arg, _kept(t, k.value.id)) for k in node.keywords)
    t.add(Op((out,), L.CALL, (partial, function), settings, (), (), t.origin))
    return out


def _kept(t: Tangents, word: str) -> Operand:
    """Return what a captured name means, in reverse mode as it is now: it is read later."""
    value = _value(t, word)
    if not t.table.backward:
        return value
    if isinstance(value, Var):
        changes = value in t.table.facts.written
    else:  # what is outside may be something else when a pullback runs
        changes = t.table.derivation.lasting
    return t.call(t.table.helper(runtime.private), (value,), kind_of(value)) if changes else value


def _value(t: Tangents, word: str) -> Operand:
    if word not in t.table.facts.analysed.function.locals:
        return P.Outer(word, K.UNKNOWN)
    env = t.table.facts.analysed.kinds.before.get(t.origin, {})
    return captured_here(t, word, env.get(word, K.UNKNOWN))


def _tangents(t: Tangents, captured: Sequence[str]) -> Operand:
    """Return the tangents of what a function captures; None where it captures nothing active."""
    values = [_value(t, word) for word in captured]
    dots = [t.maybe(v) for v in values]
    if all(dot == NOTHING for dot in dots):
        return NOTHING
    return t.emit(L.TUPLE, dots, K.Tuple(tuple(map(kind_of, dots))))
