"""Rules at singular points: what they read where all tangents are zero.

y = np.sqrt(x)      y_dot = x_dot * (0.5 / np.where(x_dot == 0, 1.0, y))
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.results import binary_kind
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.known.lifted import space_among
from s2sad.known.mixed import is_mixed
from s2sad.known.spaces import NUMPY
from s2sad.linear.guards import Guard
from s2sad.linear.operand_binding import Bound
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tangents_of import Computed
from s2sad.primitives import language as L


def regular(
    t: Tangents, told: Computed, guard: Guard | None, bound: Bound, moving: Sequence[str]
) -> dict[str, Operand]:
    """Return what a rule reads instead of operands that make 0 * inf: regular ones.

    Where the tangents of what is `moving` are zero, the rule is read where it is finite.
    """
    rule = registry.rule_for(told.fn)
    if guard is None or rule is None:
        return {}
    written = rule.partials or rule.pushforward
    assert written is not None
    first = next(iter(registry.positional_names(written, 0)), "out")
    given = {first: told.out, **{n: o for n, (o, _) in bound.arrays.items()}}
    dots = [bound.arrays[n][1] for n in moving]
    found: dict[str, Operand] = {}
    for parameter, operand in given.items():
        wild = guard.out if parameter == first else operand in guard.wild
        asked = "out" if parameter == first else parameter
        if (wild or (guard.singular and asked in rule.regular)) and isinstance(operand, Var):
            value = _number(t, rule.regular.get(asked, 1.0))
            test = zero_test(t, dots)
            found[parameter] = chosen(t, test, value, operand, operand.kind, told.out.kind)
    return found


def regular_back(
    t: Tangents, told: Computed, operands: Mapping[str, Operand], out_bar: Operand
) -> dict[str, Operand]:
    """Return what a rule reads, where a zero comes back, instead of operands that make 0 * inf.

    The result goes by the name "out".
    """
    rule, guard = registry.rule_for(told.fn), t.table.strong.guards.at(told.out, t.origin)
    if guard is None or rule is None or isinstance(out_bar, P.Const):
        return {}
    found: dict[str, Operand] = {}
    for parameter, operand in operands.items():
        if not isinstance(operand, Var):
            continue
        wild = guard.out if operand is told.out else operand in guard.wild
        if wild or (guard.singular and parameter in rule.regular):
            value = _number(t, rule.regular.get(parameter, 1.0))
            test = zero_test(t, [out_bar])
            found[parameter] = chosen(t, test, value, operand, operand.kind, told.out.kind)
    return found


def kept_back(t: Tangents, told: Computed, partial: Operand, out_bar: Operand) -> Operand:
    """Return a cotangent without what is infinite where the partial derivative is zero.

    y = np.maximum(x, 0.0); z = np.sqrt(y)      np.where(share == 0, 0.0, y_bar) * share
    """
    guard = t.table.strong.guards.at(told.out, t.origin)
    if guard is None or not guard.infinite or isinstance(partial, P.Const):
        return out_bar
    kind = kind_of(out_bar)
    return chosen(t, zero_test(t, [partial]), P.Const(0.0), out_bar, kind, kind)


def _number(t: Tangents, value: float) -> Operand:
    """Return a number as one writes it: infinity has a name."""
    if not math.isinf(value):
        return P.Const(value)
    infinity = t.table.numpy("inf")
    return infinity if value > 0 else t.emit(L.PREFIX["USub"], (infinity,), K.FLOAT)


def zero_test(t: Tangents, dots: Sequence[Operand]) -> Operand:
    """Return the test that says where all of some tangents are zero."""
    arrays = any(K.may_be_array(kind_of(o)) for o in dots)
    tests = [_is_zero(t, o) for o in dots]
    if arrays:
        both = functools.partial(binary_kind, gast.BitAnd)
        return functools.reduce(
            lambda a, b: t.emit(L.INFIX["BitAnd"], (a, b), both(kind_of(a), kind_of(b))), tests
        )
    if len(tests) > 1:
        return functools.reduce(lambda a, b: _both(t, a, b), tests)
    return tests[0]


def _is_zero(t: Tangents, given: Operand) -> Var:
    """Return the test that says where a tangent is zero; the text explains such tests."""
    out = Var("", _truth(kind_of(given)))
    told = (("strong", True),)
    t.add(Op((out,), L.compare("Eq"), (given, P.Const(0)), told, (), (), t.origin))
    return out


def _both(t: Tangents, a: Var, b: Var) -> Var:
    out = Var("", K.BOOL)
    then, kept = P.Block((), (), P.End("next", (b,))), P.Block((), (), P.End("next", (a,)))
    t.add(P.If((out,), a, then, kept, "and", t.origin))
    return out


def _truth(kind: Kind) -> Kind:
    """Return the kind of a comparison with a value of a kind."""
    if isinstance(kind, K.Array):
        return K.Array("bool", kind.dims, kind.namespace)
    return K.union(map(_truth, K.options(kind))) if isinstance(kind, K.Union) else K.BOOL


def chosen(
    t: Tangents, test: Operand, value: Operand, other: Operand, kind: Kind, places: Kind
) -> Var:
    """Return one of two values, entry by entry in the `places` where the test is one of arrays.

    The `kind` is that of the second value.
    """
    tested = kind_of(test)
    if not K.may_be_array(tested) and not K.may_be_array(kind):
        out = Var("", K.erase_value(kind))
        then, orelse = (P.Block((), (), P.End("next", (v,))) for v in (value, other))
        t.add(P.If((out,), test, then, orelse, "either", t.origin))
        return out
    space = space_among((tested, kind, places))
    if space != NUMPY and not K.may_be_array(tested):  # a device's np.where wants an array
        test = t.call(t.table.numpy("asarray", kind), (test,), K.Array("bool", (), space))
    where = t.table.numpy("where", kind, places)
    simple = isinstance(tested, K.Num | K.Array) and isinstance(kind, K.Num | K.Array)
    if not simple or is_mixed(kind):
        return t.call(where, (test, value, other), _chosen_kind(places, kind))
    dims, mine = (k.dims if isinstance(k, K.Array) else () for k in (tested, kind))
    dims = dims if len(dims) >= len(mine) else mine
    dtype, narrow = dtype_of(kind) or "float64", dtype_of(places)
    out = t.call(where, (test, value, other), K.Array(dtype, dims, space))
    if isinstance(kind, K.Num) and narrow in NARROW and dtype != narrow:
        made = K.Array(str(narrow), dims, space)
        out = t.emit(L.method("astype"), (out, t.table.numpy(str(narrow), made)), made)
    return out


def _chosen_kind(places: Kind, numbers: Kind) -> Kind:
    """Return the kind of what np.where takes from an operand: its numbers, where the result is."""
    if not K.is_complex(numbers):
        return K.erase_value(places)
    dtypes = [_own_dtype(k) for k in K.carriers(numbers)]
    return K.union(
        K.Array(dtype, k.dims, k.namespace) if isinstance(k, K.Array) else K.Num("complex", "any")
        for k in K.options(places)
        for dtype in dtypes
    )


def _own_dtype(kind: Kind) -> str:
    """Return the dtype of a number or an array; that of an array of Python's numbers."""
    dtype = kind.dtype if isinstance(kind, K.Num | K.Array) else None
    if dtype in (None, "any"):
        return "complex128" if K.is_complex(kind) else "float64"
    return str(dtype)
