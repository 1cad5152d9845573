"""The backward sweep: operations, turned round."""

from __future__ import annotations

import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.emitted.listed import listed_like
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.known import spaces
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.linear.by_identity import is_structure
from s2sad.linear.cotangents_of import Bar, Cotangents
from s2sad.linear.fit import cast
from s2sad.linear.operands import kind_of
from s2sad.linear.pull import has_unlike_parts, leaves, nests, pulled
from s2sad.linear.sweep_state import Sweep, in_place, value_of
from s2sad.linear.tangent_table import NotYet, tangent_kind
from s2sad.linear.tangents_of import Computed, told_by
from s2sad.linear.turned_calls import turned_call
from s2sad.linear.turned_cells import turned_cell
from s2sad.linear.turned_hooks import turned_hook
from s2sad.linear.turned_identity import turned_structure
from s2sad.linear.turned_lists import makes_list, turned_list
from s2sad.linear.turned_memory import (
    function_of,
    makes_object,
    turned_augmented,
    turned_display,
    turned_each,
    turned_joined,
    turned_method,
    turned_option,
    turned_part,
    turned_put,
    turned_sum,
    turned_tuple,
    turned_unpack,
)
from s2sad.linear.turned_numbers import moves_numbers, turned_numbers
from s2sad.linear.turned_slots import hand_over, made_by_rule
from s2sad.primitives import language as L

ZEROS = (np.zeros_like, np.zeros, runtime.zeros_like, runtime.twin_of)
ARRAYS = (np.asarray, np.array)


def turned_op(sweep: Sweep, op: Op, acc: Cotangents) -> None:
    """Add what an operation on tangents says, turned round."""
    form, original = op.primitive.form, op
    if acc.shadows is not None:
        acc.shadows.seen.clear()
    if form not in ("tangent of call", "discard"):
        op = sweep.stable(op, acc.t, acc.shadows)
    if acc.shadows is not None and turned_structure(sweep, op, acc, acc.shadows):
        return
    if acc.shadows is None and moves_numbers(op, sweep, acc.t.table):
        turned_numbers(sweep, op, acc)
        return
    if form in ("put item", "put field"):
        turned_put(sweep, op, original, acc)
        return
    if form in ("augmented item", "augmented", "augmented field"):
        turned_augmented(sweep, op, acc)
        return
    if form == "each item":
        turned_each(sweep, op, acc)
        return
    if form == "discard":
        return
    if form == "tangent of call":
        turned_call(sweep, op, acc)
        return
    if form == "hook":
        turned_hook(sweep, original, acc)
        return
    if form in ("look", "bind", "forget"):
        turned_cell(sweep, op, acc)
        return
    if form == "method" and op.primitive.word != "copy" and op.operands[0] in sweep.values:
        turned_method(sweep, op, acc)
        return
    if any(p.object in sweep.values for p in op.writes):
        raise NotYet(f"{form}, which writes a shadow")
    if acc.shadows is None and any(v in sweep.values and in_place(sweep, v) for v in op.outs):
        if makes_list(op, sweep, acc.t.table):
            turned_list(sweep, op, acc)
            return
        if op.outs[0] in acc.refs:
            return  # its cotangent is that part of its owner's
        if form in ("list", "dict") or makes_object(op):
            turned_display(sweep, op, acc)
            return
    given = [v for v in map(P.variable, P.operands(op)) if v is not None]
    if form == "call" and (function_of(op) in ZEROS or not any(map(sweep.carries, given))):
        for v in op.outs:
            acc.of.pop(v, None)  # it is made of no tangent
        return
    if form in ("tuple", "same", "infix"):
        for o in op.operands:
            hand_over(op.outs[0], o.value if isinstance(o, P.Spread) else o, acc)
    if form == "tangent":
        bars = [made_by_rule(sweep, v, original, acc) for v in op.outs]
    else:
        bars = [taken(sweep, op, v, acc) for v in op.outs]
    if not any(bars):
        return
    if form == "unpack":
        turned_unpack(sweep, op, bars, acc)
        return
    (bar,) = bars
    assert bar is not None
    if bar.perhaps and form in ("item", "field"):
        turned_option(sweep, op, bar, acc)
        return
    if bar.perhaps and form != "same":
        bar = acc.settled(bar, sweep.values[op.outs[0]])
    match form:
        case "same":
            acc.add(op.operands[0], bar)
        case "prefix":
            value = value_of(bar)
            minus = acc.t.emit(op.primitive, (value,), kind_of(value))
            acc.add(op.operands[0], Bar(minus, True))
        case "tangent":
            told = told_by(op)
            add_pulled(sweep, told, Bar(acc.built(bar, told.out), bar.own), acc)
        case "item" | "field":
            turned_part(sweep, op, bar, acc)
        case "tuple":
            turned_tuple(sweep, original, bar, acc)
        case "infix" if isinstance(sweep.values[op.outs[0]].kind, K.Tuple):
            turned_joined(sweep, op, bar, acc)
        case "call" if function_of(op) is sum and len(op.operands) == 2 and not op.settings:
            turned_sum(sweep, original, value_of(bar), acc)
        case "call" if function_of(op) is float and sweep.is_number(op.operands[1]):
            number, made = op.operands[1], sweep.values[op.outs[0]]
            assert isinstance(number, Var)
            acc.add(number, Bar(cast(acc.t, value_of(bar), made.kind, sweep.values[number])))
        case "call" if function_of(op) in ARRAYS:
            acc.add(op.operands[1], _listed(sweep, original, bar, acc))
        case "method" if op.primitive.word == "copy":
            acc.add(op.operands[0], bar)
        case _ if any(map(sweep.carries, map(P.variable, P.operands(op)))):
            raise NotYet(f"{form} of tangents")


def taken(sweep: Sweep, op: Op, v: Var, acc: Cotangents) -> Bar | None:
    """Return the cotangent of what an operation gives; there is none any more.

    What is unpacked and shows memory that has a cotangent of its own has no other.
    """
    if op.primitive.form == "unpack":
        (source,) = op.operands
        assert isinstance(source, Var)
        whole = v in sweep.values and is_structure(sweep.values[v].kind)
        if whole or acc.is_shadowed(source) or acc.shows_memory(source):
            return acc.of.pop(v, None)
    return acc.taken(v)


def add_pulled(sweep: Sweep, told: Computed, given: Bar, acc: Cotangents) -> None:
    """Add what a function passes back; what is new and goes to one operand is our own.

    So is our own cotangent of the result, where it goes to one operand as it is.
    """
    start, bar = len(acc.t.ops), value_of(given)
    parts = _numbers_of(sweep, told, bar, acc)
    found = pulled(acc.t, told, bar) if parts is None else [parts]
    made = [o for o in acc.t.ops[start:] if isinstance(o, Op)]
    new = {v for o in made if _makes_new(o) for v in o.outs}
    values = [value for _, value in found]
    passes = given.own and isinstance(bar, Var) and bar in values
    if passes and isinstance(bar, Var) and new.union((bar,)).issuperset(values):
        new.add(bar)
        if told.out.name in acc.t.table.facts.analysed.function.temps:
            acc.words.pop(bar, None)  # it is called after what it goes to
    for dot, value in found:
        acc.add(dot, Bar(value, value in new and values.count(value) == 1))


def _numbers_of(
    sweep: Sweep, told: Computed, bar: Operand, acc: Cotangents
) -> tuple[Var, Operand] | None:
    """Return the tangent of a display of numbers and its cotangent, where an array is made of it.

    Each number of the display is an element of the array.
    """
    kind, takes = told.out.kind, registry.effects_of(told.fn).sequences
    joined = takes and registry.numbers_of(told.fn).parts == "joined"
    if not joined or told.words or len(told.pairs) != 1:
        return None
    ((given, dot),) = told.pairs
    if not isinstance(kind, K.Array) or kind.namespace != spaces.NUMPY or kind.dtype != "float64":
        return None
    if not kind.rank:
        return None
    if not isinstance(dot, Var) or not _is_display(sweep, given, kind.rank):
        return None
    return dot, _elements(sweep, given, (), bar, acc)


def _is_display(sweep: Sweep, given: Operand, depth: int) -> bool:
    """Say whether a value is a display of numbers, in displays to a `depth`, that nobody writes."""
    if not depth:
        return kind_of(given) == K.FLOAT or (
            isinstance(kind_of(given), K.Num) and dtype_of(kind_of(given)) not in NARROW
        )
    op = sweep.makers.get(given) if isinstance(given, Var) else None
    if op is None or op.primitive not in (L.LIST, L.TUPLE):
        return False
    if op.primitive is L.LIST and not (isinstance(given, Var) and sweep.is_unwritten(given)):
        return False
    return all(not isinstance(o, P.Spread) for o in op.operands) and all(
        _is_display(sweep, o, depth - 1) for o in op.operands
    )


def _elements(
    sweep: Sweep, given: Operand, at: tuple[int, ...], bar: Operand, acc: Cotangents
) -> Operand:
    """Return a display of the elements of an array, like the one that the array is made of."""
    op = sweep.makers.get(given) if isinstance(given, Var) else None
    if op is None or op.primitive not in (L.LIST, L.TUPLE):
        index = [P.Const(k) for k in at]
        place = acc.t.emit(L.TUPLE, index, K.UNKNOWN) if len(at) > 1 else index[0]
        return acc.t.emit(L.ITEM, (bar, place), tangent_kind(kind_of(given)))
    parts = [_elements(sweep, o, (*at, k), bar, acc) for k, o in enumerate(op.operands)]
    return acc.t.emit(op.primitive, parts, tangent_kind(kind_of(given)))


def _listed(sweep: Sweep, op: Op, bar: Bar, acc: Cotangents) -> Bar:
    """Return the cotangent of a list or a tuple as one, by that of the array made of it.

    Each number of a list has a dtype of its own.
    """
    dot, value = op.operands[1], bar.value
    v = sweep.values.get(dot) if isinstance(dot, Var) else None
    if v is None or value is None or not isinstance(v.kind, K.List | K.Tuple):
        return bar
    kind = tangent_kind(v.kind)
    numbers = all(map(K.is_scalar, leaves(v.kind)))
    unlike = has_unlike_parts(v.kind, sweep.values[op.outs[0]].kind)
    seen = sweep.as_it_was(v, op, acc.t) if unlike or nests(v.kind) else v
    if unlike:
        value = acc.t.call(acc.t.table.helper(runtime.fitted), (value, seen), kind)
        if isinstance(v.kind, K.List) and not nests(v.kind):
            return Bar(value, numbers)
    if nests(v.kind):
        return Bar(acc.t.call(acc.t.table.helper(listed_like), (value, seen), kind), numbers)
    if isinstance(v.kind, K.List) and not numbers:
        return bar
    made = list if isinstance(v.kind, K.List) else tuple
    return Bar(acc.t.call(P.Outer(made.__name__, K.Known(made)), (value,), kind), True)


def _makes_new(op: Op) -> bool:
    """Say whether an operation makes an array, or a list of numbers, that nobody else knows."""
    if op.primitive.form == "call" and function_of(op) in (list, listed_like):
        return all(map(K.is_scalar, leaves(kind_of(op.outs[0]))))
    return op.primitive.form in ("infix", "prefix")
