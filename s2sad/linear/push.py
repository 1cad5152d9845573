"""Forward mode: the tangent of a function is written out, by partial derivatives or a pushforward.

    y_dot = tangent of multiply(y, x, x; x_dot, x_dot)      y_dot = x_dot * x + x_dot * x
    s_dot = tangent of np.sum(s, u; u_dot)                  s_dot = np.sum(u_dot)

Before: a program with tangent operations. After: one without.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.facts.results import binary_kind
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.dtypes import dtype_of
from s2sad.linear.as_rules_want import as_arrays, as_floats
from s2sad.linear.guards import Pushed
from s2sad.linear.operand_binding import Bound, bound_to, moving
from s2sad.linear.operands import Given, kind_of
from s2sad.linear.raising import may_raise, refuse_caught
from s2sad.linear.regular_points import chosen, regular, zero_test
from s2sad.linear.rule_binding import arrays_of
from s2sad.linear.rule_refusals import RuleRefusal, refused, wants_zeros, without
from s2sad.linear.ruled import spliced_in
from s2sad.linear.seen_alike import seen_alike, surely_shows
from s2sad.linear.tangent_table import NOTHING, Table, Tangents, tangent_kind
from s2sad.linear.tangents_of import Computed, told_by
from s2sad.linear.zero_tangents import nothing
from s2sad.primitives import language as L
from s2sad.rulebook.rule import Rule


def pushed(program: P.Program, table: Table) -> P.Program:
    """Return a program whose tangent operations are written out."""
    return dataclasses.replace(program, block=_block(program.block, table))


def _block(block: P.Block, table: Table) -> P.Block:
    ops: list[P.Operation] = []
    for operation in block.ops:
        if not isinstance(operation, Op):
            ops.append(with_blocks(operation, lambda inner: _block(inner, table)))
        elif operation.primitive is L.TANGENT:
            ops += _written(operation, table)
        else:
            ops.append(operation)
    return P.Block(block.params, tuple(ops), block.end)


def _written(op: Op, table: Table) -> list[P.Operation]:
    """Return the operations that compute a tangent."""
    told, (dot,) = told_by(op), op.outs
    t = Tangents(table, origin=op.origin)
    rule = registry.rule_for(told.fn)
    assert rule is not None
    try:
        value = _by_rule(t, told, rule)
    except (RuleRefusal, spaces.NoCounterpart) as why:
        raise t.cannot(*refused(told.fn, str(why))) from None
    if value is None:
        value = nothing(t, told.out, told.out.kind)
    if told.own:
        value = _own(t, told, value, rule)
    raised = may_raise(t.ops, told)
    caught = dict(op.settings)["caught"]
    assert isinstance(caught, tuple)
    refuse_caught(t, raised, caught)
    table.raised.append(raised)
    t.named(dot, value)
    return t.ops


def _own(t: Tangents, told: Computed, value: Operand, rule: Rule) -> Operand:
    """Return a tangent that shares memory where the value does, and nowhere else.

    Whether the value is a view of what it is made of is asked where it runs.
    """
    kind = told.out.kind
    if told.bases:
        base, shadow = _together(t, [told.pairs[i] for i in told.bases])
        same = runtime.same_views if _holds_arrays(kind) else runtime.same_view
        if shadow == NOTHING or not (isinstance(kind, K.Array) or _holds_arrays(kind)):
            raise t.cannot(
                "s2sad cannot tell whether this is a view of an array, and it is written.",
                "Make it an array of its own: .copy().",
            )
        if surely_shows(t.table, told, t.origin):
            return seen_alike(t, told, shadow)
        return t.call(t.table.helper(same), (shadow, value, base, told.out), kind)
    if isinstance(kind, K.Tuple) and not t.table.backward:
        return _parts_of_its_own(t, told, value, kind)
    if not isinstance(kind, K.Array) or not kind.rank:
        shown = value in told.dots or isinstance(kind, K.Opaque)
        if not shown or not isinstance(kind_of(value), K.Array):
            return value  # what a call gives is a structure, or a number, of its own
    if told.out.name in t.table.laid:
        return t.call(t.table.helper(runtime.laid_like), (value, told.out), kind)
    return value if _is_new(t, value) else t.emit(L.method("copy"), (value,), kind)


def _parts_of_its_own(t: Tangents, told: Computed, value: Operand, kind: K.Tuple) -> Operand:
    """Return the tangent of a tuple of new arrays, each part an array of its own.

    A pushforward may hand back the tangent of an operand, or what shows a part of another array.
    """
    parts = list[Operand]()
    for place, inner in enumerate(kind.items):
        part = t.emit(L.ITEM, (value, P.Const(place)), tangent_kind(inner))
        array = isinstance(inner, K.Array) and K.differentiable(inner)
        parts.append(t.emit(L.method("copy"), (part,), part.kind) if array else part)
    made = K.Tuple(tuple(map(kind_of, parts)), kind.cls)
    if kind.cls is None:
        return t.emit(L.TUPLE, parts, made)
    return t.emit(L.ANEW, (told.out, *parts), made)


def _holds_arrays(kind: Kind) -> bool:
    """Say whether a value is a list or a tuple of arrays, and of nothing else."""
    if isinstance(kind, K.Tuple):
        return kind.cls is None and all(isinstance(k, K.Array) for k in kind.items)
    return isinstance(kind, K.List) and isinstance(kind.item, K.Array)


def _together(t: Tangents, pairs: Sequence[tuple[Operand, Operand]]) -> tuple[Operand, Operand]:
    """Return what a value may be a view of, and its shadow: of several arrays, tuples of both."""
    if len(pairs) == 1:
        return pairs[0]
    bases, shadows = ([p[side] for p in pairs] for side in (0, 1))
    kinds = K.Tuple(tuple(map(kind_of, bases)))
    return t.emit(L.TUPLE, bases, kinds), t.emit(L.TUPLE, shadows, kinds)


def _is_new(t: Tangents, value: Operand) -> bool:
    """Say whether the last operation makes memory that nothing else knows."""
    last = t.ops[-1] if t.ops else None
    if not isinstance(last, Op) or value not in last.outs:
        return False
    fn = kind_of(last.operands[0]) if last.primitive is L.CALL else None
    rule = registry.rule_for(fn.value) if isinstance(fn, K.Known) else None
    return last.primitive.form in ("infix", "prefix") or (rule is not None and rule.view == "never")


def _by_rule(t: Tangents, told: Computed, rule: Rule) -> Operand | None:
    if rule.partials is not None and (rule.pushforward is None or not told.words):
        return _by_partials(t, told, rule)
    if rule.pushforward is None:
        raise t.without_rule(*without(told.fn, "pushforward"))
    return _by_pushforward(t, told, rule)


def _by_partials(t: Tangents, told: Computed, rule: Rule) -> Operand | None:
    partials = rule.partials
    assert partials is not None
    bound = bound_to(t, told, partials, "elementwise")
    first, *_ = registry.positional_names(partials, 0)
    given = {first: told.out, **{n: o for n, (o, _) in bound.arrays.items()}, **_settings(t, bound)}
    given |= as_arrays(t, told, bound) | as_floats(t, told, bound)
    partial = _partials(t, told, rule, bound, given)
    assert isinstance(t.table.strong, Pushed)
    masked = t.table.strong.masked.get(told.out, frozenset())
    terms: list[Operand] = []
    covered: list[Kind] = []
    for parameter, (operand, dot) in bound.arrays.items():
        found = partial.get(parameter)
        if found is None or dot == NOTHING or found == NOTHING:
            continue
        if operand in masked and not isinstance(found, P.Const):
            kind = told.out.kind
            dot = chosen(t, zero_test(t, [found]), P.Const(0.0), dot, kind, kind)
        term = product(t, dot, found)
        if K.is_complex(kind_of(operand)) and not K.is_complex(told.out.kind):
            term = t.call(t.table.numpy("real", told.out.kind), (term,), told.out.kind)
        terms.append(term)
        covered += [kind_of(operand), *_factors(found)]
    if not terms:
        return None
    total = terms[0]
    for term in terms[1:]:
        total = _arithmetic(t, "Add", total, term)
    return _like_result(t, total, covered, told)


def _settings(t: Tangents, bound: Bound) -> dict[str, Operand]:
    """Return the settings of a call; what one of them gathers is a tuple: `x.reshape(6, -1)`."""
    found: dict[str, Operand] = {}
    for n, given in bound.settings.items():
        if isinstance(given, tuple):
            given = t.emit(L.TUPLE, given, K.Tuple(tuple(map(kind_of, given))))
        found[n] = given
    return found


def _partials(
    t: Tangents, told: Computed, rule: Rule, bound: Bound, given: Given
) -> dict[str, Operand | None]:
    """Return the partial derivatives by name; at a singular point those of a regular one.

    That is where all tangents are zero. The partials by operands whose tangents do not matter for
    that are read where the operands are.
    """
    partials = rule.partials
    assert partials is not None
    order = registry.positional_names(partials, 1)
    guard = t.table.strong.guards.at(told.out, t.origin)
    moves = [n for n in order if n in bound.arrays and bound.arrays[n][1] != NOTHING]
    steep = moves
    if guard is not None and guard.steep and not guard.wild and not guard.out:
        steep = [n for n in moves if n in rule.steep] or moves
    safe = {**given, **regular(t, told, guard, bound, steep)}
    made = spliced_in(t, partials, safe, len(order))
    t.ops += made.ops
    found = dict(zip(order, made.results, strict=True))
    others = [n for n in moves if n not in steep]
    if others:
        plain = spliced_in(t, partials, given, len(order))
        t.ops += plain.ops
        found |= {n: p for n, p in zip(order, plain.results, strict=True) if n in others}
    return found


def _factors(partial: Operand) -> list[Kind]:
    return [] if isinstance(partial, P.Const) else [kind_of(partial)]


def product(t: Tangents, dot: Operand, partial: Operand) -> Operand:
    """Return a tangent, or a cotangent, times a partial derivative, without factors of one."""
    if isinstance(partial, P.Const) and partial.value in (1.0, -1.0):
        if partial.value == 1.0:
            return dot
        return t.emit(L.PREFIX["USub"], (dot,), kind_of(dot))
    return _arithmetic(t, "Mult", dot, partial)


def _arithmetic(t: Tangents, word: str, left: Operand, right: Operand) -> Var:
    kind = binary_kind(getattr(gast, word), kind_of(left), kind_of(right))
    return t.emit(L.INFIX[word], (left, right), kind)


def _like_result(t: Tangents, total: Operand, covered: Sequence[Kind], told: Computed) -> Operand:
    """Give a tangent the shape and dtype of its primal, where it may have others."""
    kind = told.out.kind
    if isinstance(kind, K.Num):
        return total
    if not isinstance(kind, K.Array):
        shapes = _shapes(kind)
        mine = [_shapes(c) for c in covered]
        if shapes in mine and all(m == mine[0] for m in mine):
            return total
        zeros = t.call(t.table.numpy("zeros_like", kind), (told.out,), kind)
        return t.emit(L.INFIX["Add"], (total, zeros), kind)
    wide = max((k.rank for k in covered if isinstance(k, K.Array)), default=-1) == kind.rank
    if not wide or not all(_covers(t, i, covered, kind) for i in range(kind.rank)):
        zeros = t.call(t.table.numpy("zeros_like", kind), (told.out,), kind)
        return _arithmetic(t, "Add", total, zeros)
    found = {dtype_of(k) for k in covered} - {None, "any"}
    if kind.rank and found and kind.dtype not in found:
        dtype = t.table.numpy(kind.dtype, kind)
        return t.emit(L.method("astype"), (total, dtype), kind)
    return total


def _shapes(kind: Kind) -> set[tuple[K.Dim, ...]]:
    return {k.dims if isinstance(k, K.Array) else () for k in K.options(kind)}


def _covers(t: Tangents, axis: int, covered: Sequence[Kind], kind: K.Array) -> bool:
    """Say whether some factor surely has the length of the result along an axis."""
    full = kind.dims[axis]
    if full == K.ONE:
        return True
    for k in covered:
        at = axis - (kind.rank - k.rank) if isinstance(k, K.Array) else -1
        if at < 0 or not isinstance(k, K.Array):
            continue
        if K.same_length(k.dims[at], full) or k.dims[at].many or t.table.assumes(k.dims[at]):
            return True
    return False


def _by_pushforward(t: Tangents, told: Computed, rule: Rule) -> Operand | None:
    push = rule.pushforward
    assert push is not None
    names = arrays_of(push)
    tangents = registry.positional_names(push, 1)[len(names) :]
    bound = bound_to(t, told, push, "pushforward")
    first = next(iter(registry.positional_names(push, 0)), "out")
    given: dict[str, Operand | tuple[Operand, ...]] = {first: told.out}
    given |= {n: o for n, (o, _) in bound.arrays.items()} | _settings(t, bound)
    given |= as_arrays(t, told, bound)
    constant = registry.constant_parameters(told.fn)
    for n, tangent in zip(names, tangents, strict=False):
        operand, dot = bound.arrays.get(n, (NOTHING, NOTHING))
        if n in constant:
            dot = NOTHING
        if dot == NOTHING and wants_zeros(push):
            dot = nothing(t, operand, kind_of(operand))
        given[tangent] = dot
    if bound.gathered is not None:
        word, pairs = bound.gathered
        dots = [bound.arrays[n][1] for n in names if n in bound.arrays]
        given[word] = (*(o for o, _ in pairs), *dots, *(dot for _, dot in pairs))
    guard = t.table.strong.guards.at(told.out, t.origin)
    if guard is not None:
        moves = [n for n, (_, dot) in bound.arrays.items() if dot != NOTHING]
        steep = moves
        if guard.steep and not guard.wild and not guard.out:
            steep = [n for n in moves if n in rule.steep] or moves
        given |= regular(t, told, guard, bound, steep)
    made = spliced_in(t, push, given, 0)
    t.ops += made.ops
    (value,) = made.results
    if value is None or value == NOTHING:
        return None
    operands = [*bound.arrays.values(), *(bound.gathered[1] if bound.gathered else ())]
    found = {dtype_of(kind_of(o)) for o in moving(operands)}
    kind = told.out.kind
    if isinstance(kind, K.Array) and kind.rank and found - {None, kind.dtype}:
        dtype = t.table.numpy(kind.dtype, kind)
        out = t.emit(L.method("astype"), (value, dtype), kind)
        last = t.ops[-1]
        assert isinstance(last, Op)
        t.ops[-1] = dataclasses.replace(last, settings=(("copy", P.Const(False)),))
        return out
    return value
