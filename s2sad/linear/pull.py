"""Reverse mode: the tangent of a function, turned round, says what its operands' cotangents get.

y_dot = tangent of multiply(y, a, b; a_dot, b_dot)     a_bar gets y_bar * b, b_bar y_bar * a
s_dot = tangent of np.sum(s, u; u_dot)                 u_bar gets np.broadcast_to(s_bar, ...)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.emitted.listed import listed_like
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.known.mixed import is_mixed
from s2sad.linear.as_rules_want import as_arrays, as_floats
from s2sad.linear.fit import cast, fit
from s2sad.linear.operand_binding import Bound, bound_to
from s2sad.linear.operands import Given, kind_of
from s2sad.linear.push import product
from s2sad.linear.regular_points import kept_back, regular_back
from s2sad.linear.rule_refusals import RuleRefusal, label_of, refused, without
from s2sad.linear.ruled import spliced_in
from s2sad.linear.tangent_table import NOTHING, Tangents, tangent_kind
from s2sad.linear.tangents_of import Computed
from s2sad.primitives import language as L
from s2sad.rulebook.rule import Rule

Contribution = tuple[Var, Operand]
"""A tangent, and what its cotangent gets."""


def pulled(t: Tangents, told: Computed, out_bar: Operand) -> list[Contribution]:
    """Return what a function passes back, for the cotangent of what it gives."""
    rule = registry.rule_for(told.fn)
    assert rule is not None
    try:
        if rule.partials is not None and (rule.pullback is None or not told.words):
            return list(_by_partials(t, told, rule, out_bar))
        if rule.pullback is None:
            raise t.without_rule(*without(told.fn, "pullback"))
        return list(_by_pullback(t, told, rule, out_bar))
    except (RuleRefusal, spaces.NoCounterpart) as why:
        raise t.cannot(*refused(told.fn, str(why))) from None


def _by_partials(
    t: Tangents, told: Computed, rule: Rule, out_bar: Operand
) -> Iterator[Contribution]:
    partials = rule.partials
    assert partials is not None
    bound = bound_to(t, told, partials, "elementwise")
    first, *order = registry.positional_names(partials, 0)
    given: Given = {
        first: told.out,
        **_plain(bound),
        **bound.settings,
        **as_arrays(t, told, bound),
        **as_floats(t, told, bound),
    }
    read = regular_back(t, told, {"out": told.out} | _plain(bound), out_bar)
    given = {**given, **{first if n == "out" else n: o for n, o in read.items()}}
    made = spliced_in(t, partials, given, len(order))
    t.ops += made.ops
    for parameter, partial in zip(order, made.results, strict=True):
        operand, dot = bound.arrays.get(parameter, (NOTHING, NOTHING))
        if partial is None or partial == NOTHING or not isinstance(dot, Var):
            continue
        arriving = kept_back(t, told, partial, out_bar)
        others = [o for n, (o, _) in bound.arrays.items() if n != parameter]
        yield dot, fit(t, product(t, arriving, partial), told.out.kind, operand, others)


def _plain(bound: Bound) -> dict[str, Operand]:
    return {n: o for n, (o, _) in bound.arrays.items()}


def _by_pullback(
    t: Tangents, told: Computed, rule: Rule, out_bar: Operand
) -> Iterator[Contribution]:
    pull = rule.pullback
    assert pull is not None
    bound = bound_to(t, told, pull, "pullback")
    first, second, *names = registry.positional_names(pull, 0)
    # Rules of the house read tuples by places, whatever the library's class is.
    arriving = out_bar if registry.is_ours(pull) else _named(t, told.out, out_bar)
    given: dict[str, Operand | tuple[Operand, ...]] = {first: arriving, second: told.out}
    given |= _plain(bound) | bound.settings
    given |= as_arrays(t, told, bound)
    given |= regular_back(t, told, _plain(bound), out_bar)
    pairs = [bound.arrays.get(n, (NOTHING, NOTHING)) for n in names]
    constant = registry.constant_parameters(told.fn)
    pairs = [(o, NOTHING if n in constant else d) for n, (o, d) in zip(names, pairs, strict=True)]
    if bound.gathered is not None:
        word, more = bound.gathered
        given[word] = tuple(o for o, _ in more)
        pairs += more
    wraps = registry.wants_arrays(told.fn)
    apart = bool(rule.calls)  # of what it is given in the place of functions no kind is known
    made = spliced_in(t, pull, given, len(pairs), wraps, apart)
    t.ops += made.ops
    kind = told.out.kind
    for (operand, dot), value in zip(pairs, made.results, strict=True):
        if value is None or value == NOTHING or not isinstance(dot, Var):
            continue
        if isinstance(kind_of(operand), K.List | K.Tuple):
            yield dot, _in_sequence(t, value, operand, kind)
            continue
        no_axes = isinstance(kind, K.Array) and not kind.rank
        _check_shape(t, told, pull, value, operand)
        if K.is_scalar(kind_of(operand)) and (no_axes or wraps):
            value = _number(t, value, operand)
        yield dot, cast(t, value, kind, operand)


def _check_shape(
    t: Tangents, told: Computed, rule: object, value: Operand, operand: Operand
) -> None:
    """Refuse somebody's rule whose text shows an array as the cotangent of a number."""
    given = kind_of(value)
    if registry.is_ours(rule) or not K.is_scalar(kind_of(operand)):
        return
    if isinstance(given, K.Array) and given.rank:
        label = label_of(told.fn)
        raise t.cannot(
            f"The rule of {label} does not fit this call: it gives an array as the cotangent of a "
            "number, which has not the shape of one.",
            f"Correct the rule: s2sad.testing.check_rule({label}, ...) tests it.",
        )


def _named(t: Tangents, out: Var, out_bar: Operand) -> Operand:
    """Return the cotangent of a named tuple as one, as a rule reads it: by attributes."""
    kind = out.kind
    if not isinstance(kind, K.Tuple) or not hasattr(kind.cls, "_fields"):
        return out_bar
    last = t.ops[-1] if t.ops else None
    if isinstance(last, P.Op) and last.primitive is L.TUPLE and last.outs == (out_bar,):
        parts = [*last.operands]
    else:
        steps = [(P.Const(i), tangent_kind(k)) for i, k in kind.by_step]
        parts = [t.emit(L.ITEM, (out_bar, i), k) for i, k in steps]
    return t.emit(L.ANEW, (out, *parts), K.Tuple(tuple(map(kind_of, parts)), kind.cls))


def _in_sequence(t: Tangents, value: Operand, operand: Operand, kind: Kind) -> Operand:
    """Return the cotangent of a list or a tuple, whose parts have their own dtypes.

    A rule makes an array of a sequence, and gives the cotangent of that.
    """
    whole = t.kind(operand)
    if has_unlike_parts(whole, kind):
        value = t.call(t.table.helper(runtime.fitted), (value, operand), tangent_kind(whole))
    if nests(whole):
        return t.call(t.table.helper(listed_like), (value, operand), tangent_kind(whole))
    if isinstance(whole, K.List) and isinstance(kind_of(value), K.List):
        if not all(map(K.is_scalar, K.together(whole))):
            return value
    made = list if isinstance(whole, K.List) else tuple
    return t.call(P.Outer(made.__name__, K.Known(made)), (value,), whole)


def has_unlike_parts(sequence: Kind, array: Kind) -> bool:
    """Say whether a part of a sequence may have another dtype than the array that is made of it."""
    parts = list(leaves(sequence))
    unknown = any(isinstance(k, K.Unknown | K.Unbound) for k in parts)
    narrow = {dtype_of(k) for k in parts} & {*NARROW, "any"}
    mixed = K.is_complex(array) and not all(map(K.is_complex, parts))
    return unknown or mixed or bool(narrow - {dtype_of(array)}) or dtype_of(array) in NARROW


def nests(kind: Kind) -> bool:
    """Say whether a list or a tuple holds others."""
    return any(isinstance(k, K.List | K.Tuple) for k in K.together(kind))


def leaves(kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of the numbers and arrays in a sequence, and of those in sequences in it."""
    for k in kind.inside:
        if isinstance(k, K.List | K.Tuple):
            yield from leaves(k)
        elif isinstance(k, K.Union):
            yield from K.options(k)
        elif K.differentiable(k) or isinstance(k, K.Unknown | K.Unbound):
            yield k


def _number(t: Tangents, value: Operand, operand: Operand) -> Operand:
    """Return the number in what may be an array without axes."""
    kind, given = tangent_kind(kind_of(operand)), kind_of(value)
    if isinstance(given, K.Num) or is_mixed(kind):  # of which the run tells what it is
        return value
    if isinstance(given, K.Array) or not isinstance(kind, K.Num) or kind.type != "float":
        empty = t.emit(L.TUPLE, (), K.UNKNOWN)
        return t.emit(L.ITEM, (value, empty), kind)
    if kind.dtype in (None, "any"):
        return t.call(P.Outer("float", K.Known(float)), (value,), kind)
    return t.call(t.table.outer(np, str(kind.dtype)), (value,), kind)
